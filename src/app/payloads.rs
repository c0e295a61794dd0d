//! Payloads: as they were created, as the panel shows them, and the user's verdict on a proposal.

use super::{Caller, caller::fingerprint, not_found, stored_tables};
use parlor_pages::payloads;
use parlor_protocol::{
    ApiError, ConversationId, ErrorCode, PanelView, Payload, Verdict, intent::JudgePayload,
};
use parlor_storage::{Change, IntentChange};

/// Returns a payload as the panel shows it, or the part of it that an answer shows.
pub async fn view(
    caller: &Caller,
    conversation_id: ConversationId,
    payload_id: &str,
    is_preview: bool,
) -> Result<PanelView, ApiError> {
    let payload = load(caller, conversation_id, payload_id).await?;
    let mut view = convert_payload(payload.clone(), payloads::view).await?;
    stored_tables::complete_view(caller, &payload, &mut view).await?;
    caller.app.pages.complete_view(caller.user_id, &mut view).await?;
    Ok(if is_preview {
        payloads::to_preview(view)
    } else {
        view
    })
}

/// Converts a payload. The conversion runs on a blocking thread, since a comparison of texts would delay other requests.
pub async fn convert<T: Send + 'static>(
    caller: &Caller,
    conversation_id: ConversationId,
    payload_id: &str,
    make: fn(&Payload) -> T,
) -> Result<T, ApiError> {
    let payload = load(caller, conversation_id, payload_id).await?;
    convert_payload(payload, make).await
}

/// Converts a loaded payload. See [`convert`].
pub async fn convert_payload<T: Send + 'static>(
    payload: Payload,
    make: fn(&Payload) -> T,
) -> Result<T, ApiError> {
    let made = tokio::task::spawn_blocking(move || make(&payload));
    made.await.map_err(|error| {
        tracing::error!(%error, "cannot create the view of a payload");
        ApiError::new(
            ErrorCode::Internal,
            "You can't see this because of a fault in Parlor. Its log says more.",
        )
    })
}

/// Loads a payload as it was created.
pub async fn load(
    caller: &Caller,
    conversation_id: ConversationId,
    payload_id: &str,
) -> Result<Payload, ApiError> {
    let storage = &caller.app.storage;
    let payload = storage
        .payload(caller.user_id, conversation_id, payload_id)
        .await?;
    payload.ok_or_else(not_found)
}

/// Accepts or rejects a proposal. Returns the verdict that counts, which is the first one.
pub async fn judge(caller: &Caller, intent: JudgePayload) -> Result<Verdict, ApiError> {
    let (conversation_id, payload_id) = (intent.conversation_id, intent.payload_id.clone());
    if !payloads::is_proposal(&load(caller, conversation_id, &payload_id).await?) {
        return Err(ApiError::new(
            ErrorCode::BadRequest,
            "This is not a proposal: there is nothing to accept or reject.",
        ));
    }
    let fingerprint = fingerprint(&intent)?;
    let change = Change::Intent {
        user_id: caller.user_id,
        change: IntentChange::JudgePayload { intent, fingerprint },
    };
    caller.app.journal.submit(change).await?;
    let counts = load_verdict(caller, conversation_id, &payload_id).await?;
    counts.ok_or_else(not_found)
}

/// Returns the user's verdict on a payload.
pub async fn load_verdict(
    caller: &Caller,
    conversation_id: ConversationId,
    payload_id: &str,
) -> Result<Option<Verdict>, ApiError> {
    let verdicts = caller
        .app
        .storage
        .payload_verdicts(caller.user_id, conversation_id);
    let mut verdicts = verdicts.await?.into_iter();
    let judged = verdicts.find(|judged| judged.payload_id == payload_id);
    Ok(judged.map(|judged| judged.verdict))
}
