//! Streams and requests of the Responses API.

mod requests;
mod streams;
