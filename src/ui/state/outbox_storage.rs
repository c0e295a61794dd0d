//! Messages on their way, kept in this browser: a page that is loaded again sends them again.
//!
//! Each has a key of its own, so tabs that share the store do not get into each other's way. All of them may send it:
//! its ids are the same everywhere, and the server does it once.

use super::outbox::OutgoingMessage;
use crate::{
    protocol::{MessageId, json, sorted_vec},
    ui::browser,
};

const KEY_PREFIX: &str = "parlor-outbox:";

fn storage_key(message: MessageId) -> String {
    [KEY_PREFIX, &message.to_string()].concat()
}

/// Keeps a message until [`forget`].
pub fn store(sending: &OutgoingMessage) {
    if let Ok(json) = serde_json::to_string(sending) {
        browser::storage_set(&storage_key(sending.intent.user_message_id), Some(&json));
    }
}

/// Whether a message is still kept: another tab may have taken it back, or seen it arrive.
pub fn contains(message: MessageId) -> bool {
    browser::storage_get(&storage_key(message)).is_some()
}

/// The message is on the server, or the person has it back.
pub fn remove(message: MessageId) {
    browser::storage_set(&storage_key(message), None);
}

/// All that is kept, in the order in which it was written.
pub fn load_all() -> Vec<OutgoingMessage> {
    let mut all = Vec::new();
    for json in browser::storage_get_all(KEY_PREFIX) {
        if let Ok(sending) = json::parse::<OutgoingMessage>(json.as_bytes()) {
            sorted_vec::insert_sorted(&mut all, sending, |sending| sending.intent.user_message_id);
        }
    }
    all
}
