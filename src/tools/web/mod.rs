//! What tools that reach the web stand on.
//!
//! Addresses come from a model or from a page, so nobody can vouch for them: [`guard`] decides where a connection
//! may go. Servers that the settings name (a search engine, say) are not reached this way.

mod bounded;
mod error;
pub mod guard;

pub use self::{
    error::FetchError,
    guard::{WebClient, WebConfig},
};
