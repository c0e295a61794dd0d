//! Personal data for the settings page: instructions, memories, API tokens.

use super::{Caller, tokens};
use parlor_base::clock;
use parlor_journal::JournalError;
use parlor_protocol::{
    ApiError, ApiToken, ErrorCode, Memory, MemoryId, NewToken, PersonalData, ProjectId, Timestamp, TokenId,
};
use parlor_storage::{Change, ChangeRejection, PersonalChange};
use parlor_tools::{
    Tool,
    memory::{Recall, Remember},
};

/// The maximum lifetime of a token, in days.
const MAX_TOKEN_DAYS: u32 = 3660;

const MS_PER_DAY: i64 = 86_400_000;

/// Loads all personal data.
pub async fn load(caller: &Caller) -> Result<PersonalData, ApiError> {
    let (storage, user_id) = (&caller.app.storage, caller.user_id);
    let limits = &caller.app.settings.limits;
    let permissions = caller.app.runs.permissions(user_id).await?;
    let offers = |tool: &str| caller.app.runs.is_tool_offered(&permissions, tool);
    Ok(PersonalData {
        instructions: storage.instructions(user_id).await?,
        instructions_bytes: limits.instructions_bytes,
        remembers: offers(Remember::NAME) && offers(Recall::NAME),
        searches_chats: storage.may_search_chats(user_id).await?,
        retention_days: storage.retention_days(user_id).await?,
        max_retention_days: caller.app.settings.retention.days,
        memories: storage.memories(user_id).await?,
        tokens: storage.api_tokens(user_id).await?,
        unavailable_tools: match caller.is_administrator().await? {
            true => caller.app.runs.unavailable_tools(),
            false => Vec::new(),
        },
    })
}

/// Saves the user's instructions. They apply from the next answer on.
pub async fn save_instructions(caller: &Caller, text: String) -> Result<(), ApiError> {
    let limit = caller.app.settings.limits.instructions_bytes;
    if text.len() > limit {
        let message = format!(
            "Your instructions are too long: {} of at most {limit} bytes (setting limits.instructions_bytes). The old ones are kept.",
            text.len()
        );
        return Err(ApiError::new(ErrorCode::TooLarge, message));
    }
    let user_id = caller.user_id;
    Ok(submit(
        caller,
        Change::Personal {
            user_id,
            change: PersonalChange::SetInstructions { text },
        },
    )
    .await?)
}

/// Lets the assistant search the user's earlier conversations, from the next answer on, or not any more.
pub async fn set_chat_search(caller: &Caller, is_on: bool) -> Result<(), ApiError> {
    let user_id = caller.user_id;
    let change = PersonalChange::SetChatSearch { is_on };
    Ok(submit(caller, Change::Personal { user_id, change }).await?)
}

/// Deletes a memory. A memory that is already deleted is not an error.
pub async fn forget_memory(caller: &Caller, memory_id: MemoryId) -> Result<(), ApiError> {
    let user_id = caller.user_id;
    ignore_not_found(
        submit(
            caller,
            Change::Personal {
                user_id,
                change: PersonalChange::DeleteMemory { memory_id },
            },
        )
        .await,
    )
}

/// Deletes all memories.
pub async fn forget_all_memories(caller: &Caller) -> Result<(), ApiError> {
    let user_id = caller.user_id;
    Ok(submit(
        caller,
        Change::Personal {
            user_id,
            change: PersonalChange::DeleteAllMemories { project_id: None },
        },
    )
    .await?)
}

/// Restores a memory that was deleted by mistake.
pub async fn restore_memory(caller: &Caller, memory: Memory) -> Result<(), ApiError> {
    let limit = caller.app.settings.limits.memories;
    add_memory(caller, memory, None, limit).await
}

/// Stores a memory of the user, or of a project.
pub async fn add_memory(
    caller: &Caller,
    memory: Memory,
    project_id: Option<ProjectId>,
    limit: usize,
) -> Result<(), ApiError> {
    check_memory(caller, &memory.text)?;
    let change = PersonalChange::AddMemory {
        memory,
        project_id,
        limit,
    };
    let user_id = caller.user_id;
    Ok(submit(caller, Change::Personal { user_id, change }).await?)
}

/// Replaces the text of a memory, of the user or of a project.
pub async fn edit_memory(caller: &Caller, memory_id: MemoryId, text: &str) -> Result<(), ApiError> {
    let text = text.trim();
    check_memory(caller, text)?;
    let change = PersonalChange::EditMemory {
        memory_id,
        text: text.to_owned(),
    };
    let user_id = caller.user_id;
    Ok(submit(caller, Change::Personal { user_id, change }).await?)
}

fn check_memory(caller: &Caller, text: &str) -> Result<(), ApiError> {
    let limit = caller.app.settings.limits.memory_bytes;
    if text.trim().is_empty() || text.len() > limit {
        let message =
            format!("A memory has 1 to {limit} bytes (setting limits.memory_bytes). Nothing was changed.");
        return Err(ApiError::new(ErrorCode::BadRequest, message));
    }
    Ok(())
}

/// Creates a token that is valid for this number of days, or until it is revoked if there is none.
pub async fn create_token(caller: &Caller, name: &str, days: Option<u32>) -> Result<NewToken, ApiError> {
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    let limits = &caller.app.settings.limits;
    if name.is_empty() || name.chars().count() > limits.title_characters {
        let max = limits.title_characters;
        let message = format!("A token’s name has 1 to {max} characters. No token was created.");
        return Err(ApiError::new(ErrorCode::BadRequest, message));
    }
    if days.is_some_and(|days| days == 0 || days > MAX_TOKEN_DAYS) {
        let message = format!(
            "A token is valid for 1 to {MAX_TOKEN_DAYS} days, or until it is revoked. No token was created."
        );
        return Err(ApiError::new(ErrorCode::BadRequest, message));
    }
    let (token, hash, beginning) = tokens::generate()?;
    let created_at = clock::now();
    let change = Change::Personal {
        user_id: caller.user_id,
        change: PersonalChange::AddToken {
            token: ApiToken {
                id: TokenId::new(),
                name,
                beginning,
                created_at,
                expires_at: days.map(|days| Timestamp(created_at.0 + i64::from(days) * MS_PER_DAY)),
                last_used_at: None,
            },
            hash,
            limit: limits.api_tokens,
        },
    };
    submit(caller, change).await?;
    Ok(NewToken(token))
}

/// Revokes a token. Requests and streams that use it end.
pub async fn revoke_token(caller: &Caller, token_id: TokenId) -> Result<(), ApiError> {
    let user_id = caller.user_id;
    ignore_not_found(
        submit(
            caller,
            Change::Personal {
                user_id,
                change: PersonalChange::RevokeToken { token_id },
            },
        )
        .await,
    )?;
    caller.app.tokens.end_revoked_access(token_id);
    Ok(())
}

async fn submit(caller: &Caller, change: Change) -> Result<(), JournalError> {
    caller.app.journal.submit(change).await.map(drop)
}

/// Ignores "not found": deleting data that is already gone is not an error.
fn ignore_not_found(outcome: Result<(), JournalError>) -> Result<(), ApiError> {
    match outcome {
        Err(JournalError::Rejected(ChangeRejection::NotFound)) => Ok(()),
        outcome => Ok(outcome?),
    }
}
