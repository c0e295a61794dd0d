//! What the model may make besides text, on the page on which it talks. Which types there are, and what is kept of them, is not
//! known here.

use std::fmt;

use serde_json::Value;

use super::control::Marker;
use crate::protocol::Payload;

/// What a page lets the model write.
pub trait PayloadFactory: fmt::Debug + Send + Sync {
    /// With which markers a payload may begin.
    fn markers(&self) -> Vec<Marker>;

    /// What the person is told while the model writes such a payload: "Writing a table...".
    fn status_text(&self, kind: &str) -> String;

    /// A payload of what the model wrote, which fits its type, with an id and a line about it.
    ///
    /// # Errors
    ///
    /// If it can't be kept.
    fn create_payload(&self, kind: &str, data: Value) -> Result<Payload, String>;

    /// Whether the page performs an action of this name.
    fn supports_action(&self, action: &str) -> bool;

    /// Whether an earlier turn of the conversation has this address from a tool, or among its sources.
    fn is_earlier_source(&self, url: &str) -> bool;
}
