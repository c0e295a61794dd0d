//! Payloads: structured data for the panel next to the conversation, made by a tool or by the model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{RawJson, earlier_data, flat_json::Fields};

/// A payload as messages refer to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PayloadRef {
    /// A short id, unique in its conversation, by which the model refers to the payload.
    pub payload_id: String,
    /// The type, such as `pubmed_search_results`, which decides how the payload is shown.
    #[serde(rename = "type", deserialize_with = "earlier_data::read_payload_type")]
    pub kind: String,
    /// A one-line summary.
    pub summary: String,
    /// The number of rows or of changed lines, of which the answer itself shows the first; 0 for a chart. Missing if it
    /// shows nothing of the payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview_rows: Option<usize>,
}

impl PayloadRef {
    /// The note in the model's output of a tool that made the payload. The page leaves it out.
    pub fn model_note(&self) -> String {
        let Self {
            payload_id, summary, ..
        } = self;
        ["\n\n(The person sees this as ", payload_id, ": ", summary, ".)"].concat()
    }
}

/// A payload with its data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Payload {
    /// A short id, unique in its conversation, by which the model refers to the payload.
    pub payload_id: String,
    /// The type, such as `pubmed_search_results`, which decides how the payload is shown.
    #[serde(rename = "type", deserialize_with = "earlier_data::read_payload_type")]
    pub kind: String,
    /// A one-line summary.
    pub summary: String,
    pub data: RawJson,
}

/// The user's verdict on a proposal. Only the first one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// The verdict on a proposal that counts: the first one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from, rename = "Judged")]
pub struct PayloadVerdict {
    pub payload_id: String,
    pub verdict: Verdict,
    /// The fields of the proposal that were accepted; empty if the verdict is about the whole of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted_fields: Vec<String>,
}

impl Payload {
    /// Returns a reference without a preview.
    pub fn to_ref(&self) -> PayloadRef {
        PayloadRef {
            payload_id: self.payload_id.clone(),
            kind: self.kind.clone(),
            summary: self.summary.clone(),
            preview_rows: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_old_type_names() {
        for (old, new) in [
            ("article", "pubmed_article"),
            ("article_list", "pubmed_search_results"),
            ("web_results", "web_search_results"),
            ("table", "table"),
        ] {
            let stored = format!(r#"{{"payload_id":"abc12345","type":"{old}","summary":"A line"}}"#);
            let read: PayloadRef = serde_json::from_str(&stored).unwrap();
            assert_eq!(read.kind, new);
            let read: PayloadRef = crate::json::parse(stored.as_bytes()).unwrap();
            assert_eq!(read.kind, new);
            let written = serde_json::to_value(&read).unwrap();
            assert_eq!(written["type"], new);
        }
    }
}
