//! Server functions of shares, under `/rpc`. As in [`rpc`](super::rpc), their bodies are compiled for the server only. Those of
//! readers take the share's key in the body, so that no log of URLs has it, and need no signed-in user.

use leptos::prelude::*;
use server_fn::codec::{GetUrl, Json};

use super::codec::PageProtocol;
use crate::protocol::{
    ApiError, ConversationId, MessageId, NewShare, PanelView, Share, ShareId, SharedConversation,
};

/// Returns the user's shares, newest first.
#[server(prefix = "/rpc", endpoint = "shares", protocol = PageProtocol<GetUrl>)]
pub async fn shares() -> Result<Vec<Share>, ApiError> {
    let caller = crate::app::current_caller()?;
    caller.set_error_status(crate::app::sharing::list(&caller).await)
}

/// Shares a conversation with people by name, or by a link if none are named. The path of a link is returned only here.
#[server(prefix = "/rpc", endpoint = "create_share", protocol = PageProtocol<Json>)]
pub async fn create_share(
    conversation_id: ConversationId,
    readers: Option<Vec<String>>,
    is_live: bool,
) -> Result<NewShare, ApiError> {
    let caller = crate::app::current_caller()?;
    let created = crate::app::sharing::create(&caller, conversation_id, readers, is_live).await;
    caller.set_error_status(created)
}

/// Ends a share.
#[server(prefix = "/rpc", endpoint = "end_share", protocol = PageProtocol<Json>)]
pub async fn end_share(share_id: ShareId) -> Result<(), ApiError> {
    let caller = crate::app::current_caller()?;
    caller.set_error_status(crate::app::sharing::end(&caller, share_id).await)
}

/// Returns the conversation of a share: the newest messages; with `before`, back to the page that leads up to that message.
#[server(name = LoadSharedConversation, prefix = "/rpc", endpoint = "shared_conversation", protocol = PageProtocol<Json>)]
pub async fn shared_conversation(
    key: String,
    before: Option<MessageId>,
) -> Result<SharedConversation, ApiError> {
    use crate::app::{current_visitor, set_error_status, sharing};
    let (app, access) = current_visitor()?;
    let share = set_error_status(sharing::find(&app, &key, access.as_ref()).await)?;
    let share = set_error_status(share.ok_or_else(sharing::not_shared))?;
    set_error_status(sharing::read(&app, &share, before).await)
}

/// Returns the panel's view of a payload of a share, or the part of it that an answer shows.
#[server(name = LoadSharedPayload, prefix = "/rpc", endpoint = "shared_payload", protocol = PageProtocol<Json>)]
pub async fn shared_payload(
    key: String,
    payload_id: String,
    is_preview: bool,
) -> Result<PanelView, ApiError> {
    use crate::app::{current_visitor, set_error_status, sharing};
    let (app, access) = current_visitor()?;
    let share = set_error_status(sharing::find(&app, &key, access.as_ref()).await)?;
    let share = set_error_status(share.ok_or_else(sharing::not_shared))?;
    set_error_status(sharing::payload_view(&app, &share, &payload_id, is_preview).await)
}
