//! The texts of the list of conversations that people read.

pub(super) use crate::components::texts::{DELETE, NEW_CHAT, SHARE};

// The list
pub(super) const CONVERSATIONS: &str = "Conversations";
pub(super) const CHATS: &str = "Chats";
pub(super) const ARCHIVED: &str = "Archived";
pub(super) const PINNED: &str = "Pinned";
pub(super) const PROJECTS: &str = "Projects";
pub(super) const SHARED_WITH_YOU: &str = "Shared with you";
pub(super) const NEW_PROJECT: &str = "New project";
pub(super) const NOTHING_ARCHIVED: &str =
    "Nothing is archived. Chats that you archive are found here and by the search.";
pub(super) const PARLOR: &str = "Parlor";
pub(super) const CLOSE_LIST: &str = "Close the list";
pub(super) const SEARCH: &str = "Search";
pub(super) const EMPTY: &str = "Your conversations will be listed here.";
pub(super) const LOADING_OLDER: &str = "Loading older conversations…";
pub(super) const SHOW_OLDER: &str = "Show older";
/// Before the reason.
pub(super) const LOADING_FAILED: &str = "A part of the list could not be loaded. ";
pub(super) const LOAD_AGAIN: &str = "Load the list again";

// The head of the list
pub(super) const LIST_MENU: &str = "Actions for the list";
pub(super) const SELECT: &str = "Select chats";
pub(super) const MARK_ALL_READ: &str = "Mark all as read";
pub(super) const SHOW_ARCHIVED: &str = "Archived chats";
pub(super) const BACK_TO_CHATS: &str = "Back to the chats";
pub(super) const SELECTED_CHATS: &str = "Selected chats";
pub(super) const SELECT_ALL: &str = "Select all that are loaded";
pub(super) const END_SELECTING: &str = "End the selection";

pub(super) const MORE: &str = "More for the selected chats";

pub(super) fn selected(count: usize) -> String {
    [&usize::to_string(&count), " selected"].concat()
}

// A conversation: what screen readers are told of its dot
pub(super) const WAITS_FOR_YOU: &str = "waits for you";
pub(super) const IS_ANSWERING: &str = "is answering";
pub(super) const HAS_NEWS: &str = "has something new";

// The dot beside the link to the reports
pub(super) fn new_reports(count: usize) -> String {
    match count {
        1 => "one is new".into(),
        _ => [&count.to_string(), " are new"].concat(),
    }
}
pub(super) const IS_TEMPORARY: &str = "temporary";

/// After the name of a project of another person, for screen readers.
pub(super) fn shared_by(owner: &str) -> String {
    [", shared by ", owner].concat()
}

// The menu of a conversation
pub(super) const ACTIONS: &str = "Actions";
pub(super) const RENAME: &str = "Rename";
pub(super) const PIN: &str = "Pin";
pub(super) const UNPIN: &str = "Unpin";
pub(super) const ARCHIVE: &str = "Archive";
pub(super) const UNARCHIVE: &str = "Move out of the archive";
pub(super) const MARK_READ: &str = "Mark as read";
pub(super) const KEEP: &str = "Keep this chat";
pub(super) const SELECT_ROW: &str = "Select";
pub(super) const MOVE: &str = "Move to a project…";
pub(super) const RENAME_FIELD: &str = "Title of the conversation";

pub(super) fn actions_for(title: &str) -> String {
    ["Actions for “", title, "”"].concat()
}

// A project
pub(super) const EDIT_PROJECT: &str = "Edit";
pub(super) const PROJECT_EMPTY: &str = "No chats yet.";
pub(super) const ALL_OF_PROJECT: &str = "All its chats";

pub(super) fn fold(name: &str) -> String {
    ["Hide the chats of ", name].concat()
}

pub(super) fn unfold(name: &str) -> String {
    ["Show the chats of ", name].concat()
}

// Deletion
pub(super) const DELETE_TITLE: &str = "Delete this temporary chat?";

pub(super) fn delete_warning(title: &str) -> String {
    [
        "“",
        title,
        "” and all of its messages will be erased at once. That can’t be undone.",
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
