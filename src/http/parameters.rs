//! `/api/conversations/{id}/parameters`: the model parameters of a conversation.

use axum::{
    Json,
    extract::{
        Path,
        rejection::{JsonRejection, PathRejection},
    },
    http::HeaderMap,
};
use serde::{Deserialize, Serialize};

use super::{
    chat_stream::parse_intent_id,
    problem::{self, Problem},
};
use crate::{
    app::{self, Caller, fingerprint, not_found},
    protocol::{ParameterInput, Parameters, intent::SetParameters, json},
};

/// Parameters as a client writes them: numbers, or the same as text. A missing one is unset.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParametersBody {
    temperature: Option<json::RawJson>,
    thinking_level: Option<String>,
    max_completion_tokens: Option<json::RawJson>,
}

impl ParametersBody {
    /// Returns the values as the settings form would contain them.
    pub fn into_raw(self) -> ParameterInput {
        let typed = |value: Option<json::RawJson>| {
            let text = value.map(|value| value.as_str().trim_matches('"').to_owned());
            text.filter(|text| text != "null").unwrap_or_default()
        };
        ParameterInput {
            temperature: typed(self.temperature),
            thinking_level: self.thinking_level.unwrap_or_default(),
            max_completion_tokens: typed(self.max_completion_tokens),
        }
    }
}

/// Returns the parameters that are set.
pub async fn get(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<Parameters>, Problem> {
    let parameters = caller
        .app
        .storage
        .parameters(caller.user_id, problem::parse_conversation_id(path)?)
        .await?;
    Ok(Json(parameters.ok_or_else(not_found)?))
}

/// Sets all parameters and returns them.
pub async fn put(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    body: Result<Json<ParametersBody>, JsonRejection>,
) -> Result<Json<Parameters>, Problem> {
    let Json(body) = body?;
    let intent = SetParameters {
        intent_id: parse_intent_id(&headers)?,
        conversation_id: problem::parse_conversation_id(path)?,
        parameters: body.into_raw(),
    };
    let conversation_id = intent.conversation_id;
    let fingerprint = fingerprint(&intent)?;
    app::parameters::set(&caller, intent, fingerprint).await?;
    let parameters = caller
        .app
        .storage
        .parameters(caller.user_id, conversation_id)
        .await?;
    Ok(Json(parameters.ok_or_else(not_found)?))
}
