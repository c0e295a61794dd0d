//! The filter's properties and examples.

mod attacks;
mod cost;
mod examples;
mod properties;

use serde_json::json;

use super::*;
use parlor_protocol::{ActionHandler, ActionStyle};

const VALUES: &str = r#"SUGGESTED_VALUES: [{"label":"Yes","value":"yes"}]"#;
const SCHEMA: &str = r#"SCHEMA_PROPOSAL: {"fields":["a","b"]}"#;
const METADATA: &str =
    "<!-- METADATA:\n{\"sources\": [{\"title\": \"A\", \"url\": \"https://a.example\"}]}\n-->";
const ECHO: &str = r#"<!-- METADATA: {"timestamp":"2024-06-15 14:30 CET","relative_time":"3 hours ago"} -->"#;
const SOURCES: &str = r#"{"sources": [{"title": "B", "url": "https://b.example"}]}"#;

/// A page's marker for objects with fields.
fn schema_marker() -> Marker {
    Marker {
        marker: "SCHEMA_PROPOSAL:".into(),
        kind: "schema_proposal".into(),
        parse: |json| match json.get("fields") {
            Some(Value::Array(_)) => Ok(json.clone()),
            _ => Err("a proposal has fields".into()),
        },
        is_corrected: false,
    }
}

fn filter() -> ControlFilter {
    ControlFilter::new(vec![schema_marker()], DEFAULT_MAX_CONTROL_BYTES)
}

/// Returns the items of an answer in these deltas. Adjacent texts are joined, and the raw text of payloads is
/// left out.
fn items<'a>(mut filter: ControlFilter, deltas: impl IntoIterator<Item = &'a str>) -> Vec<Item> {
    let mut out = Vec::new();
    for delta in deltas {
        filter.push(delta, &mut out);
    }
    filter.finish(&mut out);
    let mut joined: Vec<Item> = Vec::new();
    for item in out {
        match (joined.last_mut(), item) {
            (Some(Item::Text(text)), Item::Text(more)) => text.push_str(&more),
            (_, Item::Payload { kind, data, .. }) => {
                let raw = String::new();
                joined.push(Item::Payload { kind, data, raw });
            }
            (_, item) => joined.push(item),
        }
    }
    joined
}

/// Returns the items of an answer, whole and split into single characters.
fn filtered(answer: &str) -> Vec<Item> {
    let whole = items(filter(), [answer]);
    let characters = answer.split_inclusive(|_| true);
    assert_eq!(whole, items(filter(), characters), "cut and whole: {answer:?}");
    whole
}

fn text(text: &str) -> Item {
    Item::Text(text.into())
}

fn values(label: &str, value: &str) -> Item {
    Item::Values(vec![SuggestedValue {
        label: label.into(),
        value: value.into(),
    }])
}

fn yes_value() -> Item {
    values("Yes", "yes")
}

fn proposal() -> Item {
    Item::Payload {
        kind: "schema_proposal".into(),
        data: json!({"fields": ["a", "b"]}),
        raw: String::new(),
    }
}

fn source(title: &str, url: &str) -> Item {
    Item::Sources(vec![CitedSource {
        number: 1,
        title: title.into(),
        url: url.into(),
        passage: None,
    }])
}

fn source_a() -> Item {
    source("A", "https://a.example")
}

fn source_b() -> Item {
    source("B", "https://b.example")
}

/// Asserts that an answer is text, every byte of it.
fn assert_all_text(answer: &str) {
    assert_eq!(filtered(answer), [text(answer)]);
}
