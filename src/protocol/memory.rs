//! What the agent remembers of a person across conversations, as the person sees it.

use serde::{Deserialize, Serialize};

use super::{Timestamp, flat_json::Fields, id::MemoryId};

/// One thing that is remembered, in the model's words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct Memory {
    pub id: MemoryId,
    pub text: String,
    pub created_at: Timestamp,
}
