//! The data of the settings.

use super::NOW;
use parlor_protocol::{ApiToken, Memory, MemoryId, PersonalData, RunError, TokenId};

/// Instructions, a memory, a missing tool and a token.
pub fn personal(text: &str) -> PersonalData {
    PersonalData {
        instructions: text.into(),
        instructions_bytes: 8192,
        remembers: true,
        searches_chats: true,
        retention_days: 30,
        max_retention_days: 365,
        memories: vec![Memory {
            id: MemoryId::new(),
            text: text.into(),
            created_at: NOW,
        }],
        unavailable_tools: vec![RunError {
            code: text.into(),
            message: text.into(),
            hint: text.into(),
        }],
        tokens: vec![ApiToken {
            id: TokenId::new(),
            name: text.into(),
            beginning: text.into(),
            created_at: NOW,
            expires_at: None,
            last_used_at: Some(NOW),
        }],
    }
}
