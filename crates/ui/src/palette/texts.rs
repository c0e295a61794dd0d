//! The texts of the palette.

use parlor_protocol::search::HitKind;

pub(super) use crate::components::texts::{
    CANCEL, CLOSE, LOADING, NEW_CHAT, SAVE, SETTINGS, SHOW_MORE, TRY_AGAIN,
};

pub(super) const DIALOG: &str = "Search";
pub(super) const SEARCH: &str = "Search chats and actions";
pub(super) const FIND: &str = "Find in this chat";
pub(super) const FOUND: &str = "Found";
pub(super) const SEARCHING: &str = "Searching…";
pub(super) const NOTHING_FOUND: &str = "Nothing found. Try fewer words, or the beginning of one.";
pub(super) const HOW_TO_SEARCH: &str = "“Quotes” find a phrase. from:me, in:project, file:report, after:2026-10 and before:2026-11-05 narrow a search.";
pub(super) const FAILED: &str = "The texts of your chats could not be searched.";

pub(super) const TO_MOVE: &str = "to move";
pub(super) const TO_OPEN: &str = "to open";
pub(super) const TO_CLOSE: &str = "to close";

pub(super) fn number_found(count: usize, has_more: bool) -> String {
    let more = if has_more { " or more" } else { "" };
    [&*count.to_string(), more, " found"].concat()
}

pub(super) fn still_indexing(percent: u8) -> String {
    let percent = usize::from(percent).to_string();
    ["Older texts are being made searchable: ", &percent, " % so far."].concat()
}

/// What a hit is, before its snippet.
pub(super) fn hit_name(kind: HitKind) -> &'static str {
    match kind {
        HitKind::Title => "",
        HitKind::Question => "You",
        HitKind::Answer => "Answer",
        HitKind::Tool => "Tool result",
        HitKind::File => "File",
        HitKind::Article => "Saved article",
    }
}

// The groups of entries
pub(super) const ACTIONS: &str = "Actions";
pub(super) const PAGES: &str = "Pages";
pub(super) const CHATS: &str = "Chats";
pub(super) const RECENT_CHATS: &str = "Recent chats";
pub(super) const IN_TEXTS: &str = "In texts";
pub(super) const MODELS: &str = "Models";
pub(super) const IN_USE: &str = "in use";

// Actions
pub(super) const SHORTCUTS: &str = "Keyboard shortcuts";
pub(super) const DELETE_CHAT: &str = "Delete this chat";
pub(super) const SHARE_CHAT: &str = "Share this chat";
pub(super) const PIN_CHAT: &str = "Pin this chat";
pub(super) const UNPIN_CHAT: &str = "Unpin this chat";
pub(super) const ARCHIVE_CHAT: &str = "Archive this chat";
pub(super) const UNARCHIVE_CHAT: &str = "Move this chat out of the archive";
pub(super) const MARK_ALL_READ: &str = "Mark all chats as read";
pub(super) const SELECT_CHATS: &str = "Select chats";
pub(super) const NEW_PROJECT: &str = "New project";
pub(super) const MOVE_CHAT: &str = "Move this chat to a project…";
/// The kind of an entry that opens a project.
pub(super) const PROJECT: &str = "Project";

pub(super) fn project_of(owner: &str) -> String {
    ["Project of ", owner].concat()
}

pub(super) const SHOW_ARCHIVED: &str = "Archived chats";
pub(super) const RENAME_CHAT: &str = "Rename this chat";
pub(super) const RENAME_FIELD: &str = "Title of the conversation";
pub(super) const REGENERATE: &str = "Regenerate the answer";
pub(super) const STOP: &str = "Stop the answer";
pub(super) const KEY_ESCAPE: &str = "Esc";
