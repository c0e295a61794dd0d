//! Drafts: text that is not sent yet, stored in this browser for each route.

use super::{browser, route::Route};

/// Separates a returned message from the text written since.
const SEPARATOR: &str = "\n\n";

fn storage_key(place: Route) -> String {
    let mut key = String::from("parlor-draft:");
    match place.conversation_id() {
        Some(id) => key.push_str(&id.to_string()),
        None => key.push_str("new"),
    }
    key
}

/// The draft of a route; empty if there is none.
pub fn load(place: Route) -> String {
    browser::storage_get(&storage_key(place)).unwrap_or_default()
}

/// Stores a draft. An empty one is removed.
pub fn save(place: Route, text: &str) {
    browser::storage_set(&storage_key(place), Some(text).filter(|text| !text.is_empty()));
}

/// Removes the draft of a route.
pub fn remove(place: Route) {
    browser::storage_set(&storage_key(place), None);
}

/// Moves the draft of a route that no longer exists to the new chat.
pub fn move_to_new_chat(place: Route) {
    let draft = load(place);
    remove(place);
    if !draft.trim().is_empty() {
        restore(Route::New, &draft);
    }
}

/// Makes a message that could not be sent a draft again, before the text written since.
pub fn restore(place: Route, text: &str) {
    let since = load(place);
    if since.trim().is_empty() {
        save(place, text);
    } else if text_after(&since, text).is_none() {
        save(place, &[text, SEPARATOR, &since].concat());
    }
}

/// Removes from a draft a message that was sent after all. Text written since stays.
pub fn remove_sent(place: Route, text: &str) {
    if let Some(since) = text_after(&load(place), text) {
        save(place, since);
    }
}

/// The text in a draft after a returned message; `None` if the message is not in it.
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
