//! The texts of the chat beside a page that people read.

pub(super) const ASK: &str = "Ask about this page";
pub(super) const CHAT: &str = "Chat";
pub(super) const CONVERSATION: &str = "Conversation";
pub(super) const NEW_CONVERSATION: &str = "New conversation";
pub(super) const OPEN_FULL: &str = "Open in full chat";
pub(super) const CLOSE: &str = "Close the chat";
