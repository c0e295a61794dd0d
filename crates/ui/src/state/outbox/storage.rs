//! Storage of unsent messages in this browser: a page that is loaded again sends them again.
//!
//! Each message has its own key, so tabs that share the storage do not interfere. Several tabs may send the same
//! message: its ids are the same everywhere, and the server processes it once.

use super::messages::OutgoingMessage;
use crate::browser;
use parlor_protocol::{MessageId, json, sorted_vec};

const KEY_PREFIX: &str = "parlor-outbox:";

fn storage_key(message: MessageId) -> String {
    [KEY_PREFIX, &message.to_string()].concat()
}

/// Stores a message until [`remove`].
pub fn store(sending: &OutgoingMessage) {
    if let Ok(json) = serde_json::to_string(sending) {
        browser::storage_set(&storage_key(sending.intent.user_message_id), Some(&json));
    }
}

/// Returns true while a message is stored: another tab may have withdrawn it, or seen it delivered.
pub fn contains(message: MessageId) -> bool {
    browser::storage_get(&storage_key(message)).is_some()
}

/// Removes a message that is on the server or was withdrawn.
pub fn remove(message: MessageId) {
    browser::storage_set(&storage_key(message), None);
}

/// All stored messages, in the order in which they were written.
pub fn load_all() -> Vec<OutgoingMessage> {
    let mut all = Vec::new();
    for json in browser::storage_get_all(KEY_PREFIX) {
        if let Ok(sending) = json::parse::<OutgoingMessage>(json.as_bytes()) {
            sorted_vec::insert_sorted(&mut all, sending, |sending| sending.intent.user_message_id);
        }
    }
    all
}
