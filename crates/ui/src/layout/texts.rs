//! The texts of the page around a conversation, and of a shared conversation.

pub(super) use crate::components::texts::{LOADING, NEW_CHAT, SETTINGS};

// The page
pub(super) const NOT_FOUND: &str = "Not found";
pub(super) const NOTHING_HERE: &str = "There is nothing at this address.";
pub(super) const SKIP_TO_BOX: &str = "Skip to the message box";
pub(super) const SKIP_TO_PAGE: &str = "Skip to the page";

/// The title of the browser's tab. `place` may be empty.
pub(super) fn page_title(place: &str) -> String {
    let separator = if place.is_empty() { "" } else { " · " };
    [place, separator, "Parlor"].concat()
}

pub(super) fn settings_title(tab: &str) -> String {
    [tab, " · ", SETTINGS].concat()
}

// The header
pub(super) const CONVERSATION: &str = "Conversation";
pub(super) const CONVERSATIONS: &str = "Conversations";
pub(super) const SHOW_LIST: &str = "Show the list";
pub(super) const HIDE_LIST: &str = "Hide the list";
pub(super) const SHOW_OR_HIDE_LIST: &str = "Show or hide the list";
pub(super) const RECONNECTING: &str = "Reconnecting…";
pub(super) const NO_LIVE_UPDATES: &str = "No live updates: reload to see changes";

// A shared conversation
pub(super) const NOT_SHARED: &str = "Not shared";
pub(super) const NOTHING_TO_READ: &str = "Nothing to read here";
pub(super) const NO_LONGER_SHARED: &str = "No longer shared";
pub(super) const SHARE_ENDED_TITLE: &str = "This conversation is no longer shared";
pub(super) const SHARE_ENDED: &str =
    "The share has ended. Ask the person who gave you the address if you need it again.";
pub(super) const ABOUT_SHARE: &str = "About this page";
pub(super) const CROWDED: &str =
    "Too many people watch this. Reload later to see what is new. You cannot write here.";
pub(super) const LIVE: &str = "You see what is written as it comes. You cannot write here.";
pub(super) const BACK_TO_PROJECT: &str = "Back to the project";
/// Around the name of the person.
pub(super) const SHARED_BY: (&str, &str) = ("Shared by ", ". ");
/// Around the time.
pub(super) const AS_OF: (&str, &str) = ("As it was on ", ". You cannot write here.");

// Temporary chats
/// The title of the link to a conversation's project.
pub(super) const PROJECT: &str = "The project of this chat";
pub(super) const TEMPORARY: &str = "Temporary chat";
pub(super) const TEMPORARY_ABOUT: &str = "A temporary chat is not found by the search, nothing of it is remembered, and it is erased some time after its last message.";
pub(super) const KEEP: &str = "Temporary: keep";
