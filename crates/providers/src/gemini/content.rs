//! The forms of a content, and the signatures of texts.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::wire::Content;
use crate::lenient::null_as_default;
use parlor_model::lenient_json;
use parlor_protocol::RawJson;

/// Returns the parts of a content: a list, one of them, a text, or an object that has them in `parts`.
pub fn content_parts(content: &RawJson) -> Vec<RawJson> {
    match lenient_json::parse::<Content>(content.as_str()) {
        Ok(Content { parts: Some(parts) }) if content.as_str().starts_with('{') => list_of_parts(&parts),
        _ => list_of_parts(content),
    }
}

/// Returns the parts in a list, or the only one.
fn list_of_parts(parts: &RawJson) -> Vec<RawJson> {
    match lenient_json::parse::<Vec<RawJson>>(parts.as_str()) {
        Ok(parts) => parts,
        // A role alone is no content.
        Err(_) if is_role_alone(parts) => Vec::new(),
        Err(_) => vec![parts.clone()],
    }
}

fn is_role_alone(content: &RawJson) -> bool {
    let fields = serde_json::from_str::<Map<String, Value>>(content.as_str());
    fields.is_ok_and(|fields| fields.keys().all(|name| name == "role"))
}

/// The signature of a text, as data of the provider.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SignedText {
    #[serde(rename = "thoughtSignature")]
    pub signature: RawJson,
    /// True if the signature came with text; otherwise it came alone.
    #[serde(default, deserialize_with = "null_as_default")]
    pub has_text: bool,
}

impl SignedText {
    /// Parses the data of a text.
    pub fn parse(raw: &RawJson) -> Option<Self> {
        serde_json::from_str(raw.as_str()).ok()
    }

    /// Returns the data of a text.
    pub fn to_raw(&self) -> RawJson {
        let Self { signature, has_text } = self;
        let signature = signature.as_str();
        RawJson::parse_or_quote(&format!(
            "{{\"thoughtSignature\":{signature},\"hasText\":{has_text}}}"
        ))
    }
}
