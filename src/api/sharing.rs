//! The functions of shares.

use async_trait::async_trait;

use super::Api;
use crate::app;
use parlor_protocol::{
    ApiError, ConversationId, MessageId, NewShare, PanelView, Share, ShareId, SharedConversation,
};
use parlor_ui::api::sharing::SharingFunctions;

#[async_trait]
impl SharingFunctions for Api {
    async fn shares(&self) -> Result<Vec<Share>, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::sharing::list(&caller).await)
    }

    async fn create_share(
        &self,
        conversation_id: ConversationId,
        readers: Option<Vec<String>>,
        is_live: bool,
    ) -> Result<NewShare, ApiError> {
        let caller = app::current_caller()?;
        let created = app::sharing::create(&caller, conversation_id, readers, is_live).await;
        caller.set_error_status(created)
    }

    async fn end_share(&self, share_id: ShareId) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::sharing::end(&caller, share_id).await)
    }

    async fn shared_conversation(
        &self,
        key: String,
        before: Option<MessageId>,
    ) -> Result<SharedConversation, ApiError> {
        use app::{current_visitor, set_error_status, sharing};
        let (app, access) = current_visitor()?;
        let share = set_error_status(sharing::find(&app, &key, access.as_ref()).await)?;
        let share = set_error_status(share.ok_or_else(sharing::not_shared))?;
        set_error_status(sharing::read(&app, &share, before).await)
    }

    async fn shared_payload(
        &self,
        key: String,
        payload_id: String,
        is_preview: bool,
    ) -> Result<PanelView, ApiError> {
        use app::{current_visitor, set_error_status, sharing};
        let (app, access) = current_visitor()?;
        let share = set_error_status(sharing::find(&app, &key, access.as_ref()).await)?;
        let share = set_error_status(share.ok_or_else(sharing::not_shared))?;
        set_error_status(sharing::payload_view(&app, &share, &payload_id, is_preview).await)
    }
}
