//! The texts of the small views, and those that several screens share.

pub(crate) use crate::runtime::texts::{LOADING, TRY_AGAIN};

// Buttons
pub(crate) const CANCEL: &str = "Cancel";
pub(crate) const CLOSE: &str = "Close";
pub(crate) const COPY: &str = "Copy";
pub(crate) const DELETE: &str = "Delete";
pub(crate) const DETAILS: &str = "Details";
pub(crate) const DOWNLOAD: &str = "Download";
pub(crate) const FULL_TEXT: &str = "Full text";
pub(crate) const NEW_CHAT: &str = "New chat";
pub(crate) const REMOVE: &str = "Remove";
pub(crate) const SAVE: &str = "Save";
pub(crate) const SAVING: &str = "Saving…";
pub(crate) const SETTINGS: &str = "Settings";
pub(crate) const SHARE: &str = "Share";
pub(crate) const SHOW_ALL: &str = "Show all";
pub(crate) const SHOW_LESS: &str = "Show less";
pub(crate) const SHOW_MORE: &str = "Show more";

// Copying
pub(super) const COPIED: &str = "Copied";
pub(super) const COPY_DONE: &str = "Copied.";
pub(super) const COPY_BLOCKED: &str = "Your browser blocked copying. Select the text instead.";

// Files that are uploaded
pub(crate) fn uploading(name: &str) -> String {
    ["Uploading ", name].concat()
}

pub(crate) fn cancel_upload(name: &str) -> String {
    ["Cancel upload of ", name].concat()
}

pub(crate) fn remove_file(name: &str) -> String {
    ["Remove ", name].concat()
}

// Content in pieces
pub(super) const REST_NEEDS_SCRIPTS: &str =
    "This text is very long. The rest of it is shown only with scripts.";

// What does not exist
pub(super) const NOT_FOUND_REASONS: &str = "The link may be old, or what was here was deleted.";
pub(super) const START_NEW_CHAT: &str = "Start a new chat";

// Toasts
pub(crate) const UNDO: &str = "Undo";
pub(crate) const DISMISS: &str = "Dismiss";

// An article of a journal
pub(super) const DOI: &str = "DOI";
pub(super) const PUBMED: &str = "PubMed";
pub(super) const AND_OTHERS: &str = " et al.";
pub(super) const PMID: &str = " · PMID ";
pub(super) const PASSAGE_NOT_FOUND: &str = "The quoted passage was not found in this text.";

// The progress of a job
pub const JOB_PROGRESS: &str = "Progress";
pub const JOB_STOP: &str = "Stop";
pub const JOB_CONTINUE: &str = "Continue";
pub const JOB_NEW_LIMIT: &str = "New limit, in US dollars (empty: unchanged)";
pub const JOB_NO_AMOUNT: &str = "A limit is an amount in dollars, such as 0.50. Nothing was started.";

pub fn job_steps(done: &str, total: &str, left: Option<&str>) -> String {
    let steps = [done, " of ", total, " steps"].concat();
    match left {
        Some(left) => [&steps, " · about ", left, " left"].concat(),
        None => steps,
    }
}
