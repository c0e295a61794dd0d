//! The user's personal data, as the settings page shows them.

use serde::{Deserialize, Serialize};

use super::{Memory, RunError, Timestamp, flat_json::Fields, id::TokenId};

/// All personal data, read at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct PersonalData {
    /// The instructions that the model gets in every conversation.
    pub instructions: String,
    /// The maximum length of the instructions, in bytes.
    pub instructions_bytes: usize,
    /// True if models are offered the tools for storing and recalling memories.
    pub remembers: bool,
    /// True if the assistant may search the user's earlier conversations.
    pub searches_chats: bool,
    /// The days after which the user's conversations are erased, if the user has chosen a number; otherwise 0.
    pub retention_days: u32,
    /// The days after which all conversations are erased; 0 for never.
    pub max_retention_days: u32,
    /// The memories, newest first.
    pub memories: Vec<Memory>,
    /// The API tokens, newest first.
    pub tokens: Vec<ApiToken>,
    /// The reasons why tools are missing that nobody has asked for. Only those who run the server are told.
    pub unavailable_tools: Vec<RunError>,
}

/// The news for a user since they last closed them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct News {
    /// The version of Parlor that runs.
    pub version: String,
    /// Plain sentences, those of the newest version first.
    pub items: Vec<String>,
}

/// A token with which a program acts as the user. The token's value is known to its owner only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct ApiToken {
    pub id: TokenId,
    /// The name that the user gave it.
    pub name: String,
    /// The token's first characters, to tell it from others.
    pub beginning: String,
    pub created_at: Timestamp,
    /// The time from which it is rejected.
    pub expires_at: Option<Timestamp>,
    /// The last use, recorded at most once a minute; `None` if never used.
    pub last_used_at: Option<Timestamp>,
}

impl ApiToken {
    /// Returns true if it is no longer accepted.
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }
}

/// The value of a token that was just created, which is shown only this once. Not `Debug`, so that it is
/// never printed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NewToken(pub String);
