//! What a person has set for themselves, as the settings page shows it.

use serde::{Deserialize, Serialize};

use super::{Memory, Timestamp, flat_json::Fields, id::TokenId};

/// All of it, read at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct PersonalData {
    /// What the assistant is told in every conversation.
    pub instructions: String,
    /// How long that may be, in bytes.
    pub instructions_bytes: usize,
    /// Whether models are offered to remember something, and to recall it.
    pub remembers: bool,
    /// Newest first.
    pub memories: Vec<Memory>,
    /// Newest first.
    pub tokens: Vec<ApiToken>,
}

/// A token with which a program acts as the person. What it is made of is known to nobody but its owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct ApiToken {
    pub id: TokenId,
    /// What the person calls it.
    pub name: String,
    /// Its first characters, to tell it from others.
    pub beginning: String,
    pub created_at: Timestamp,
    /// From when on it is not taken any more.
    pub expires_at: Option<Timestamp>,
    /// To the minute.
    pub last_used_at: Option<Timestamp>,
}

impl ApiToken {
    /// Whether it is not taken any more.
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }
}

/// A token that was just made: the only time that it is said. Not `Debug`: nothing may print it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NewToken(pub String);
