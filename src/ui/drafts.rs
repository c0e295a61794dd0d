//! Drafts: what is written and not sent yet, kept in this browser for each place.

use super::{browser, place::Place};

fn key(place: Place) -> String {
    let mut key = String::from("parlor-draft:");
    match place.conversation() {
        Some(id) => key.push_str(&id.to_string()),
        None => key.push_str("new"),
    }
    key
}

/// The draft of a place; empty if there is none.
pub fn load(place: Place) -> String {
    browser::stored(&key(place)).unwrap_or_default()
}

/// Keeps a draft. An empty one is no draft.
pub fn save(place: Place, text: &str) {
    browser::store(&key(place), Some(text).filter(|text| !text.is_empty()));
}

/// Drops the draft of a place that is no more.
pub fn forget(place: Place) {
    browser::store(&key(place), None);
}

/// A message that could not be sent is a draft again, before whatever was written since.
pub fn put_back(place: Place, text: &str) {
    let since = load(place);
    if since.trim().is_empty() {
        save(place, text);
    } else if !since.starts_with(text) {
        save(place, &[text, "\n\n", &since].concat());
    }
}

/// A message turned out to be sent: it is no draft any more. What was written since stays.
pub fn take_out(place: Place, text: &str) {
    if let Some(since) = load(place).strip_prefix(text) {
        save(place, since.trim_start());
    }
}
