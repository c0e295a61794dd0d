//! What the model may write for the panel, besides its text: for each type a marker, what the model is told of it, what has to
//! follow the marker, and what is kept of that.
//!
//! Those of [`EVERYWHERE`] belong to every page; a page names others of its own. How a type looks is in [`payloads`](crate::payloads).

mod chart;
mod document;
mod query;
mod table;

use serde_json::Value;

use crate::{
    control::{Marker, ParsePayload},
    payloads,
    protocol::Payload,
};

pub use self::{chart::CHART, document::DOCUMENT, query::QUERY_SUGGESTION, table::TABLE};

/// A type of payload that the model may write.
#[derive(Debug)]
pub struct PayloadConfig {
    /// Such as `table`.
    pub payload_type: &'static str,
    /// What stands before the JSON: a word that nobody writes otherwise, such as `TABLE:`.
    pub marker: &'static str,
    /// When to write one and how, with an example on a line of its own.
    pub instructions: &'static str,
    /// What the person is told while it is written.
    pub progress_text: &'static str,
    /// The data, if they fit the type.
    pub parse: ParsePayload,
    /// The JSON schema of what is to be written, which the example in [`instructions`](Self::instructions) shows.
    /// [`parse`](Self::parse) takes more than that.
    pub schema: fn() -> Value,
    /// A new version of an earlier payload, which what was written names as its `id`: the data of both together. Types that have
    /// no versions take no `id`.
    pub revise: Option<fn(written: &Value, id: &str, earlier: &Value) -> Value>,
    /// Kept data as they were written, for the model to see again.
    pub to_model_input: fn(&Value) -> Value,
}

/// What the model may write on every page.
pub const COMMON_PAYLOADS: [&PayloadConfig; 3] = [&DOCUMENT, &TABLE, &CHART];

/// All types, of whatever page.
const ALL_PAYLOADS: [&PayloadConfig; 4] = [&DOCUMENT, &TABLE, &CHART, &QUERY_SUGGESTION];

/// Says what the model wrote to make a payload, on whatever page that was.
pub fn render_for_model(payload: &Payload) -> Option<String> {
    let config = ALL_PAYLOADS
        .iter()
        .find(|config| config.payload_type == payload.kind)?;
    config.render_for_model(payload)
}

impl PayloadConfig {
    /// What the agent looks for.
    pub fn as_marker(&self) -> Marker {
        Marker {
            marker: self.marker.into(),
            kind: self.payload_type.into(),
            parse: self.parse,
        }
    }

    /// What the model wrote to make this payload.
    fn render_for_model(&self, payload: &Payload) -> Option<String> {
        let data: Value = serde_json::from_str(payload.data.as_str()).ok()?;
        Some(format!("{} {}", self.marker, (self.to_model_input)(&data)))
    }
}

/// What the model is told of these types.
pub fn instructions(configs: &[&PayloadConfig]) -> String {
    let mut text = String::from(
        "A marker with JSON on a line of its own, outside of code, becomes a card that opens a panel. Do not repeat in words what is in \
         it.",
    );
    for config in configs {
        text.push_str(&format!("\n{}", config.instructions));
    }
    text
}

/// The data as they are, if they can be shown as this type.
fn require_viewable(kind: &str, data: &Value) -> Result<Value, String> {
    if payloads::is_valid(kind, data) {
        Ok(data.clone())
    } else {
        Err(format!("this is no {kind}"))
    }
}

fn unchanged(data: &Value) -> Value {
    data.clone()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{ControlFilter, DEFAULT_MAX_CONTROL_BYTES, Item};

    fn all() -> Vec<&'static PayloadConfig> {
        ALL_PAYLOADS.to_vec()
    }

    #[test]
    fn payload_types_are_known_on_every_page() {
        for page in [&crate::pages::CHAT, &crate::pages::LITERATURE] {
            for config in page.resolve(None, None).payloads {
                let known = ALL_PAYLOADS
                    .iter()
                    .any(|known| known.payload_type == config.payload_type);
                assert!(known, "{} of {}", config.payload_type, page.name);
            }
        }
    }

    #[test]
    fn instructed_format_parses_and_renders() {
        for config in all() {
            let markers = all().into_iter().map(PayloadConfig::as_marker).collect();
            let mut filter = ControlFilter::new(markers, DEFAULT_MAX_CONTROL_BYTES);
            let mut items = Vec::new();
            let examples: Vec<&str> = config
                .instructions
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
                assert!(payloads::is_valid(&kind, &data), "{kind} {data}");
                let required = (config.schema)()["required"].clone();
                for field in required.as_array().expect("something is required") {
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
                assert!(config.instructions.contains(&shown), "{} {name}", config.marker);
            }
        }
    }

    #[test]
    fn stored_payloads_render_back_as_written() {
        for config in all() {
            let line = config
                .instructions
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
