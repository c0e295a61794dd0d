//! Messages on their way, kept in this browser: a page that is loaded again sends them again.
//!
//! Each has a key of its own, so tabs that share the store do not get into each other's way. All of them may send it:
//! its ids are the same everywhere, and the server does it once.

use super::outbox::Sending;
use crate::{
    protocol::{MessageId, json, sorted},
    ui::browser,
};

const PREFIX: &str = "parlor-outbox:";

fn key(message: MessageId) -> String {
    [PREFIX, &message.to_string()].concat()
}

/// Keeps a message until [`forget`].
pub fn keep(sending: &Sending) {
    if let Ok(json) = serde_json::to_string(sending) {
        browser::store(&key(sending.intent.user_message_id), Some(&json));
    }
}

/// Whether a message is still kept: another tab may have taken it back, or seen it arrive.
pub fn has(message: MessageId) -> bool {
    browser::stored(&key(message)).is_some()
}

/// The message is on the server, or the person has it back.
pub fn forget(message: MessageId) {
    browser::store(&key(message), None);
}

/// All that is kept, in the order in which it was written.
pub fn all() -> Vec<Sending> {
    let mut all = Vec::new();
    for json in browser::stored_under(PREFIX) {
        if let Ok(sending) = json::read::<Sending>(json.as_bytes()) {
            sorted::insert(&mut all, sending, |sending| sending.intent.user_message_id);
        }
    }
    all
}
