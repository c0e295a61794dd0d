//! The user's response to an answer's suggestions: verdicts on payloads, and taken actions.

use crate::sql::database::{Connection, query, query_scalar};
use serde_json::Value;

use super::{
    Batch, ChangeError, deletion::require_shown, list_place::require_not_trashed, run_output::update_message,
};
use crate::{ChangeRejection, Outcome, RunKey, sql::messages};
use parlor_protocol::{
    ActionHandler, AssistantMessage, ConversationEvent, FRESH_SESSION, Interaction, Message, MessageId,
    RunEvent, SESSION_NOT_RESTORED, SuggestedAction, UserId,
    intent::{JudgePayload, SendMessage, TakeAction},
    transcript::apply_to_run,
};

impl Batch<'_> {
    /// Stores the user's verdict on a payload. An earlier verdict is kept.
    pub(super) async fn judge_payload(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        intent: &JudgePayload,
    ) -> Result<Outcome, ChangeError> {
        let JudgePayload {
            conversation_id,
            payload_id,
            verdict,
            accepted_fields,
            ..
        } = intent;
        require_not_trashed(&mut *connection, (user_id, *conversation_id)).await?;
        let found: Option<bool> = query_scalar(
            "SELECT EXISTS (SELECT 1 FROM payload_verdicts v WHERE v.conversation_id = p.conversation_id AND v.payload_id = p.id) \
             FROM payloads p WHERE p.user_id = $1 AND p.conversation_id = $2 AND p.id = $3",
        )
        .bind_value(user_id)
        .bind_value(conversation_id)
        .bind(payload_id)
        .fetch_optional(&mut *connection)
        .await?;
        match found {
            None => Err(ChangeRejection::NotFound)?,
            Some(true) => return Ok(Outcome::Done),
            Some(false) => {}
        }
        let judged = ConversationEvent::PayloadJudged {
            payload_id: payload_id.clone(),
            verdict: *verdict,
            accepted_fields: accepted_fields.clone(),
        };
        let fields = (!accepted_fields.is_empty())
            .then(|| serde_json::to_string(accepted_fields))
            .transpose()?;
        let position = self
            .log_event(&mut *connection, user_id, *conversation_id, None, judged)
            .await?;
        query(
            "INSERT INTO payload_verdicts (user_id, conversation_id, payload_id, verdict, position, fields) VALUES ($1, $2, $3, $4, $5, $6)",
        )
        .bind_value(user_id)
        .bind_value(conversation_id)
        .bind(payload_id)
        .bind_value(verdict)
        .bind_value(position)
        .bind(fields)
        .execute(connection)
        .await?;
        Ok(Outcome::Done)
    }

    /// Records that an action was taken on the page. Taking it twice has no further effect.
    pub(super) async fn take_action(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        intent: &TakeAction,
    ) -> Result<Outcome, ChangeError> {
        let (conversation_id, id, index) = (intent.conversation_id, intent.message_id, intent.index);
        let found = messages::message(&mut *connection, user_id, id).await?;
        let Some((found_in, mut message)) = found else {
            Err(ChangeRejection::NotFound)?
        };
        let answer = message.assistant_mut().ok_or(ChangeRejection::NotFound)?;
        let action = answer
            .suggested_actions
            .get(index)
            .ok_or(ChangeRejection::NotFound)?;
        if found_in != conversation_id || action.handler != ActionHandler::Client {
            Err(ChangeRejection::NotFound)?;
        }
        require_shown(&mut *connection, (user_id, conversation_id), id).await?;
        // The suggestions of an answer in progress may still change.
        if !answer.status.is_terminal() {
            Err(ChangeRejection::RunActive)?;
        }
        if action.taken {
            return Ok(Outcome::Done);
        }
        let event = RunEvent::ActionTaken { index };
        apply_to_run(answer, &event);
        let run = RunKey {
            user_id,
            conversation_id,
            message_id: id,
        };
        self.append_events(&mut *connection, &run, &[event]).await?;
        update_message(connection, user_id, id, answer).await?;
        Ok(Outcome::Done)
    }

    /// Returns the origin of a message, verified against `parent_id`, the answer before it.
    pub(super) async fn resolve_interaction(
        &self,
        connection: &mut Connection,
        user_id: UserId,
        parent_id: Option<MessageId>,
        intent: &SendMessage,
    ) -> Result<Interaction, ChangeError> {
        if intent.interaction == Interaction::TextInput {
            return Ok(Interaction::TextInput);
        }
        let found = match parent_id {
            Some(parent_id) => messages::message(connection, user_id, parent_id).await?,
            None => None,
        };
        let answer = found
            .as_ref()
            .and_then(|(_, message)| Message::assistant(message));
        match &intent.interaction {
            // Parlor's own button, which the problem of such an answer has.
            Interaction::ActionExecuted { action, data: None }
                if action == FRESH_SESSION && answer.is_some_and(has_no_session) =>
            {
                Ok(intent.interaction.clone())
            }
            Interaction::ActionExecuted { action, data } => {
                let offered =
                    answer.and_then(|answer| find_suggested_action(answer, action, data.as_deref()));
                // The message was not typed, so nothing is lost: the action was taken already or is no longer
                // suggested.
                let offered = offered.ok_or(ChangeRejection::ActionAlreadyTaken)?;
                // The action as suggested, not as the request spells it.
                Ok(Interaction::ActionExecuted {
                    action: offered.action.clone(),
                    data: offered.data.clone(),
                })
            }
            // A value that is not among the suggestions is still the user's message.
            Interaction::ValueSelected
                if answer.is_some_and(|answer| {
                    let mut values = answer.suggested_values.iter();
                    values.any(|value| value.value == intent.text)
                }) =>
            {
                Ok(Interaction::ValueSelected)
            }
            // A client can't send a message as a schedule.
            Interaction::ValueSelected | Interaction::TextInput | Interaction::Scheduled(_) => {
                Ok(Interaction::TextInput)
            }
        }
    }
}

/// Returns true for an answer whose session could not be restored.
fn has_no_session(answer: &AssistantMessage) -> bool {
    let error = answer.error.as_ref();
    error.is_some_and(|error| error.code == SESSION_NOT_RESTORED)
}

/// Returns the action with this name and data that an ended answer suggests. That of Parlor's own button is never one.
fn find_suggested_action<'a>(
    answer: &'a AssistantMessage,
    name: &str,
    data: Option<&str>,
) -> Option<&'a SuggestedAction> {
    let is_requested = |action: &&SuggestedAction| {
        action.handler == ActionHandler::Server
            && action.action == name
            && name != FRESH_SESSION
            && is_same_json(action.data.as_deref(), data)
    };
    let mut actions = answer.suggested_actions.iter();
    answer.status.is_terminal().then(|| actions.find(is_requested))?
}

/// Returns true if both are the same JSON value, regardless of formatting.
fn is_same_json(one: Option<&str>, other: Option<&str>) -> bool {
    let read = |text: &str| serde_json::from_str::<Value>(text).ok();
    one == other
        || match (one, other) {
            (Some(one), Some(other)) => read(one).is_some_and(|one| read(other) == Some(one)),
            _ => false,
        }
}
