//! The agent's memories of a user across conversations, as the user sees them.

use serde::{Deserialize, Serialize};

use super::{Timestamp, flat_json::Fields, id::MemoryId};

/// One memory, in the model's words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct Memory {
    pub id: MemoryId,
    pub text: String,
    pub created_at: Timestamp,
}
