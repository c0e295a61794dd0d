//! The texts that the stores say to people: toasts, titles, and why something failed.

// The connection
pub(super) const OTHER_USER: &str =
    "Another user has signed in. What you wrote is kept; sign in again to go on.";
pub(super) const SERVER_UNREACHABLE: &str = "The server can’t be reached.";

pub(super) fn damaged_change(position: &str) -> String {
    ["A change is damaged and can’t be shown. Id ", position].concat()
}

// Conversations
pub(super) const CONVERSATION_BROKEN: &str =
    "This conversation could not be loaded correctly. Reload the page.";
pub(super) const MESSAGE_DELETED: &str = "Message deleted, with all that followed.";
pub(super) const ALL_READ: &str = "All chats are marked as read.";

pub(super) fn chats_deleted(count: usize) -> String {
    match count {
        1 => "Chat deleted.".into(),
        count => [&usize::to_string(&count), " chats deleted."].concat(),
    }
}

pub(super) fn chats_archived(count: usize) -> String {
    match count {
        1 => "Chat archived.".into(),
        count => [&usize::to_string(&count), " chats archived."].concat(),
    }
}
pub(super) fn chats_moved(count: usize) -> String {
    match count {
        1 => "Chat moved.".into(),
        count => [&usize::to_string(&count), " chats moved."].concat(),
    }
}
pub(super) const PROJECT_DELETED: &str = "Project deleted. Its chats are in the list.";
pub(super) const BRANCHED: &str = "You are in a new conversation, a copy. The original is unchanged.";
pub(super) const ANSWERED_ELSEWHERE: &str = "This was answered already, in another tab.";
pub(super) const STOPPED: &str = "Response stopped.";
pub(super) const ANSWER_BEING_WRITTEN: &str =
    "The answer is still being written. Stop it, or send this when it is done.";
/// A message that the user sends with a button.
pub(super) const FRESH_SESSION_REQUEST: &str =
    "Start a fresh Python session, and go on with my last question.";

// Files of the next message
pub(super) const UPLOAD_CUT_OFF: &str = "The upload was cut off.";
pub(super) const UPLOAD_FAILED: &str = "The upload failed.";

pub(super) fn file_too_large(size: &str, limit: &str) -> String {
    [
        "The file has ",
        size,
        "; the limit is ",
        limit,
        ". Attach a smaller one.",
    ]
    .concat()
}

pub(super) fn too_many_files(limit: usize) -> String {
    let files = match limit {
        1 => "1 file".to_owned(),
        _ => [&limit.to_string(), " files"].concat(),
    };
    [
        "A message can have ",
        &files,
        ". Send this one in the next message.",
    ]
    .concat()
}

// Models
pub(super) const UNAVAILABLE_MODELS: &str = "Not available now";

// Notifications
pub(super) const NOTIFY_ON: &str = "Notify me when a long answer is finished: on";
pub(super) const NOTIFY_OFF: &str = "Notify me when a long answer is finished: off";
pub(super) const NOTIFY_BLOCKED: &str = "Notify me when a long answer is finished: blocked by the browser";
pub(super) const REPORT_READY: &str = "The report is ready.";
pub(super) const REPORT_WAITS: &str = "The report waits for your decision.";
pub(super) const REPORT_ENDED: &str = "The report could not be finished.";
pub(super) const RUN_FAILED: &str = "The model could not answer.";
pub(super) const RUN_INTERRUPTED: &str = "The answer was interrupted.";

// Shares: who can read a conversation
pub(super) const SHARED_BY_LINK: &str = "whoever has the link";
pub(super) const SHARED_WITH_NOBODY: &str = "Shared with nobody who is still here";

/// Readers, of whom there is at least the last one.
pub(super) fn shared_with(others: &[&str], last: &str) -> String {
    match others {
        [] => ["Shared with ", last].concat(),
        others => ["Shared with ", &others.join(", "), " and ", last].concat(),
    }
}

// The tabs of the settings
pub(super) const GENERAL: &str = "General";
pub(super) const MODELS: &str = "Models";
pub(super) const MEMORIES: &str = "Memories";
pub(super) const FILES: &str = "Files";
pub(super) const TOKENS: &str = "API tokens";
pub(super) const USAGE: &str = "Usage";
pub(super) const ACCOUNT: &str = "Account";
pub(super) const DEVICES: &str = "Devices";
pub(super) const USERS: &str = "Users";
pub(super) const INVITATIONS: &str = "Invitations";
pub(super) const AUDIT: &str = "Audit log";
pub(super) const SYSTEM: &str = "System";

// Drafts
pub(super) const REJECTED_FOR_FORM: &str = "Rejected. The form stays as it is.";

pub(super) fn accepted_into_form(count: usize) -> String {
    match count {
        // It is still shown when the form is saved at once.
        1 => "1 change is in the form now.".into(),
        count => [&count.to_string(), " changes are in the form now."].concat(),
    }
}
