//! Drafts: text that is not sent yet, stored in this browser for each route.

use super::draft_files::SavedDraftFiles;
use crate::{browser, state::route::Route};
use parlor_protocol::json;

/// The separator between a message that could not be sent, back in the box, and the text written since.
const SEPARATOR: &str = "\n\n";

fn storage_key(route: Route) -> String {
    let mut key = String::from("parlor-draft:");
    match route {
        Route::Conversation(id) => key.push_str(&id.to_string()),
        Route::Project(id) => key.push_str(&id.to_string()),
        _ => key.push_str("new"),
    }
    key
}

fn pastes_key(route: Route) -> String {
    [&storage_key(route), ":pastes"].concat()
}

/// The draft of a route; empty if there is none.
pub fn load(route: Route) -> String {
    browser::storage_get(&storage_key(route)).unwrap_or_default()
}

/// Stores a draft. An empty one is removed.
pub fn save(route: Route, text: &str) {
    browser::storage_set(&storage_key(route), Some(text).filter(|text| !text.is_empty()));
}

/// Removes the draft of a route.
pub fn remove(route: Route) {
    browser::storage_set(&storage_key(route), None);
}

/// The long pasted texts of a route's draft.
pub fn load_pastes(route: Route) -> Vec<String> {
    let stored = browser::storage_get(&pastes_key(route));
    let stored = stored.and_then(|stored| json::parse(stored.as_bytes()).ok());
    stored.unwrap_or_default()
}

/// Stores the long pasted texts of a route's draft.
pub fn save_pastes(route: Route, pastes: &[String]) {
    let stored = serde_json::to_string(pastes).ok();
    browser::storage_set(
        &pastes_key(route),
        stored.as_deref().filter(|_| !pastes.is_empty()),
    );
}

fn files_key(route: Route) -> String {
    [&storage_key(route), ":files"].concat()
}

/// The uploaded files of a route's draft.
pub fn load_files(route: Route) -> Option<SavedDraftFiles> {
    let stored = browser::storage_get(&files_key(route))?;
    json::parse(stored.as_bytes()).ok()
}

/// Stores the uploaded files of a route's draft.
pub fn save_files(route: Route, files: &SavedDraftFiles) {
    let stored = serde_json::to_string(files).ok();
    browser::storage_set(&files_key(route), stored.as_deref());
}

/// Removes the files of a route's draft.
pub fn remove_files(route: Route) {
    browser::storage_set(&files_key(route), None);
}

/// Moves the draft of a route that no longer exists to the new chat. Those of a conversation were deleted with it; those for the
/// first message of one stay, unless the new chat has others.
pub fn move_to_new_chat(route: Route) {
    let texts = std::iter::once(load(route)).chain(load_pastes(route));
    let texts: Vec<String> = texts.filter(|text| !text.trim().is_empty()).collect();
    let draft = texts.join(SEPARATOR);
    remove(route);
    save_pastes(route, &[]);
    if route.begins_chat()
        && load_files(Route::New).is_none()
        && let Some(files) = load_files(route)
    {
        save_files(Route::New, &files);
    }
    remove_files(route);
    if !draft.is_empty() {
        restore(Route::New, &draft);
    }
}

/// Makes a message that could not be sent a draft again, before the text written since.
pub fn restore(route: Route, text: &str) {
    let since = load(route);
    if since.trim().is_empty() {
        save(route, text);
    } else if text_after(&since, text).is_none() {
        save(route, &[text, SEPARATOR, &since].concat());
    }
}

/// Removes from a draft a message that was sent after all. Text written since stays.
pub fn remove_sent(route: Route, text: &str) {
    if let Some(since) = text_after(&load(route), text) {
        save(route, since);
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
