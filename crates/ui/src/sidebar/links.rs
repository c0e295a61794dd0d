//! The links of the conversations in the list, for focus changes.

use parlor_protocol::ConversationId;

/// The id of the element that stands for a conversation: its link, or its checkbox.
pub fn link_id(id: ConversationId) -> String {
    ["chat-", &id.to_string()].concat()
}

/// The selector of that element.
pub fn link_selector(id: ConversationId) -> String {
    ["[id='", &link_id(id), "']"].concat()
}
