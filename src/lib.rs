//! Parlor: a self-hosted web chat for LLM agents.
//!
//! An event flows provider → agent → journal → hub → stream → reducer → view. An intent flows the other way,
//! through `api`. `ARCHITECTURE.md` has the picture.
#![recursion_limit = "256"]

pub mod markdown;
pub mod protocol;

#[cfg(feature = "ssr")]
pub mod providers;

pub mod api;
