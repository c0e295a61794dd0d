//! JSON to what it must be: the right type, and no more than can be shown.
//!
//! A list of the right type that is too long, or has entries that are, keeps what fits: raw JSON in an answer would help
//! nobody. One of a wrong type is no control text.

use serde::Deserialize;
use serde_json::Value;

use crate::protocol::{ActionHandler, ActionStyle, CitedSource, SuggestedAction, SuggestedValue};

/// More than a person looks through, and than fits below an answer.
pub(super) const MAX_SUGGESTIONS: usize = 12;

/// Sources that an answer may name: a list to scroll through.
pub(super) const MAX_SOURCES: usize = 50;

/// In characters: a chip or a button of two lines on a phone.
pub(super) const MAX_LABEL_CHARS: usize = 120;

/// In characters: it is sent as the person's message, which nobody would want to be longer without having read it.
pub(super) const MAX_VALUE_CHARS: usize = 2000;

/// In characters: a name that a page registered.
const MAX_ACTION_CHARS: usize = 64;

/// In bytes: it is stored with the message and sent back as it is.
const MAX_DATA_BYTES: usize = 8 * 1024;

/// In characters: a line of a list.
const MAX_TITLE_CHARS: usize = 500;

/// In bytes: what browsers and servers bear.
const MAX_URL_BYTES: usize = 2048;

/// What may be suggested to say next.
pub(super) fn parse_values(json: Value) -> Option<Vec<SuggestedValue>> {
    let mut values: Vec<SuggestedValue> = serde_json::from_value(json).ok()?;
    values
        .retain(|value| is_within(&value.label, MAX_LABEL_CHARS) && is_within(&value.value, MAX_VALUE_CHARS));
    values.truncate(MAX_SUGGESTIONS);
    Some(values)
}

/// What may be suggested to do next.
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

/// The sources that metadata name; `Some(None)` if these are metadata about something else.
pub(super) fn parse_metadata(json: Value) -> Option<Option<Vec<CitedSource>>> {
    let Value::Object(mut fields) = json else {
        return None;
    };
    let Some(sources) = fields.remove("sources") else {
        return Some(None);
    };
    let mut sources: Vec<CitedSource> = serde_json::from_value(sources).ok()?;
    for (index, source) in sources.iter_mut().enumerate() {
        source.number = index + 1;
    }
    Some(Some(limit_sources(sources)))
}

/// The sources that can be shown, with the numbers that they have.
pub fn limit_sources(mut sources: Vec<CitedSource>) -> Vec<CitedSource> {
    sources.retain(|source| {
        is_within(&source.url, MAX_URL_BYTES)
            && source.url.len() <= MAX_URL_BYTES
            && source.title.chars().nth(MAX_TITLE_CHARS).is_none()
    });
    sources.truncate(MAX_SOURCES);
    sources
}

fn is_within(text: &str, max: usize) -> bool {
    !text.trim().is_empty() && text.chars().nth(max).is_none()
}

/// An action as the model writes it.
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
            // A style that we don't have is no reason to lose the button.
            style: written
                .style
                .and_then(|style| serde_json::from_value(style).ok())
                .unwrap_or(ActionStyle::Secondary),
            taken: false,
        }
    }
}
