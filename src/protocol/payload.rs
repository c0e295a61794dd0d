//! Payloads: structured data for a panel beside the conversation, made by a tool or by the model.

use serde::{Deserialize, Serialize};

use super::Json;

/// A payload as messages know it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PayloadRef {
    /// Short, and unique in its conversation: the model refers to it by this.
    pub payload_id: String,
    /// What it is, such as `article_list`: decides how it is shown.
    #[serde(rename = "type")]
    pub kind: String,
    /// One line about it.
    pub summary: String,
}

/// A payload with what is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payload {
    pub payload_id: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub summary: String,
    pub data: Json,
}

impl Payload {
    pub fn reference(&self) -> PayloadRef {
        PayloadRef {
            payload_id: self.payload_id.clone(),
            kind: self.kind.clone(),
            summary: self.summary.clone(),
        }
    }
}
