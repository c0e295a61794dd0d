//! Starting turns: shared by the page, the plain form and the public API.

use super::Caller;
use crate::{
    protocol::{
        ApiError, ConversationId, ErrorCode, IntentId,
        intent::{Regenerate, SendMessage, StartedRun},
    },
    providers::UnknownModel,
    storage::Change,
    text::truncate_chars,
};

/// The maximum number of models that the error for an unknown model lists.
const MAX_LISTED_MODELS: usize = 20;

/// The maximum length of the unknown model name that an error quotes, in characters.
const MAX_QUOTED_CHARS: usize = 200;

/// Saves a message and starts its run.
pub async fn send(
    caller: &Caller,
    mut intent: SendMessage,
    fingerprint: String,
) -> Result<StartedRun, ApiError> {
    intent.model = resolve_model(caller, intent.model, intent.intent_id).await?;
    let runs = &caller.app.runs;
    Ok(runs.send(caller.user_id, intent, fingerprint).await?)
}

/// Regenerates an answer: answers the same message again.
pub async fn regenerate(
    caller: &Caller,
    mut intent: Regenerate,
    fingerprint: String,
) -> Result<StartedRun, ApiError> {
    intent.model = resolve_model(caller, intent.model, intent.intent_id).await?;
    let runs = &caller.app.runs;
    Ok(runs.regenerate(caller.user_id, intent, fingerprint).await?)
}

/// Sets the model that answers in a conversation from now on.
pub async fn choose_model(
    caller: &Caller,
    conversation_id: ConversationId,
    name: &str,
) -> Result<(), ApiError> {
    let model = caller
        .app
        .models
        .find(name)
        .await
        .map_err(|none| unknown_model_error(&none))?;
    let user_id = caller.user_id;
    let change = Change::ChooseModel {
        user_id,
        conversation_id,
        model,
    };
    caller.app.journal.submit(change).await?;
    Ok(())
}

/// Returns the full name of the model that an intent names. An unknown name is rejected before anything is
/// stored.
async fn resolve_model(
    caller: &Caller,
    name: Option<String>,
    intent_id: IntentId,
) -> Result<Option<String>, ApiError> {
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        return Ok(None);
    };
    let unknown = match caller.app.models.find(&name).await {
        Ok(model) => return Ok(Some(model)),
        Err(unknown) => unknown,
    };
    // The model may be gone since then. A repeated intent needs no lookup.
    match caller
        .app
        .storage
        .completed_intent(caller.user_id, intent_id)
        .await?
    {
        Some(_) => Ok(Some(name)),
        None => Err(unknown_model_error(&unknown)),
    }
}

fn unknown_model_error(unknown: &UnknownModel) -> ApiError {
    let UnknownModel { why, models, hint } = unknown;
    let named = models[..models.len().min(MAX_LISTED_MODELS)].join(", ");
    let others = match (models.len(), models.len().saturating_sub(MAX_LISTED_MODELS)) {
        (0, _) => "GET /api/models lists the models.".to_owned(),
        (_, 0) => format!("Choose one of these: {named}."),
        (_, more) => {
            format!("Choose one of these: {named}, or one of {more} more (GET /api/models has all).")
        }
    };
    let why = truncate_chars(why, MAX_QUOTED_CHARS);
    ApiError::new(
        ErrorCode::UnknownModel,
        format!("{why} Nothing was changed. {others} {hint}").trim_end(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_model_error_lists_the_models() {
        let said = |count: usize| {
            let models = (0..count).map(|number| format!("x/{number}")).collect();
            let why = "It is not there.".into();
            let hint = String::new();
            unknown_model_error(&UnknownModel { why, models, hint }).message
        };
        let begin = "It is not there. Nothing was changed.";
        assert_eq!(said(0), format!("{begin} GET /api/models lists the models."));
        assert_eq!(said(2), format!("{begin} Choose one of these: x/0, x/1."));
        assert!(said(30).ends_with("x/19, or one of 10 more (GET /api/models has all)."));
    }
}
