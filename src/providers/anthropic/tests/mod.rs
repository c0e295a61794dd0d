//! Streams and requests of the Messages API.

mod requests;
mod streams;
