//! Requests for the views of payloads: the user's own, or those of a share on a reader's page.

use crate::{
    api::{rpc, sharing},
    runtime::shared_view::use_shared_view,
    state::{page_registry::ShownPayload, use_connection},
};
use parlor_protocol::{ApiError, PanelView};

/// A request that is under way.
pub type LoadingPayload = std::pin::Pin<Box<dyn Future<Output = Result<PanelView, ApiError>>>>;

/// Returns the request for a payload, or for the part of it that an answer shows.
pub fn request(
    shown: &ShownPayload,
    is_preview: bool,
) -> impl Fn() -> LoadingPayload + Clone + Send + Sync + 'static {
    let (share, connection) = (use_shared_view(), use_connection());
    let (conversation_id, payload_id) = (shown.conversation_id, shown.payload.payload_id.clone());
    move || -> LoadingPayload {
        let payload_id = payload_id.clone();
        match &share {
            Some(share) => {
                let request = sharing::shared_payload(share.key(), payload_id, is_preview);
                Box::pin(connection.call(request))
            }
            None => Box::pin(connection.call(rpc::payload(conversation_id, payload_id, is_preview))),
        }
    }
}
