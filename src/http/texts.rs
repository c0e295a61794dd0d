//! The texts of the documents that people read outside of the pages of accounts and of the application.

// All documents
pub(super) const PARLOR: &str = "Parlor";

// Application: code that does not run
pub(super) const NOTICES: &str = "Notices";
pub(super) const START_FAILED: &str = "This page could not start. You are reading the plain page: reading and sending \
     work, and what you wrote is kept. If this happens again, report it with what the browser’s console says.";
pub(super) const TRY_AGAIN: &str = "Try again";
pub(super) const PAGE_STOPPED: &str = "This page has stopped working. What was sent and what you wrote is kept. If this \
     happens again, report it with what the browser’s console says.";
pub(super) const RELOAD: &str = "Reload";
pub(super) const OPEN_PLAIN_PAGE: &str = "Open the plain page";

// Application: a session that has ended
pub(super) const SIGNED_OUT: &str =
    "You are signed out. What you wrote is kept in this browser, and what waits is sent when you are back.";
pub(super) const SIGN_IN: &str = "Sign in";

// A message that was not sent, from a page without scripts
pub(super) const NOT_SENT: &str = "Not sent";
pub(super) const INVALID_ID: &str = "The form contains an invalid id. Reload the page.";
pub(super) const MESSAGE_TOO_LONG: &str = "The message is longer than the limit (setting limits.request_bytes). It was \
     not sent: go back, where your browser still has it, and make it shorter.";
pub(super) const MODEL: &str = "Model: ";
pub(super) const MESSAGE: &str = "Message";
pub(super) const SEND_AGAIN: &str = "Send again";
pub(super) const BACK_TO_CONVERSATION: &str = "Back to the conversation";
pub(super) const BACK: &str = "Back";

// A rejected request
pub(super) const REFUSED_TITLE: &str = "Parlor refused this request";
pub(super) const SEARCH_TITLE: &str = "Open this search?";
pub(super) const SEARCH_WARNING: &str =
    "A page of another site wants to open a search here. Opening it asks PubMed.";
pub(super) const OPEN: &str = "Open it";

// Frames
pub(super) const FRAME_INVALID: &str =
    "This page cannot be shown: it is too long, or the form is damaged. Its source is kept.";
pub(super) const CHART_NOT_DRAWN: &str = "This chart has not been drawn yet";
