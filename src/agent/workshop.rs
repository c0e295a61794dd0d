//! What the model may make besides text, on the page on which it talks. Which types there are, and what is kept of them, is not
//! known here.

use std::fmt;

use serde_json::Value;

use super::control::Marker;
use crate::protocol::Payload;

/// What a page lets the model write.
pub trait Workshop: fmt::Debug + Send + Sync {
    /// With which markers a payload may begin.
    fn markers(&self) -> Vec<Marker>;

    /// What the person is told while the model writes such a payload: "Writing a table...".
    fn writing(&self, kind: &str) -> String;

    /// A payload of what the model wrote, which fits its type, with an id and a line about it.
    ///
    /// # Errors
    ///
    /// If it can't be kept.
    fn make(&self, kind: &str, data: Value) -> Result<Payload, String>;

    /// Whether the page performs an action of this name.
    fn performs(&self, action: &str) -> bool;

    /// Whether an earlier turn of the conversation has this address from a tool, or among its sources.
    fn has_been_given(&self, url: &str) -> bool;
}
