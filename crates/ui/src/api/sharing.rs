//! Server functions of shares, under `/rpc`. Those of
//! readers take the share's key in the body, so that no log of URLs has it, and need no signed-in user.

use leptos::prelude::*;
use server_fn::codec::{GetUrl, Json};

use parlor_protocol::{
    ApiError, ConversationId, MessageId, NewShare, PanelView, Share, ShareId, SharedConversation,
};

server_functions! {
    trait SharingFunctions;

    /// Returns the user's shares, newest first.
    GetUrl "shares"
    fn shares() -> Vec<Share>;

    /// Shares a conversation with people by name, or by a link if none are named. The path of a link is returned only here.
    Json "create_share"
    fn create_share(conversation_id: ConversationId, readers: Option<Vec<String>>, is_live: bool) -> NewShare;

    /// Ends a share.
    Json "end_share"
    fn end_share(share_id: ShareId) -> ();

    /// Returns the conversation of a share: the newest messages; with `before`, back to the page that leads up to that message.
    Json "shared_conversation" as LoadSharedConversation
    fn shared_conversation(key: String, before: Option<MessageId>) -> SharedConversation;

    /// Returns the panel's view of a payload of a share, or the part of it that an answer shows.
    Json "shared_payload" as LoadSharedPayload
    fn shared_payload(key: String, payload_id: String, is_preview: bool) -> PanelView;
}
