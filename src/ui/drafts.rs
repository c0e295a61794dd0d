//! Drafts: what is written and not sent yet, kept in this browser for each place.

use super::{browser, place::Place};

/// Stands between a message that came back and what was written since.
const BETWEEN: &str = "\n\n";

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

/// Drops the draft of a place.
pub fn forget(place: Place) {
    browser::store(&key(place), None);
}

/// A place is no more: what was being written there is a draft of the new chat.
pub fn outlive(place: Place) {
    let draft = load(place);
    forget(place);
    if !draft.trim().is_empty() {
        put_back(Place::New, &draft);
    }
}

/// A message that could not be sent is a draft again, before whatever was written since.
pub fn put_back(place: Place, text: &str) {
    let since = load(place);
    if since.trim().is_empty() {
        save(place, text);
    } else if after(&since, text).is_none() {
        save(place, &[text, BETWEEN, &since].concat());
    }
}

/// A message turned out to be sent: it is no draft any more. What was written since stays.
pub fn take_out(place: Place, text: &str) {
    if let Some(since) = after(&load(place), text) {
        save(place, since);
    }
}

/// What is written in a draft after a message that came back to it; `None` if the message is not in it.
fn after<'a>(draft: &'a str, message: &str) -> Option<&'a str> {
    let rest = draft.strip_prefix(message)?;
    if rest.trim().is_empty() {
        return Some("");
    }
    rest.strip_prefix(BETWEEN)
}

#[cfg(test)]
mod tests {
    use super::after;

    #[test]
    fn a_message_is_in_a_draft_only_as_a_whole() {
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
            assert_eq!(after(draft, message), rest, "{draft:?} after {message:?}");
        }
    }
}
