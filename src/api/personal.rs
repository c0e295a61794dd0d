//! What the settings page asks, as typed server functions under `/rpc`. As in [`rpc`](super::rpc), a body is the server's alone.

use leptos::prelude::*;
use server_fn::codec::{GetUrl, Json};

use super::codec::PageProtocol;
use crate::protocol::{ApiError, Memory, MemoryId, NewToken, PersonalData, TokenId};

/// All that a person has set for themselves.
#[server(name = LoadPersonal, prefix = "/rpc", endpoint = "personal", protocol = PageProtocol<GetUrl>)]
pub async fn personal() -> Result<PersonalData, ApiError> {
    let caller = crate::app::current_caller()?;
    caller.set_error_status(crate::app::personal::load(&caller).await)
}

/// Has the assistant told something in every conversation from now on.
#[server(prefix = "/rpc", endpoint = "save_instructions", protocol = PageProtocol<Json>)]
pub async fn save_instructions(text: String) -> Result<(), ApiError> {
    let caller = crate::app::current_caller()?;
    caller.set_error_status(crate::app::personal::save_instructions(&caller, text).await)
}

/// Forgets one thing that is remembered.
#[server(prefix = "/rpc", endpoint = "forget_memory", protocol = PageProtocol<Json>)]
pub async fn forget_memory(memory_id: MemoryId) -> Result<(), ApiError> {
    let caller = crate::app::current_caller()?;
    caller.set_error_status(crate::app::personal::forget_memory(&caller, memory_id).await)
}

/// Forgets all that is remembered.
#[server(prefix = "/rpc", endpoint = "forget_all_memories", protocol = PageProtocol<Json>)]
pub async fn forget_all_memories() -> Result<(), ApiError> {
    let caller = crate::app::current_caller()?;
    caller.set_error_status(crate::app::personal::forget_all_memories(&caller).await)
}

/// Remembers again what was forgotten by mistake.
#[server(prefix = "/rpc", endpoint = "restore_memory", protocol = PageProtocol<Json>)]
pub async fn restore_memory(memory: Memory) -> Result<(), ApiError> {
    let caller = crate::app::current_caller()?;
    caller.set_error_status(crate::app::personal::restore_memory(&caller, memory).await)
}

/// Makes an API token, which is said this once.
#[server(prefix = "/rpc", endpoint = "make_token", protocol = PageProtocol<Json>)]
pub async fn make_token(name: String, days: Option<u32>) -> Result<NewToken, ApiError> {
    let caller = crate::app::current_caller()?;
    caller.set_error_status(crate::app::personal::create_token(&caller, &name, days).await)
}

/// Has an API token taken no more.
#[server(prefix = "/rpc", endpoint = "revoke_token", protocol = PageProtocol<Json>)]
pub async fn revoke_token(token_id: TokenId) -> Result<(), ApiError> {
    let caller = crate::app::current_caller()?;
    caller.set_error_status(crate::app::personal::revoke_token(&caller, token_id).await)
}
