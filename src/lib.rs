//! Parlor: a self-hosted web chat for LLM agents. The application: what the crates below it are put together to.
//!
//! An event flows provider → agent → runs → journal → hub → http → reducer → view. An intent flows ui → api or http →
//! app → runs → journal, and from there as an event. `ARCHITECTURE.md` has the picture.

pub mod api;
pub mod app;
pub mod assets;
pub mod command_line;
pub mod http;
pub mod server;
