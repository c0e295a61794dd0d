//! Starting turns: shared by the page, the plain form and the public API.

use super::Caller;
use crate::{
    protocol::{
        ApiError, ConversationId, ErrorCode,
        intent::{Regenerate, SendMessage, StartedRun},
    },
    providers::UnknownModel,
    storage::Change,
    text::{join_first, truncate_chars},
};

/// The maximum number of models that the error for an unknown model lists.
const MAX_LISTED_MODELS: usize = 20;

/// The maximum length of the unknown model name that an error quotes, in characters.
const MAX_QUOTED_CHARS: usize = 200;

/// Saves a message and starts its run. Rejects it while a run is active in the conversation.
pub async fn send(caller: &Caller, intent: SendMessage, fingerprint: String) -> Result<StartedRun, ApiError> {
    let runs = &caller.app.runs;
    Ok(runs.send(caller.user_id, intent, fingerprint).await?)
}

/// Saves a message and starts its run. While a run is active in the conversation, the message waits in its queue.
pub async fn send_or_queue(
    caller: &Caller,
    intent: SendMessage,
    fingerprint: String,
) -> Result<StartedRun, ApiError> {
    let runs = &caller.app.runs;
    Ok(runs.send_or_queue(caller.user_id, intent, fingerprint).await?)
}

/// Regenerates an answer: answers the same message again.
pub async fn regenerate(
    caller: &Caller,
    intent: Regenerate,
    fingerprint: String,
) -> Result<StartedRun, ApiError> {
    let runs = &caller.app.runs;
    Ok(runs.regenerate(caller.user_id, intent, fingerprint).await?)
}

/// Sets the model that answers in a conversation from now on.
pub async fn choose_model(
    caller: &Caller,
    conversation_id: ConversationId,
    name: &str,
) -> Result<(), ApiError> {
    let user_id = caller.user_id;
    let model = caller.app.runs.find_model(user_id, name).await?;
    let change = Change::ChooseModel {
        user_id,
        conversation_id,
        model,
    };
    caller.app.journal.submit(change).await?;
    Ok(())
}

/// Returns the error for a name that means no model, or several.
pub(super) fn unknown_model_error(unknown: &UnknownModel) -> ApiError {
    let UnknownModel {
        message,
        models,
        hint,
    } = unknown;
    let named = join_first(models, MAX_LISTED_MODELS);
    let others = match models.len() {
        0 => "GET /api/models lists the models.".to_owned(),
        1..=MAX_LISTED_MODELS => format!("Choose one of these: {named}."),
        _ => format!("Choose one of these: {named} (GET /api/models has all)."),
    };
    let message = truncate_chars(message, MAX_QUOTED_CHARS);
    ApiError::new(
        ErrorCode::UnknownModel,
        format!("{message} Nothing was changed. {others} {hint}").trim_end(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_model_error_lists_the_models() {
        let said = |count: usize| {
            let models = (0..count).map(|number| format!("x/{number}")).collect();
            let message = "It is not there.".into();
            let hint = String::new();
            unknown_model_error(&UnknownModel {
                message,
                models,
                hint,
            })
            .message
        };
        let begin = "It is not there. Nothing was changed.";
        assert_eq!(said(0), format!("{begin} GET /api/models lists the models."));
        assert_eq!(said(2), format!("{begin} Choose one of these: x/0, x/1."));
        assert!(said(30).ends_with("x/19, or one of 10 more (GET /api/models has all)."));
    }
}
