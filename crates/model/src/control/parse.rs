//! Conversion of JSON to typed items, limited to sizes that can be shown.
//!
//! A list of the right type that is too long or has entries that are too long keeps the entries that fit: raw
//! JSON in an answer would help nobody. A list of the wrong type is not control text.

use serde::Deserialize;
use serde_json::Value;

use parlor_protocol::{
    ActionHandler, ActionStyle, CitedSource, Passage, SuggestedAction, SuggestedValue,
    passage::MAX_QUOTE_CHARS,
};

/// The maximum number of suggestions: as many as fit below an answer and are read.
pub(super) const MAX_SUGGESTIONS: usize = 12;

/// The maximum number of sources of an answer: a list to scroll through.
pub(super) const MAX_SOURCES: usize = 50;

/// The maximum length of a label, in characters: a chip or a button of two lines on a phone.
pub(super) const MAX_LABEL_CHARS: usize = 120;

/// The maximum length of a suggested value, in characters. It is sent as the user's message, so it must be short
/// enough to be read first.
pub(super) const MAX_VALUE_CHARS: usize = 2000;

/// The maximum length of the name of a page's action, in characters.
const MAX_ACTION_CHARS: usize = 64;

/// The maximum length of an action's data, in bytes. They are stored with the message and sent back unchanged.
const MAX_DATA_BYTES: usize = 8 * 1024;

/// The maximum length of a source's title, in characters: one line of a list.
const MAX_TITLE_CHARS: usize = 500;

/// The maximum length of a source's URL, in bytes: the limit of browsers and servers.
const MAX_URL_BYTES: usize = 2048;

/// Parses suggested values.
pub(super) fn parse_values(json: Value) -> Option<Vec<SuggestedValue>> {
    let mut values: Vec<SuggestedValue> = serde_json::from_value(json).ok()?;
    values
        .retain(|value| is_within(&value.label, MAX_LABEL_CHARS) && is_within(&value.value, MAX_VALUE_CHARS));
    values.truncate(MAX_SUGGESTIONS);
    Some(values)
}

/// Parses suggested actions.
pub(super) fn parse_actions(json: Value) -> Option<Vec<SuggestedAction>> {
    let written: Vec<WrittenAction> = serde_json::from_value(json).ok()?;
    let mut actions: Vec<_> = written.into_iter().map(SuggestedAction::from).collect();
    actions.retain(|action| {
        is_within(&action.label, MAX_LABEL_CHARS)
            && is_within(&action.action, MAX_ACTION_CHARS)
            && action
                .data
                .as_ref()
                .is_none_or(|data| data.len() <= MAX_DATA_BYTES)
    });
    actions.truncate(MAX_SUGGESTIONS);
    Some(actions)
}

/// Parses the sources of metadata. Returns `Some(None)` for metadata about something else.
pub(super) fn parse_metadata(json: Value) -> Option<Option<Vec<CitedSource>>> {
    let Value::Object(mut fields) = json else {
        return None;
    };
    let Some(sources) = fields.remove("sources") else {
        return Some(None);
    };
    let written: Vec<WrittenSource> = serde_json::from_value(sources).ok()?;
    let sources = written.into_iter().zip(1..).map(|(written, number)| CitedSource {
        number,
        title: written.title,
        url: written.url,
        passage: written.quote.as_deref().map(unchecked_passage),
    });
    Some(Some(limit_sources(sources.collect())))
}

/// A source in the model's format.
#[derive(Deserialize)]
struct WrittenSource {
    #[serde(default)]
    title: String,
    #[serde(default)]
    url: String,
    quote: Option<String>,
}

/// A quote that nobody has looked for yet.
fn unchecked_passage(quote: &str) -> Passage {
    Passage::NotFound {
        quote: quote.trim().chars().take(MAX_QUOTE_CHARS).collect(),
    }
}

/// Returns the sources that can be shown, with unchanged numbers.
pub fn limit_sources(mut sources: Vec<CitedSource>) -> Vec<CitedSource> {
    sources.retain(|source| {
        let is_document = source.url.is_empty() && !source.title.trim().is_empty();
        (is_document || is_within(&source.url, MAX_URL_BYTES))
            && source.url.len() <= MAX_URL_BYTES
            && source.title.chars().nth(MAX_TITLE_CHARS).is_none()
    });
    sources.truncate(MAX_SOURCES);
    sources
}

fn is_within(text: &str, max: usize) -> bool {
    !text.trim().is_empty() && text.chars().nth(max).is_none()
}

/// An action in the model's format.
#[derive(Deserialize)]
struct WrittenAction {
    label: String,
    action: String,
    handler: ActionHandler,
    data: Option<Value>,
    style: Option<Value>,
}

impl From<WrittenAction> for SuggestedAction {
    fn from(written: WrittenAction) -> Self {
        Self {
            label: written.label,
            action: written.action,
            handler: written.handler,
            data: written.data.map(|data| data.to_string()),
            // An unknown style falls back to the default, so that the button is kept.
            style: written
                .style
                .and_then(|style| serde_json::from_value(style).ok())
                .unwrap_or(ActionStyle::Secondary),
            taken: false,
        }
    }
}
