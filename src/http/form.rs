//! Sending a message from a page without scripts: a plain form.

use axum::{
    extract::{Form, State, rejection::FormRejection},
    response::{IntoResponse, Redirect, Response},
};
use serde::{Deserialize, Serialize};

use super::{
    AppState, Caller,
    caller::fingerprint,
    problem::{Problem, bad_request},
};
use crate::protocol::{IntentId, MessageId, intent::SendMessage};

/// The composer's fields.
#[derive(Debug, Serialize, Deserialize)]
pub struct Composed {
    message: String,
    #[serde(default)]
    conversation_id: String,
    #[serde(default)]
    model: String,
}

/// `POST /send`: saves the message, starts its run and shows the conversation.
pub async fn send(
    State(app): State<AppState>,
    composed: Result<Form<Composed>, FormRejection>,
) -> Result<Response, Problem> {
    let caller = Caller::new(app);
    let Form(composed) = composed.map_err(|rejection| bad_request(rejection.body_text()))?;
    let fingerprint = fingerprint(&composed)?;
    let conversation_id = match composed.conversation_id.as_str() {
        "" => Default::default(),
        id => id
            .parse()
            .map_err(|_| bad_request("The conversation's id is not one."))?,
    };
    let intent = SendMessage {
        intent_id: IntentId::new(),
        conversation_id,
        user_message_id: MessageId::new(),
        text: composed.message,
        model: Some(composed.model).filter(|model| !model.is_empty()),
    };
    caller.app.runs.send(caller.user_id, intent, fingerprint).await?;
    Ok(Redirect::to(&format!("/c/{conversation_id}")).into_response())
}
