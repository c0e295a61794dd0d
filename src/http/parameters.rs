//! `/api/conversations/{id}/parameters`: the model parameters of a conversation.

use axum::{
    Json,
    extract::{Path, rejection::PathRejection},
    http::HeaderMap,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    problem::{self, Problem},
    request::{JsonBody, parse_intent_id},
};
use crate::app::{self, Caller, fingerprint, not_found};
use parlor_protocol::{
    ParameterInput, Parameters, ThinkingLevel, intent::SetParameters, json, parameters::MAX_TOKENS,
};

/// Requested parameters. Numbers may be strings; a missing parameter is unset. Invalid values are rejected (422,
/// `invalid_parameters`).
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
#[schemars(rename = "ParametersRequest")]
pub struct ParametersBody {
    /// The sampling temperature, from 0 to 2.
    #[schemars(extend("type" = ["number", "string", "null"], "minimum" = 0, "maximum" = 2, "pattern" = TEMPERATURE_PATTERN))]
    temperature: Option<json::RawJson>,
    /// `off`, `on`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`. A model that does not take it uses the
    /// closest one that it takes.
    #[schemars(extend("pattern" = thinking_level_pattern()))]
    thinking_level: Option<String>,
    /// The maximum of thinking in tokens, in place of a level.
    #[schemars(extend("type" = ["integer", "string", "null"], "minimum" = 1, "maximum" = MAX_TOKENS, "pattern" = TOKENS_PATTERN))]
    thinking_budget: Option<json::RawJson>,
    /// The maximum length of an answer in tokens, thinking included.
    #[schemars(extend("type" = ["integer", "string", "null"], "minimum" = 1, "maximum" = MAX_TOKENS, "pattern" = TOKENS_PATTERN))]
    max_completion_tokens: Option<json::RawJson>,
}

/// The texts that are numbers of tokens, or empty.
const TOKENS_PATTERN: &str = r"^\s*(0*([1-9][0-9]{0,6}|10000000))?\s*$";

/// The texts that are temperatures, or empty.
const TEMPERATURE_PATTERN: &str = r"^\s*(0*([01]?[.,][0-9]*|[01]|2([.,]0*)?))?\s*$";

/// Returns the pattern of the thinking levels, or the empty text. Generators of clients make several types of an enum with
/// `null`.
fn thinking_level_pattern() -> String {
    format!("^({})?$", ThinkingLevel::ALL.map(ThinkingLevel::as_str).join("|"))
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
            thinking_budget: typed(self.thinking_budget),
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
    body: Result<JsonBody<ParametersBody>, Problem>,
) -> Result<Json<Parameters>, Problem> {
    let JsonBody(body) = body?;
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
