//! The links of the conversations in the list, for focus changes.

use crate::state::route::Route;
use parlor_protocol::ConversationId;

/// The selector of a conversation's link.
pub fn link_selector(id: ConversationId) -> String {
    ["#sidebar a[href=\"", &Route::Conversation(id).path(), "\"]"].concat()
}
