//! Streams and requests of the Gemini API.

mod requests;
mod streams;
