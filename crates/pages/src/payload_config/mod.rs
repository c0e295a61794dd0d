//! Payloads that the model may write for the panel besides its text: for each type a marker, the instructions
//! for the model, the expected data after the marker, and the stored form.
//!
//! The types in [`COMMON_PAYLOADS`] belong to every page; a page adds its own. The views of a type are in
//! [`payloads`].

mod chart;
mod document;
mod proposal;
mod table;

use serde_json::Value;

use crate::payloads;
use parlor_model::control::{Marker, ParsePayload};
use parlor_protocol::{Payload, draft::ProposedChanges};

pub use self::{
    chart::CHART,
    document::DOCUMENT,
    proposal::{BASE_FIELD, proposal, read as read_proposal},
    table::TABLE,
};

/// A type of payload that the model may write.
#[derive(Debug)]
pub struct PayloadConfig {
    /// The name of the type, such as `table`.
    pub payload_type: &'static str,
    /// The word before the JSON that occurs nowhere else, such as `TABLE:`.
    pub marker: &'static str,
    /// The instructions for the model, with an example on a line of its own.
    pub instructions: fn() -> String,
    /// The text that the user sees while the model writes the payload.
    pub progress_text: &'static str,
    /// Parses the data. Returns an error if they do not fit the type.
    pub parse: ParsePayload,
    /// The JSON schema of the data, which the example in [`instructions`](Self::instructions) follows.
    /// [`parse`](Self::parse) also accepts other forms.
    pub schema: fn() -> Value,
    /// Creates a new version of an earlier payload, whose `id` the written data contain. Returns the data of
    /// both together. Types without versions accept no `id`.
    pub revise: Option<fn(written: &Value, id: &str, earlier: &Value) -> Value>,
    /// Converts stored data back to the form in which the model wrote them.
    pub to_model_input: fn(&Value) -> Value,
    /// True if the model is told why its data were rejected, and may write them once more. Rejected data of other types are
    /// shown as text.
    pub is_corrected: bool,
    /// Returns what the drafts of the page's context have where these data propose changes, to be stored with them in
    /// [`BASE_FIELD`].
    pub base: Option<fn(data: &Value, drafts: &Value) -> Option<Value>>,
    /// The reader of a proposal for a draft.
    pub proposal: Option<ProposalReader>,
}

/// Reads the stored data of proposals for a draft.
#[derive(Clone, Copy, Debug)]
pub struct ProposalReader {
    /// The name of the draft.
    pub draft: &'static str,
    pub read: fn(&Value) -> Result<ProposedChanges, String>,
}

/// The payload types of every page.
pub const COMMON_PAYLOADS: [&PayloadConfig; 3] = [&DOCUMENT, &TABLE, &CHART];

impl PayloadConfig {
    /// Returns the marker that the agent looks for.
    pub fn as_marker(&self) -> Marker {
        Marker {
            marker: self.marker.into(),
            kind: self.payload_type.into(),
            parse: self.parse,
            is_corrected: self.is_corrected,
        }
    }

    /// Returns a payload in the form that the model writes: the marker and the latest data.
    pub fn render_for_model(&self, payload: &Payload) -> Option<String> {
        let data: Value = serde_json::from_str(payload.data.as_str()).ok()?;
        Some(format!("{} {}", self.marker, (self.to_model_input)(&data)))
    }
}

/// Returns the instructions for the model about these types.
pub fn instructions(configs: &[&PayloadConfig]) -> String {
    let mut text = String::from(
        "A marker with JSON on a line of its own, outside of code, becomes a card that opens a panel. Do not repeat in words what is in \
         it.",
    );
    for config in configs {
        text.push_str(&format!("\n{}", (config.instructions)()));
    }
    text
}

/// Returns the data unchanged if they can be shown as this type.
pub fn require_viewable(kind: &str, data: &Value) -> Result<Value, String> {
    if payloads::is_valid(kind, data) {
        Ok(data.clone())
    } else {
        Err(format!("this is no {kind}"))
    }
}

/// Returns stored data as they are: the model wrote the same.
pub fn unchanged(data: &Value) -> Value {
    data.clone()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{literature::LITERATURE, payloads::PayloadViews};
    use parlor_model::control::{ControlFilter, DEFAULT_MAX_CONTROL_BYTES, Item};
    use parlor_protocol::{RawJson, panel::PanelBody};

    /// The payload types of all pages.
    fn all() -> Vec<&'static PayloadConfig> {
        let own = LITERATURE
            .scopes()
            .flat_map(|scope| scope.payloads.iter().copied());
        COMMON_PAYLOADS.into_iter().chain(own).collect()
    }

    #[test]
    fn instructed_format_parses_and_renders() {
        for config in all() {
            let markers = all().into_iter().map(PayloadConfig::as_marker).collect();
            let mut filter = ControlFilter::new(markers, DEFAULT_MAX_CONTROL_BYTES);
            let mut items = Vec::new();
            let instructions = (config.instructions)();
            let examples: Vec<&str> = instructions
                .lines()
                .filter(|line| line.starts_with(config.marker))
                .collect();
            assert!(!examples.is_empty(), "{}", config.marker);
            for example in &examples {
                filter.push(&format!("{example}\n"), &mut items);
            }
            filter.finish(&mut items);
            assert_eq!(items.len(), examples.len(), "{items:?}");
            for item in items {
                let Item::Payload { kind, data, .. } = item else {
                    panic!("{item:?}")
                };
                assert_eq!(kind, config.payload_type);
                let payload = Payload {
                    payload_id: String::new(),
                    kind: kind.clone(),
                    summary: String::new(),
                    data: RawJson::parse_or_quote(&data.to_string()),
                };
                let view = PayloadViews::built_in().view(&payload);
                assert!(!matches!(view.body, PanelBody::Tree(_)), "{kind} {data}");
                let required = (config.schema)()["required"].clone();
                for field in required.as_array().into_iter().flatten() {
                    assert!(data.get(field.as_str().unwrap()).is_some(), "{field} {data}");
                }
            }
        }
    }

    #[test]
    fn examples_use_every_schema_field() {
        for config in all() {
            let schema = (config.schema)();
            let properties = schema["properties"].as_object().expect("properties");
            for name in properties.keys().filter(|name| *name != "label") {
                let shown = format!("\"{name}\"");
                assert!(
                    (config.instructions)().contains(&shown),
                    "{} {name}",
                    config.marker
                );
            }
        }
    }

    #[test]
    fn stored_payloads_render_back_as_written() {
        for config in all() {
            let instructions = (config.instructions)();
            let line = instructions
                .lines()
                .find(|line| line.starts_with(config.marker))
                .unwrap();
            let written: Value = serde_json::from_str(line[config.marker.len()..].trim()).unwrap();
            let data = (config.parse)(&written).unwrap();
            assert_eq!((config.to_model_input)(&data), written, "{}", config.marker);
        }
    }

    #[test]
    fn rejects_mismatched_data() {
        for (config, odd) in all().into_iter().flat_map(|config| {
            ["{}", "[]", r#"{"rows": 1, "x": [], "text": 1, "query": " "}"#].map(|odd| (config, odd))
        }) {
            let data = serde_json::from_str(odd).unwrap();
            assert!((config.parse)(&data).is_err(), "{} {odd}", config.marker);
        }
    }
}
