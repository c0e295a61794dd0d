//! The texts of the keyboard shortcuts that people read: the sheet of shortcuts, the titles of buttons, and README have them.

pub(super) use crate::components::texts::NEW_CHAT;

// Places
pub(super) const EVERYWHERE: &str = "Everywhere";
pub(super) const IN_MESSAGE_BOX: &str = "In the message box";
pub(super) const IN_CONVERSATION: &str = "In a conversation";
pub(super) const IN_LIST: &str = "In the list of conversations";

// Shortcuts
pub(super) const SEARCH: &str = "Search chats and actions";
pub(super) const SHOW_SHORTCUTS: &str = "Keyboard shortcuts";
pub(super) const TOGGLE_TRAY: &str = "Open or close the chat next to a page";
pub(super) const CLOSE: &str = "Close what is open";
pub(super) const SEND: &str = "Send the message";
pub(super) const INSERT_LINE: &str = "Insert a line";
pub(super) const EDIT_LAST: &str = "Edit your last message, if the box is empty";
pub(super) const STOP: &str = "Stop the answer, if nothing is open";
pub(super) const FIND: &str = "Find in this chat";
pub(super) const STEP_FOUND: &str = "Go to the previous or next place that Find has found";
pub(super) const QUOTE: &str = "Quote the selected text";
pub(super) const MOVE_IN_LIST: &str = "Go from chat to chat";
pub(super) const SELECT_ROW: &str = "Select the chat";
pub(super) const SELECT_ALL: &str = "Select all chats, while some are selected";
pub(super) const PIN_ROW: &str = "Pin or unpin the chat";
pub(super) const MOVE_ROW: &str = "Move the chat to a project";
pub(super) const FOLD_PROJECT: &str = "Hide or show the chats of the project";
pub(super) const ARCHIVE_ROW: &str = "Archive the chat, or move it back";
pub(super) const ROW_ACTIONS: &str = "Actions of the chat";
