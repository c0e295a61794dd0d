//! What goes over HTTP: typed intents and queries for the page ([`rpc`]), and the public contract.

pub mod error;
pub mod rpc;

pub use error::ApiError;
