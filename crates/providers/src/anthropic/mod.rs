//! Endpoints with Anthropic's Messages API.

mod cache_marks;
mod decoder;
mod finish;
mod models;
mod open_block;
mod request;
mod server_tools;
#[cfg(test)]
mod tests;
mod thinking;
mod wire;

use std::{borrow::Cow, collections::HashMap};

use parking_lot::Mutex;
use reqwest::header::HeaderName;
use serde_json::Value;

use self::{
    decoder::MessageDecoder,
    request::{MessagesRequest, RequestForm, build_request},
    thinking::ThinkingForm,
};
use super::{
    EndpointConfig,
    adapter::{Adapter, ShownFields},
    error_phrases::ANSWER_SCHEMA_WORDS,
    http_endpoint::KnownModel,
    model_list::ModelList,
    rejection_text::RejectionText,
    rejections::{AnyFeature, Lesson, Rejected},
    transport::Api,
};
use parlor_model::{ModelError, ModelRequest, ServerCapabilities};

/// The provider kind of these endpoints.
const PROVIDER_KIND: &str = "anthropic";

const API_VERSION: &str = "2023-06-01";

/// A feature of requests that not every model or server takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    /// `thinking: {type: "adaptive"}`.
    AdaptiveThinking,
    /// `thinking: {type: "enabled", budget_tokens}`.
    BudgetThinking,
    /// `thinking: {type: "disabled"}`.
    ThinkingOff,
    /// `output_config: {effort}`.
    Effort,
    /// The thinking of earlier answers.
    EarlierThinking,
    Temperature,
    ToolChoice,
    CacheMarks,
    /// `output_config: {format}`, the schema of an answer.
    AnswerSchema,
}

/// Anthropic's API.
#[derive(Default)]
pub struct Anthropic {
    /// The maximum length of an answer by model, as learned from rejections.
    max_outputs: Mutex<HashMap<String, u64>>,
}

impl Adapter for Anthropic {
    type Form = RequestForm;
    type Feature = Feature;
    type Body = MessagesRequest;
    type Decoder = MessageDecoder;

    const LIST: ModelList = models::LIST;
    const SHOWN_FIELDS: ShownFields = ShownFields {
        conversation: &["model", "system", "messages", "tools"],
        max_tokens: &["/max_tokens"],
        temperature: "/temperature",
    };

    fn new(_: &EndpointConfig) -> Self {
        Self::default()
    }

    fn api(config: &EndpointConfig) -> Result<Api, ModelError> {
        let key_header = |key: &str| (HeaderName::from_static("x-api-key"), key.to_owned());
        Ok(Api::new(config, key_header)?.with_header("anthropic-version", API_VERSION))
    }

    fn call_url(_: &str) -> (Cow<'static, str>, &'static str) {
        ("/v1/messages".into(), "")
    }

    fn form(&self, model: &KnownModel<'_, Self>, _: &ModelRequest) -> RequestForm {
        let takes = |feature| model.takes(feature);
        let capabilities = model.capabilities();
        let learned = self.max_outputs.lock().get(model.name).copied();
        let max_tokens = models::default_max_tokens(&capabilities, learned);
        RequestForm {
            thinking: ThinkingForm::choose(&capabilities, takes),
            thinking_off: takes(Feature::ThinkingOff),
            effort: takes(Feature::Effort),
            earlier_thinking: takes(Feature::EarlierThinking),
            temperature: takes(Feature::Temperature),
            tool_choice: takes(Feature::ToolChoice),
            cache_marks: takes(Feature::CacheMarks),
            answer_schema: takes(Feature::AnswerSchema),
            max_tokens: max_tokens.min(model.room.unwrap_or(max_tokens)),
        }
    }

    fn body(model: &str, request: &ModelRequest, form: &RequestForm) -> MessagesRequest {
        build_request(model, request, form)
    }

    fn learn(&self, rejected: &Rejected<'_, Self>) -> Option<Lesson<Feature>> {
        let text = rejected.text();
        let text = text.as_ref();
        if let Some(room) = text.and_then(|text| models::parse_room(text.as_str())) {
            return Some(Lesson::Room(room));
        }
        if let Some(feature) = rejected.common_feature(false) {
            return Some(Lesson::Without(feature));
        }
        let limit = models::parse_max_tokens(text?.as_str());
        if let Some(limit) = limit.filter(|limit| *limit < rejected.form.max_tokens) {
            let mut max_outputs = self.max_outputs.lock();
            max_outputs.insert(rejected.model.to_owned(), limit);
            return Some(Lesson::Recorded);
        }
        let feature = rejected_feature(text?, rejected.form, &rejected.body_json())?;
        Some(Lesson::Without(AnyFeature::Own(feature)))
    }

    fn capabilities(&self, model: &KnownModel<'_, Self>) -> ServerCapabilities {
        let mut capabilities = model.server_capabilities();
        capabilities.rejected_features += usize::from(self.max_outputs.lock().contains_key(model.name));
        capabilities
    }
}

/// Returns the feature that a server rejects in these words.
fn rejected_feature(text: &RejectionText, form: &RequestForm, body: &Value) -> Option<Feature> {
    let has = |field: &str| body.get(field).is_some();
    let is_disabled = body["thinking"]["type"] == "disabled";
    let thinking_form = match form.thinking {
        _ if is_disabled => Feature::ThinkingOff,
        ThinkingForm::Adaptive => Feature::AdaptiveThinking,
        _ => Feature::BudgetThinking,
    };
    let is_thinking = text.names(&["thinking", "redacted_thinking"]);
    let has_answer_schema = body.pointer("/output_config/format").is_some();
    let is_of_output = text.names(&["output_config"]) && !text.names(&["effort"]);
    Some(
        if has_answer_schema && (is_of_output || text.contains(&ANSWER_SCHEMA_WORDS)) {
            Feature::AnswerSchema
        } else if has("temperature") && text.names(&["temperature"]) {
            Feature::Temperature
        } else if has("tool_choice") && text.names(&["tool_choice"]) {
            Feature::ToolChoice
        } else if text.names(&["cache_control"]) {
            Feature::CacheMarks
        } else if is_thinking && (text.names(&["signature"]) || text.contains(&["messages."])) {
            Feature::EarlierThinking
        } else if has("thinking")
            && (text.contains(&["thinking."])
                || text.names(&["adaptive", "budget_tokens"])
                || is_disabled && is_thinking && text.names(&["disabled"]))
        {
            thinking_form
        } else if has("output_config") && text.names(&["effort", "output_config"]) {
            Feature::Effort
        } else if is_thinking && text.names(&["block", "blocks", "content"]) {
            Feature::EarlierThinking
        } else if has("thinking") && text.rejects(&["thinking"]) {
            thinking_form
        } else {
            return None;
        },
    )
}
