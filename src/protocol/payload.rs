//! Payloads: structured data for a panel beside the conversation, made by a tool or by the model.

use serde::{Deserialize, Deserializer, Serialize};

use super::{RawJson, flat_json::Fields};

/// The name of a type, also if it was stored under the name that it had once.
pub fn current_type_name(name: String) -> String {
    match name.as_str() {
        "article" => "pubmed_article".into(),
        "article_list" => "pubmed_search_results".into(),
        "web_results" => "web_search_results".into(),
        _ => name,
    }
}

fn read_type<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    String::deserialize(deserializer).map(current_type_name)
}

/// A payload as messages know it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PayloadRef {
    /// Short, and unique in its conversation: the model refers to it by this.
    pub payload_id: String,
    /// What it is, such as `pubmed_search_results`: decides how it is shown.
    #[serde(rename = "type", deserialize_with = "read_type")]
    pub kind: String,
    /// One line about it.
    pub summary: String,
}

/// A payload with what is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payload {
    pub payload_id: String,
    #[serde(rename = "type", deserialize_with = "read_type")]
    pub kind: String,
    pub summary: String,
    pub data: RawJson,
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
pub struct PayloadVerdict {
    pub payload_id: String,
    pub verdict: Verdict,
}

impl Payload {
    pub fn to_ref(&self) -> PayloadRef {
        PayloadRef {
            payload_id: self.payload_id.clone(),
            kind: self.kind.clone(),
            summary: self.summary.clone(),
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
            let read: PayloadRef = crate::protocol::json::parse(stored.as_bytes()).unwrap();
            assert_eq!(read.kind, new);
            let written = serde_json::to_value(&read).unwrap();
            assert_eq!(written["type"], new);
        }
    }
}
