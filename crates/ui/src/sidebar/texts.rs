//! The texts of the list of conversations that people read.

pub(super) use crate::components::texts::{DELETE, NEW_CHAT, SHARE};

// The list
pub(super) const CONVERSATIONS: &str = "Conversations";
pub(super) const PARLOR: &str = "Parlor";
pub(super) const CLOSE_LIST: &str = "Close the list";
pub(super) const SEARCH: &str = "Search";
pub(super) const EMPTY: &str = "Your conversations will be listed here.";
pub(super) const LOADING_OLDER: &str = "Loading older conversations…";
pub(super) const SHOW_OLDER: &str = "Show older";
/// Before the reason.
pub(super) const LOADING_FAILED: &str = "A part of the list could not be loaded. ";
pub(super) const LOAD_AGAIN: &str = "Load the list again";

// A conversation: what screen readers are told of its dot
pub(super) const WAITS_FOR_YOU: &str = "waits for you";
pub(super) const IS_ANSWERING: &str = "is answering";
pub(super) const HAS_NEWS: &str = "has something new";

// The menu of a conversation
pub(super) const ACTIONS: &str = "Actions";
pub(super) const RENAME: &str = "Rename";
pub(super) const RENAME_FIELD: &str = "Title of the conversation";

pub(super) fn actions_for(title: &str) -> String {
    ["Actions for “", title, "”"].concat()
}

// Deletion
pub(super) const DELETE_TITLE: &str = "Delete this conversation?";

pub(super) fn delete_warning(title: &str) -> String {
    [
        "“",
        title,
        "” and all of its messages will be deleted permanently.",
    ]
    .concat()
}

// The foot
pub(super) const SETTINGS: &str = "Settings";
/// What screen readers are told of the person's name.
pub(super) const PERSON_HINT: &str = "settings and account";
pub(super) const PERSON_MENU: &str = "Settings and account";
pub(super) const THEME: &str = "Theme";
pub(super) const SIGN_OUT: &str = "Sign out";
