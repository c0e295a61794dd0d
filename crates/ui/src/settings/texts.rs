//! The texts of the settings. Those of the model servers are in [`super::endpoints`].

pub(super) use crate::components::texts::{LOADING, SAVE, SAVING, SETTINGS, TRY_AGAIN, UNDO};

// The page
pub(super) const BACK: &str = "Back";
pub(super) const READ_ONLY: &str = "Without scripts, the settings can be read here and not changed.";
pub(super) const LOADING_FAILED: &str = "The settings could not be loaded";
pub(super) const NOT_READ: &str = "The server could not read them.";
pub(super) const TAB_FAILED: &str = "This could not be loaded";
pub(super) const NO_RESPONSE: &str = "Parlor did not answer. Nothing was changed.";

// General
pub(super) const BROWSER: &str = "This browser";
pub(super) const BROWSER_ABOUT: &str = "Kept in this browser, for all conversations.";
pub(super) const THEME: &str = "Theme";
pub(super) const MISSING_TOOLS: &str = "Missing tools";
pub(super) const MISSING_TOOLS_ABOUT: &str =
    "The assistant could also use these tools. They need something of this server:";

// Instructions
pub(super) const INSTRUCTIONS: &str = "Instructions";
pub(super) const INSTRUCTIONS_ABOUT: &str = "What the assistant should know about you, and how you want to be answered. It is told this in every conversation, from your next message on.";
pub(super) const INSTRUCTIONS_EXAMPLE: &str =
    "For example: I am a nurse, so you can skip the basics. Answer briefly, and name your sources.";
pub(super) const DISCARD: &str = "Discard changes";
pub(super) const SAVED: &str = "Saved";
pub(super) const CHANGED_ELSEWHERE: &str =
    "The instructions were changed elsewhere. Saving overwrites that version; discarding shows it.";
pub(super) const NOT_SAVED_YET: &str = "Not saved yet. Kept in this browser.";

pub(super) fn not_saved(reason: &str) -> String {
    ["Not saved. ", reason].concat()
}

pub(super) fn too_long(excess_bytes: &str, max_bytes: &str) -> String {
    [
        excess_bytes,
        " bytes too long: there is room for ",
        max_bytes,
        ".",
    ]
    .concat()
}

// Memories
pub(super) const MEMORIES: &str = "Memories";
pub(super) const MEMORIES_ABOUT: &str = "What the assistant remembers about you across conversations.";
pub(super) const MEMORY_OFF: &str = "Remembering is switched off in this server’s settings: the assistant stores no new memories, or can’t look up these.";
pub(super) const SEARCH_CHATS: &str = "Let the assistant search my earlier chats when they matter";
pub(super) const NO_MEMORIES: &str = "Nothing yet. Tell the assistant something that will matter again, such as “Remember that I am allergic to peanuts.” It will appear here, and you can delete it.";
pub(super) const SEARCH_MEMORIES: &str = "Search memories";
pub(super) const NO_MATCHES: &str = "No memory contains these words.";
pub(super) const FORGET: &str = "Forget";
pub(super) const FORGOTTEN: &str = "Forgotten";
pub(super) const FORGET_ALL: &str = "Forget everything";
pub(super) const FORGET_ALL_TITLE: &str = "Forget everything?";
pub(super) const FORGET_ALL_WARNING: &str =
    "Everything that the assistant remembers about you will be deleted permanently.";

pub(super) fn memories(count: usize) -> String {
    match count {
        1 => "1 memory".into(),
        count => [&count.to_string(), " memories"].concat(),
    }
}

pub(super) fn forget(memory: &str) -> String {
    ["Forget “", memory, "”"].concat()
}

pub(super) fn undo_forgetting(memory: &str) -> String {
    ["Undo “", memory, "”"].concat()
}

// API tokens
pub(super) const TOKENS: &str = "API tokens";
pub(super) const TOKENS_ABOUT: &str = "With a token, a program of yours uses Parlor over HTTP as you. Give each program its own, so that you can revoke it.";
pub(super) const NO_TOKENS: &str = "None yet. A program sends its token along with each request: ";
pub(super) const TOKEN_HEADER: &str = "Authorization: Bearer parlor_…";
pub(super) const NAME: &str = "Name";
pub(super) const NAME_EXAMPLE: &str = "What will use it";
pub(super) const LIFETIME: &str = "How long it lasts";
pub(super) const UNLIMITED: &str = "It does not expire";
pub(super) const FOR_30_DAYS: &str = "For 30 days";
pub(super) const FOR_90_DAYS: &str = "For 90 days";
pub(super) const FOR_A_YEAR: &str = "For a year";
pub(super) const MAKE_TOKEN: &str = "Make a token";
pub(super) const NEW_TOKEN: &str = "Your new token";
pub(super) const COPY_NOW: &str = "Your new token. Copy it now: it is not shown again.";
pub(super) const COPY_TOKEN: &str = "Copy the token";
pub(super) const DONE: &str = "Done";
pub(super) const REVOKE: &str = "Revoke";
pub(super) const REVOKE_WARNING: &str =
    "Programs that use this token lose access at once. This can’t be undone.";
pub(super) const NEVER_USED: &str = "not used yet";
pub(super) const NEVER_EXPIRES: &str = "does not expire";
/// Before a time.
pub(super) const LAST_USED: &str = "last used ";
/// Before a time.
pub(super) const EXPIRED: &str = "expired ";
/// Before a time.
pub(super) const EXPIRES: &str = "expires ";
/// Before a time.
pub(super) const MADE: &str = "made ";

pub(super) fn revoke(token: &str) -> String {
    ["Revoke “", token, "”"].concat()
}

/// The question about an action, from the name of its button.
pub(super) fn question(action: &str) -> String {
    [action, "?"].concat()
}

// The age of chats
pub(super) const RETENTION: &str = "Old chats";
pub(super) const RETENTION_ABOUT: &str =
    "Erased for good some time after their last message. Pinned chats are kept.";
pub(super) const ERASE_CHATS: &str = "Erase chats";
pub(super) const NEVER: &str = "Never";

pub(super) const RETENTION_WARNING: &str = "Chats without activity for longer are erased with the next check, unless they are pinned. That can’t be undone.";
pub(super) const RETENTION_CONFIRM: &str = "Erase";

pub(super) fn retention_title(days: u32) -> String {
    ["Erase chats after ", &days.to_string(), " days?"].concat()
}

pub(super) fn after_days(days: u32) -> String {
    ["After ", &days.to_string(), " days"].concat()
}
