//! Drafts: what is written and not sent yet, kept in this browser for each place.

use crate::ui::{browser, state::route::Route};

/// Stands between a message that came back and what was written since.
const SEPARATOR: &str = "\n\n";

fn storage_key(place: Route) -> String {
    let mut key = String::from("parlor-draft:");
    match place.conversation_id() {
        Some(id) => key.push_str(&id.to_string()),
        None => key.push_str("new"),
    }
    key
}

/// The draft of a place; empty if there is none.
pub fn load(place: Route) -> String {
    browser::storage_get(&storage_key(place)).unwrap_or_default()
}

/// Keeps a draft. An empty one is no draft.
pub fn save(place: Route, text: &str) {
    browser::storage_set(&storage_key(place), Some(text).filter(|text| !text.is_empty()));
}

/// Drops the draft of a place.
pub fn remove(place: Route) {
    browser::storage_set(&storage_key(place), None);
}

/// A place is no more: what was being written there is a draft of the new chat.
pub fn move_to_new_chat(place: Route) {
    let draft = load(place);
    remove(place);
    if !draft.trim().is_empty() {
        restore(Route::New, &draft);
    }
}

/// A message that could not be sent is a draft again, before whatever was written since.
pub fn restore(place: Route, text: &str) {
    let since = load(place);
    if since.trim().is_empty() {
        save(place, text);
    } else if text_after(&since, text).is_none() {
        save(place, &[text, SEPARATOR, &since].concat());
    }
}

/// A message turned out to be sent: it is no draft any more. What was written since stays.
pub fn remove_sent(place: Route, text: &str) {
    if let Some(since) = text_after(&load(place), text) {
        save(place, since);
    }
}

/// What is written in a draft after a message that came back to it; `None` if the message is not in it.
fn text_after<'a>(draft: &'a str, message: &str) -> Option<&'a str> {
    let rest = draft.strip_prefix(message)?;
    if rest.trim().is_empty() {
        return Some("");
    }
    rest.strip_prefix(SEPARATOR)
}

#[cfg(test)]
mod tests {
    use super::text_after;

    #[test]
    fn finds_only_a_whole_message_in_draft() {
        let cases = [
            ("Hi", "Hi", Some("")),
            ("Hi\n", "Hi", Some("")),
            ("Hi\n\nHigh five", "Hi", Some("High five")),
            ("High five", "Hi", None),
            ("Hi there", "Hi", None),
            ("Oh, Hi", "Hi", None),
            ("", "Hi", None),
        ];
        for (draft, message, rest) in cases {
            assert_eq!(text_after(draft, message), rest, "{draft:?} after {message:?}");
        }
    }
}
