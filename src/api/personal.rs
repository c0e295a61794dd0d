//! The functions of the settings page.

use async_trait::async_trait;

use super::Api;
use crate::app;
use parlor_protocol::{ApiError, Memory, MemoryId, NewToken, News, PersonalData, TokenId};
use parlor_ui::api::personal::PersonalFunctions;

#[async_trait]
impl PersonalFunctions for Api {
    async fn personal(&self) -> Result<PersonalData, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::personal::load(&caller).await)
    }

    async fn save_instructions(&self, text: String) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::personal::save_instructions(&caller, text).await)
    }

    async fn set_retention(&self, days: u32) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::retention::choose(&caller, days).await)
    }

    async fn set_chat_search(&self, is_on: bool) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::personal::set_chat_search(&caller, is_on).await)
    }

    async fn news(&self) -> Result<Option<News>, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::news::load(&caller).await)
    }

    async fn close_news(&self, version: String) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::news::close(&caller, &version).await)
    }

    async fn forget_memory(&self, memory_id: MemoryId) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::personal::forget_memory(&caller, memory_id).await)
    }

    async fn forget_all_memories(&self) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::personal::forget_all_memories(&caller).await)
    }

    async fn restore_memory(&self, memory: Memory) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::personal::restore_memory(&caller, memory).await)
    }

    async fn edit_memory(&self, memory_id: MemoryId, text: String) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::personal::edit_memory(&caller, memory_id, &text).await)
    }

    async fn create_token(&self, name: String, days: Option<u32>) -> Result<NewToken, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::personal::create_token(&caller, &name, days).await)
    }

    async fn revoke_token(&self, token_id: TokenId) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::personal::revoke_token(&caller, token_id).await)
    }
}
