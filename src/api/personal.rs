//! Server functions of the settings page, under `/rpc`. As in [`rpc`](super::rpc), their bodies are compiled
//! for the server only.

use leptos::prelude::*;
use server_fn::codec::{GetUrl, Json};

use super::codec::PageProtocol;
use crate::protocol::{ApiError, Memory, MemoryId, NewToken, PersonalData, TokenId};

/// Returns the user's personal data: instructions, memories and API tokens.
#[server(name = LoadPersonal, prefix = "/rpc", endpoint = "personal", protocol = PageProtocol<GetUrl>)]
pub async fn personal() -> Result<PersonalData, ApiError> {
    let caller = crate::app::current_caller()?;
    caller.set_error_status(crate::app::personal::load(&caller).await)
}

/// Sets the instructions that the model gets in every conversation.
#[server(prefix = "/rpc", endpoint = "save_instructions", protocol = PageProtocol<Json>)]
pub async fn save_instructions(text: String) -> Result<(), ApiError> {
    let caller = crate::app::current_caller()?;
    caller.set_error_status(crate::app::personal::save_instructions(&caller, text).await)
}

/// Deletes one memory.
#[server(prefix = "/rpc", endpoint = "forget_memory", protocol = PageProtocol<Json>)]
pub async fn forget_memory(memory_id: MemoryId) -> Result<(), ApiError> {
    let caller = crate::app::current_caller()?;
    caller.set_error_status(crate::app::personal::forget_memory(&caller, memory_id).await)
}

/// Deletes all memories.
#[server(prefix = "/rpc", endpoint = "forget_all_memories", protocol = PageProtocol<Json>)]
pub async fn forget_all_memories() -> Result<(), ApiError> {
    let caller = crate::app::current_caller()?;
    caller.set_error_status(crate::app::personal::forget_all_memories(&caller).await)
}

/// Restores a memory that was deleted by mistake.
#[server(prefix = "/rpc", endpoint = "restore_memory", protocol = PageProtocol<Json>)]
pub async fn restore_memory(memory: Memory) -> Result<(), ApiError> {
    let caller = crate::app::current_caller()?;
    caller.set_error_status(crate::app::personal::restore_memory(&caller, memory).await)
}

/// Creates an API token. Its value is returned only here.
#[server(prefix = "/rpc", endpoint = "create_token", protocol = PageProtocol<Json>)]
pub async fn create_token(name: String, days: Option<u32>) -> Result<NewToken, ApiError> {
    let caller = crate::app::current_caller()?;
    caller.set_error_status(crate::app::personal::create_token(&caller, &name, days).await)
}

/// Revokes an API token.
#[server(prefix = "/rpc", endpoint = "revoke_token", protocol = PageProtocol<Json>)]
pub async fn revoke_token(token_id: TokenId) -> Result<(), ApiError> {
    let caller = crate::app::current_caller()?;
    caller.set_error_status(crate::app::personal::revoke_token(&caller, token_id).await)
}
