//! Payloads: as they were created, as the panel shows them, and the user's verdict on a proposal.

use super::{Caller, caller::fingerprint, columns, not_found, stored_tables};
use parlor_base::text;
use parlor_pages::payloads;
use parlor_protocol::{
    ApiError, ConversationId, ErrorCode, PanelView, Payload, PayloadVerdict, Verdict, columns::ColumnSource,
    intent::JudgePayload, panel::PanelBody,
};
use parlor_storage::{Change, IntentChange};

/// The maximum length of a name that an error quotes, in characters.
const MAX_QUOTED_CHARS: usize = 60;

/// Returns a payload as the panel shows it, or the part of it that an answer shows.
pub async fn view(
    caller: &Caller,
    conversation_id: ConversationId,
    payload_id: &str,
    is_preview: bool,
) -> Result<PanelView, ApiError> {
    let payload = load(caller, conversation_id, payload_id).await?;
    let views = caller.app.pages.payload_views().clone();
    let mut view = convert_payload(payload.clone(), move |payload| views.view(payload)).await?;
    stored_tables::complete_view(caller, &payload, &mut view).await?;
    caller.app.pages.complete_view(caller.user_id, &mut view).await?;
    if let PanelBody::Table(table) = &mut view.body
        && payload.kind == "table"
    {
        let source = ColumnSource::payload(conversation_id, payload_id);
        table.has_columns = columns::has_columns(caller, &source).await?;
    }
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
    make: impl FnOnce(&Payload) -> T + Send + 'static,
) -> Result<T, ApiError> {
    let payload = load(caller, conversation_id, payload_id).await?;
    convert_payload(payload, make).await
}

/// Converts a loaded payload. See [`convert`].
pub async fn convert_payload<T: Send + 'static>(
    payload: Payload,
    make: impl FnOnce(&Payload) -> T + Send + 'static,
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
    caller.require_not_deleted(conversation_id).await?;
    let storage = &caller.app.storage;
    let payload = storage
        .payload(caller.user_id, conversation_id, payload_id)
        .await?;
    payload.ok_or_else(not_found)
}

/// Accepts or rejects a proposal, or some of its fields. Returns the verdict that counts, which is the first one.
pub async fn judge(caller: &Caller, intent: JudgePayload) -> Result<PayloadVerdict, ApiError> {
    let (conversation_id, payload_id) = (intent.conversation_id, intent.payload_id.clone());
    let payload = load(caller, conversation_id, &payload_id).await?;
    let views = caller.app.pages.payload_views();
    if !views.is_proposal(&payload) {
        return Err(ApiError::new(
            ErrorCode::BadRequest,
            "This is not a proposal: there is nothing to accept or reject.",
        ));
    }
    check_accepted_fields(&intent, &views.proposed_fields(&payload))?;
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
) -> Result<Option<PayloadVerdict>, ApiError> {
    let verdicts = caller
        .app
        .storage
        .payload_verdicts(caller.user_id, conversation_id);
    let mut verdicts = verdicts.await?.into_iter();
    Ok(verdicts.find(|judged| judged.payload_id == payload_id))
}

/// Checks the names of accepted fields: each once, and one of the proposal's.
fn check_accepted_fields(intent: &JudgePayload, proposed: &[String]) -> Result<(), ApiError> {
    let accepted = &intent.accepted_fields;
    let reject = |message: String| Err(ApiError::new(ErrorCode::BadRequest, message));
    if intent.verdict == Verdict::Rejected && !accepted.is_empty() {
        return reject("What is rejected has no accepted fields.".into());
    }
    for (index, field) in accepted.iter().enumerate() {
        if !proposed.contains(field) {
            let field = text::single_line(field, MAX_QUOTED_CHARS);
            return reject(format!("The proposal has no field “{field}”."));
        }
        if accepted[..index].contains(field) {
            return reject("A field is accepted twice.".into());
        }
    }
    Ok(())
}
