//! Shares as their readers find and see them.

use super::projection;
use crate::app::{
    AppState,
    access::{Access, AccessEnd, watch_in_task},
    accounts::secret,
    payloads::convert_payload,
};
use parlor_base::settings::AuthMode;
use parlor_files::has_rows;
use parlor_pages::payloads;
use parlor_protocol::{
    ApiError, AttachmentId, ConversationId, ErrorCode, MessageId, PanelView, Payload, ShareId,
    SharedConversation, UserId,
};
use parlor_storage::{
    PageSize, StorageError, StoredFile,
    shares::{Audience, StoredShare},
};

/// The error for all that a reader may not see, whether it exists or not.
pub fn not_shared() -> ApiError {
    ApiError::new(
        ErrorCode::NotFound,
        "Nothing is shared at this address. It may have been shared earlier: ask the person who gave it to you.",
    )
}

/// Returns the share with this key, if the reader may read it now.
pub async fn find(
    app: &AppState,
    key: &str,
    access: Option<&Access>,
) -> Result<Option<StoredShare>, StorageError> {
    let share = match secret::parse(key, "") {
        Some(hash) if app.settings.sharing.links => app.storage.share_by_link(&hash).await?,
        Some(_) => None,
        None => match (parse_id(key), reader(app, access)) {
            (Some(id), Some(reader)) => match app.storage.share_of_reader(id, reader).await? {
                Some(share) => Some(share),
                None => {
                    let conversation_id = ConversationId(id.0);
                    app.storage.share_of_project(conversation_id, reader).await?
                }
            },
            _ => None,
        },
    };
    match share {
        Some(share) if app.access.is_active(share.user_id).await? => Ok(Some(share)),
        _ => Ok(None),
    }
}

/// Returns the id that a key consists of. There is one way to write it.
fn parse_id(key: &str) -> Option<ShareId> {
    let id: ShareId = key.parse().ok()?;
    (id.to_string() == key).then_some(id)
}

/// Returns the user of a request, to whom a share may be given by name.
fn reader(app: &AppState, access: Option<&Access>) -> Option<UserId> {
    match access {
        Some(access) => Some(access.user_id),
        None if app.accounts.mode() == AuthMode::None => Some(UserId::LOCAL),
        None => None,
    }
}

/// Returns true if signing in may be what a visitor lacks: the key is that of a share with people by name, existing or not.
/// With a proxy, Parlor has no page for that: the proxy asks, or lets nobody through to such an address.
pub fn may_need_sign_in(app: &AppState, key: &str, access: Option<&Access>) -> bool {
    let has_sign_in = matches!(app.accounts.mode(), AuthMode::Password | AuthMode::Oidc);
    has_sign_in && access.is_none() && parse_id(key).is_some()
}

/// Returns a future that resolves when the share has ended, or its reader's right to it.
pub fn end_of_reading(app: &AppState, key: String, access: Option<Access>) -> AccessEnd {
    let app = app.clone();
    let mut changes = app.access.changes();
    // Whoever has a link needs no account.
    let access = access.filter(|_| parse_id(&key).is_some());
    let mut access_end = app.access.access_end(access.clone());
    watch_in_task(async move {
        while find(&app, &key, access.as_ref()).await?.is_some() {
            tokio::select! {
                ended = &mut access_end => return ended,
                changed = changes.changed() => if changed.is_err() { break },
            }
        }
        Ok(())
    })
}

/// Returns the conversation as a reader sees it: the newest messages; with `before`, back to the page that leads up to that message.
pub async fn read(
    app: &AppState,
    share: &StoredShare,
    before: Option<MessageId>,
) -> Result<SharedConversation, ApiError> {
    let limits = &app.settings.limits;
    let page = PageSize {
        messages: limits.messages_page,
        bytes: limits.messages_page_bytes,
    };
    let found = app.storage.shared_transcript(share, page, before).await?;
    let transcript = found.ok_or_else(not_shared)?;
    let owner = match share.audience {
        Audience::Link => None,
        Audience::People(_) | Audience::Project(_) => app.accounts.account(share.user_id).await?,
    };
    let project_id = match share.audience {
        Audience::Project(id) => Some(id),
        Audience::Link | Audience::People(_) => None,
    };
    Ok(SharedConversation {
        transcript: projection::transcript(transcript, share),
        is_live: share.snapshot.is_none(),
        created_at: share.created_at,
        owner: owner.map(|account| account.name),
        project_id,
    })
}

/// Returns the panel's view of a payload that the model wrote, or the part of it that an answer shows.
pub async fn payload_view(
    app: &AppState,
    share: &StoredShare,
    payload_id: &str,
    is_preview: bool,
) -> Result<PanelView, ApiError> {
    let payload = find_payload(app, share, payload_id).await?;
    let views = app.pages.payload_views().clone();
    let mut view = convert_payload(payload, move |payload| views.view(payload)).await?;
    projection::panel_view(&mut view);
    Ok(if is_preview {
        payloads::to_preview(view)
    } else {
        view
    })
}

/// Returns a payload in a common file format.
pub async fn payload_file(
    app: &AppState,
    share: &StoredShare,
    payload_id: &str,
) -> Result<payloads::PayloadFile, ApiError> {
    let payload = find_payload(app, share, payload_id).await?;
    convert_payload(payload, payloads::to_file).await
}

async fn find_payload(app: &AppState, share: &StoredShare, payload_id: &str) -> Result<Payload, ApiError> {
    let payload = app.storage.shared_payload(share, payload_id).await?;
    payload.ok_or_else(not_shared)
}

/// Returns a file of the share.
pub async fn file(app: &AppState, share: &StoredShare, id: AttachmentId) -> Result<StoredFile, ApiError> {
    let file = app.storage.shared_file(share, id).await?;
    // The rows of a query are not shared, as its other results.
    file.filter(|file| !has_rows(&file.attachment))
        .ok_or_else(not_shared)
}
