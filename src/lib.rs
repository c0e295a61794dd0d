//! Parlor: a self-hosted web chat for LLM agents.
#![recursion_limit = "256"]
