//! The agent's memories of a person across conversations, as the person sees them.

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
