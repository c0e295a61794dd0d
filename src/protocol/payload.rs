//! Payloads: structured data for a panel beside the conversation, made by a tool or by the model.

use serde::{Deserialize, Serialize};

use super::{Json, flat::Fields};

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

/// What a person thinks of something that was proposed to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Accepted,
    Rejected,
}

impl Verdict {
    /// The name on the wire and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
        }
    }
}

/// A payload that a person has judged. The first verdict stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct Judged {
    pub payload_id: String,
    pub verdict: Verdict,
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
