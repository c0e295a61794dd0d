//! Sending a message and stopping an answer from a page without scripts, by a plain form.

use axum::{
    extract::{Form, rejection::FormRejection},
    http::StatusCode,
    response::{IntoResponse, Redirect, Response},
};
use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use super::{
    document::Document,
    error_response::{add_retry_after, status},
    texts,
};
use crate::app::{self, Caller, fingerprint, turns};
use parlor_protocol::{
    ApiError, ConversationId, ErrorCode, IntentId, Interaction, MessageId, error::excerpt,
    intent::SendMessage, model_list::ModelInfo,
};

/// The composer's fields. The ids are part of the page, so the same form sent twice is one message.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ComposerForm {
    message: String,
    intent_id: String,
    conversation_id: String,
    message_id: String,
    /// Not empty if the message begins the conversation.
    begins: String,
    model: String,
    /// The project in which the conversation begins, if it begins in one.
    project_id: String,
    /// The run to stop, if *Stop* was pressed instead of *Send*.
    stop: String,
}

/// `POST /send`: saves the message and starts its run, or stops one, and shows the conversation.
pub async fn send(caller: Caller, composed: Result<Form<ComposerForm>, FormRejection>) -> Response {
    let composed = match composed {
        Ok(Form(composed)) => composed,
        Err(rejection) => {
            return rejection_page(&invalid_form(&rejection), ComposerForm::default(), Vec::new());
        }
    };
    let (app, user_id) = (caller.app.clone(), caller.user_id);
    match submit(caller, &composed).await {
        Ok(path) => Redirect::to(&path).into_response(),
        Err(error) if matches!(error.code, ErrorCode::UnknownModel | ErrorCode::ModelNotAllowed) => {
            let list = app::models::list(&app, user_id).await;
            rejection_page(&error, composed, list.unwrap_or_default().models)
        }
        Err(error) => rejection_page(&error, composed, Vec::new()),
    }
}

/// Performs the requested action. Returns the path of the page that shows the result.
async fn submit(caller: Caller, composed: &ComposerForm) -> Result<String, ApiError> {
    let conversation_id: ConversationId = parse_id(&composed.conversation_id)?;
    let path = format!("/c/{conversation_id}");
    if !composed.stop.is_empty() {
        caller
            .app
            .runs
            .stop(caller.user_id, parse_id(&composed.stop)?)
            .await?;
        return Ok(path);
    }
    let intent = SendMessage {
        intent_id: parse_id(&composed.intent_id)?,
        conversation_id,
        user_message_id: parse_id(&composed.message_id)?,
        text: composed.message.clone(),
        files: Vec::new(),
        model: Some(composed.model.clone()).filter(|model| !model.is_empty()),
        replaces: None,
        temporary: false,
        project_id: match composed.project_id.as_str() {
            "" => None,
            id => Some(parse_id(id)?),
        },
        force_tools: Vec::new(),
        parameters: None,
        context: None,
        interaction: Interaction::TextInput,
    };
    turns::send_or_queue(&caller, intent, fingerprint(composed)?).await?;
    Ok(path)
}

/// Parses an id of the form. Returns a new one if the field is empty.
fn parse_id<T: Default + std::str::FromStr>(text: &str) -> Result<T, ApiError> {
    if text.is_empty() {
        return Ok(T::default());
    }
    text.parse()
        .map_err(|_| ApiError::new(ErrorCode::BadRequest, texts::INVALID_ID))
}

fn invalid_form(rejection: &FormRejection) -> ApiError {
    if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
        let message = texts::MESSAGE_TOO_LONG;
        return ApiError::new(ErrorCode::TooLarge, message);
    }
    ApiError::new(ErrorCode::BadRequest, excerpt(&rejection.body_text()))
}

/// Returns a small page that says what happened, keeps the text and offers to send it again, to one of these
/// models if there are any.
fn rejection_page(error: &ApiError, mut composed: ComposerForm, models: Vec<ModelInfo>) -> Response {
    if error.code == ErrorCode::IntentReused {
        // A message with these ids exists, and the form now contains another one.
        composed.intent_id = IntentId::new().to_string();
        composed.message_id = MessageId::new().to_string();
    }
    let back = match composed.conversation_id.parse::<ConversationId>() {
        Ok(id) if composed.begins.is_empty() => format!("/c/{id}"),
        _ => "/".into(),
    };
    let message = error.message.clone();
    let ComposerForm {
        message: text,
        intent_id,
        conversation_id,
        message_id,
        begins,
        model,
        ..
    } = composed;
    let model = if models.is_empty() {
        view! { <input type="hidden" name="model" value=model/> }.into_any()
    } else {
        let options = models
            .into_iter()
            .map(|ModelInfo { id, .. }| view! { <option>{id}</option> });
        let options: Vec<_> = options.collect();
        view! { <p><label>{texts::MODEL} <select name="model">{options}</select></label></p> }.into_any()
    };
    let again = (!text.is_empty()).then(|| {
        // Leptos does not escape the contents of a text area. HTML drops the leading line break.
        let text = format!("\n{}", html_escape::encode_text(&text));
        view! {
            <form method="post" action="/send">
                <input type="hidden" name="intent_id" value=intent_id/>
                <input type="hidden" name="conversation_id" value=conversation_id/>
                <input type="hidden" name="message_id" value=message_id/>
                <input type="hidden" name="begins" value=begins/>
                {model}
                <textarea name="message" aria-label=texts::MESSAGE rows="8" required inner_html=text></textarea>
                <p>
                    <button type="submit" class="button">{texts::SEND_AGAIN}</button>
                    " "
                    <a class="button" href=back.clone()>{texts::BACK_TO_CONVERSATION}</a>
                </p>
            </form>
        }
    });
    let alone = again
        .is_none()
        .then(|| view! { <a class="button" href=back>{texts::BACK}</a> });
    let document = Document {
        status: status(error),
        title: texts::NOT_SENT,
        classes: ("", "refused"),
        style: None,
        has_brand: false,
        content: view! { <p role="alert">{message}</p> {again} {alone} },
    };
    let mut response = document.respond();
    add_retry_after(response.headers_mut(), error.retry_after);
    response
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;

    use super::*;
    use xss::{ParsedHtml, batches, collections, parse_html};

    /// Returns the parsed page that says that a text was not sent.
    async fn rejection_html(text: &str) -> ParsedHtml {
        let composed = ComposerForm {
            message: text.into(),
            intent_id: text.into(),
            conversation_id: text.into(),
            message_id: text.into(),
            begins: text.into(),
            model: text.into(),
            project_id: text.into(),
            stop: text.into(),
        };
        let models = vec![ModelInfo {
            id: text.into(),
            name: text.into(),
            endpoint: text.into(),
            capabilities: parlor_protocol::ModelCapabilities::default(),
        }];
        let response = rejection_page(&ApiError::new(ErrorCode::UnknownModel, text), composed, models);
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        parse_html(std::str::from_utf8(&body).unwrap())
    }

    #[tokio::test]
    async fn rejected_text_is_not_markup() {
        let allowed = rejection_html("text").await.names;
        for text in batches(&collections()) {
            let made = rejection_html(&text).await;
            assert_eq!(made.names, allowed);
            let shown = text.replace("\r\n", "\n").replace('\r', "\n");
            assert!(made.text.contains(&shown));
        }
    }
}
