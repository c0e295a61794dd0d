//! The sources of rows to ask about.

use std::{borrow::Cow, fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::{AttachmentId, ConversationId};

const ARTICLES: &str = "articles";
const PAYLOAD: &str = "payload:";
const FILE: &str = "file:";

/// The maximum length of a payload's id, in bytes.
const MAX_PAYLOAD_ID_BYTES: usize = 64;

/// Something with rows, as a text: `articles`, `payload:CONVERSATION/PAYLOAD` or `file:FILE`. The rows of a payload and of a file
/// never change, so the key of a row is its number, from 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ColumnSource {
    /// The saved articles. The key of a row is its PMID.
    Articles,
    /// A table that a message shows: a payload.
    Payload {
        conversation_id: ConversationId,
        payload_id: String,
    },
    /// An attached file with one table, such as a CSV file.
    File(AttachmentId),
}

impl ColumnSource {
    /// A table of a conversation.
    pub fn payload(conversation_id: ConversationId, payload_id: impl Into<String>) -> Self {
        Self::Payload {
            conversation_id,
            payload_id: payload_id.into(),
        }
    }
}

/// The error for a text that names no source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidSource;

impl fmt::Display for InvalidSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the rows that columns can have are: articles, payload:CONVERSATION_ID/PAYLOAD_ID and file:FILE_ID",
        )
    }
}

impl fmt::Display for ColumnSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Articles => f.write_str(ARTICLES),
            Self::Payload {
                conversation_id,
                payload_id,
            } => write!(f, "{PAYLOAD}{conversation_id}/{payload_id}"),
            Self::File(id) => write!(f, "{FILE}{id}"),
        }
    }
}

impl FromStr for ColumnSource {
    type Err = InvalidSource;

    fn from_str(text: &str) -> Result<Self, InvalidSource> {
        if text == ARTICLES {
            return Ok(Self::Articles);
        }
        if let Some(id) = text.strip_prefix(FILE) {
            return canonical(id).map(Self::File);
        }
        let (conversation, payload) = text
            .strip_prefix(PAYLOAD)
            .and_then(|rest| rest.split_once('/'))
            .ok_or(InvalidSource)?;
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if payload.is_empty() || payload.len() > MAX_PAYLOAD_ID_BYTES || !payload.bytes().all(is_letter) {
            return Err(InvalidSource);
        }
        Ok(Self::payload(canonical(conversation)?, payload))
    }
}

/// Reads an id in its only form, since sources are compared as texts.
fn canonical<T: FromStr + fmt::Display>(text: &str) -> Result<T, InvalidSource> {
    let id: T = text.parse().map_err(|_| InvalidSource)?;
    match id.to_string() == text {
        true => Ok(id),
        false => Err(InvalidSource),
    }
}

impl TryFrom<String> for ColumnSource {
    type Error = InvalidSource;

    fn try_from(text: String) -> Result<Self, InvalidSource> {
        text.parse()
    }
}

impl From<ColumnSource> for String {
    fn from(source: ColumnSource) -> Self {
        source.to_string()
    }
}

impl JsonSchema for ColumnSource {
    fn schema_name() -> Cow<'static, str> {
        "ColumnSource".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Something with rows: `articles` are your saved articles (the key of a row is its PMID), \
                `payload:CONVERSATION_ID/PAYLOAD_ID` is a table of a message, `file:FILE_ID` an attached file with one table (the key \
                of a row is its number, from 1).",
            "type": "string",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_have_one_form() {
        let id = "01a2217b-0000-7000-8000-000000000001";
        let payload = format!("payload:{id}/p-1");
        let file = format!("file:{id}");
        for text in ["articles", &payload, &file] {
            let source: ColumnSource = text.parse().unwrap();
            assert_eq!(source.to_string(), text);
            assert_eq!(serde_json::to_string(&source).unwrap(), format!("\"{text}\""));
        }
        for text in [
            String::new(),
            "Articles".into(),
            format!("payload:{id}"),
            format!("payload:{id}/"),
            format!("payload:{id}/a b"),
            format!("payload:{id}/{}", "a".repeat(65)),
            format!("payload:{}/p1", id.to_uppercase()),
            format!("file:{}", id.replace('-', "")),
        ] {
            assert_eq!(text.parse::<ColumnSource>(), Err(InvalidSource), "{text}");
        }
    }
}
