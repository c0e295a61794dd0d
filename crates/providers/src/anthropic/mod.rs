//! Endpoints with Anthropic's Messages API.

mod cache_marks;
mod decoder;
mod models;
mod open_block;
mod request;
mod server_tools;
#[cfg(test)]
mod tests;
mod thinking;
mod wire;

use std::{collections::HashMap, fmt};

use parking_lot::{Mutex, MutexGuard};
use reqwest::header::HeaderName;
use serde_json::{Map, Value};

use self::{
    decoder::MessageDecoder,
    request::{RequestForm, build_request},
    thinking::ThinkingForm,
};
use super::{
    EndpointConfig,
    catalog::Catalog,
    error_phrases::is_tools_unsupported,
    fallback_messages::{ToolForm, adapt_tools, has_tools},
    rejected_roles::{RejectedRoles, rejected_roles},
    rejection_text::RejectionText,
    rejections::Rejections,
    tool_forms::ToolForms,
    transport::Api,
};
use parlor_base::settings::PromptLength;
use parlor_model::{
    Endpoint, ListedModels, ModelError, ModelRequest, ModelStream, RequestPreview, ServerCapabilities,
};
use parlor_protocol::{ModelCapabilities, RunError};

/// The provider kind of these endpoints.
const PROVIDER_KIND: &str = "anthropic";

const API_VERSION: &str = "2023-06-01";

/// A feature of requests that not every model or server takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Feature {
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
    /// `tools`.
    Tools,
    ToolRoles,
    ToolFiles,
    CacheMarks,
}

/// An endpoint with Anthropic's API.
pub struct Anthropic {
    api: Api,
    catalog: Catalog,
    rejections: Rejections<Feature>,
    /// The maximum length of an answer by model, as learned from rejections.
    max_outputs: Mutex<HashMap<String, u64>>,
    prompt_length: PromptLength,
    /// The form of tools.
    tools: ToolForms,
}

impl fmt::Debug for Anthropic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Anthropic").field(self.api.endpoint()).finish()
    }
}

impl Anthropic {
    /// Creates an endpoint from its configuration, without sending requests.
    ///
    /// # Errors
    ///
    /// If it can never be called: the URL is invalid, or a header or the key can't be sent.
    pub fn new(config: &EndpointConfig) -> Result<Self, ModelError> {
        let key_header = |key: &str| (HeaderName::from_static("x-api-key"), key.to_owned());
        Ok(Self {
            api: Api::new(config, key_header)?.with_header("anthropic-version", API_VERSION),
            catalog: Catalog::new(config),
            rejections: Rejections::default(),
            max_outputs: Mutex::default(),
            prompt_length: config.prompt_length,
            tools: ToolForms::new(config),
        })
    }

    /// Returns the form of a model's requests.
    fn form(&self, model: &str) -> RequestForm {
        let takes = |feature| !self.rejections.contains(model, feature);
        let capabilities = self.catalog.capabilities(model);
        let learned = self.lock_max_outputs().get(model).copied();
        RequestForm {
            thinking: ThinkingForm::choose(&capabilities, takes),
            thinking_off: takes(Feature::ThinkingOff),
            effort: takes(Feature::Effort),
            earlier_thinking: takes(Feature::EarlierThinking),
            temperature: takes(Feature::Temperature),
            tool_choice: takes(Feature::ToolChoice),
            cache_marks: takes(Feature::CacheMarks),
            max_tokens: models::default_max_tokens(&capabilities, learned),
        }
    }

    /// Returns true if tools are sent to a model in their own fields.
    fn sends_tools(&self, model: &str) -> bool {
        self.catalog.takes_tools(model) && !self.rejections.contains(model, Feature::Tools)
    }

    fn tool_form(&self, model: &str) -> ToolForm {
        let takes = |feature| !self.rejections.contains(model, feature);
        ToolForm {
            tools: self.sends_tools(model),
            roles: takes(Feature::ToolRoles),
            files: takes(Feature::ToolFiles),
        }
    }

    /// Learns from a rejected request. Returns true if the next one will differ.
    fn learn_from_rejection(
        &self,
        model: &str,
        form: &RequestForm,
        request: &ModelRequest,
        body: &Value,
        error: &ModelError,
    ) -> bool {
        let feature = if let Some(rejected) = rejected_roles(&request.messages, false, error) {
            match rejected {
                RejectedRoles::ToolFiles => Feature::ToolFiles,
                RejectedRoles::System => return false,
                RejectedRoles::ToolRoles => Feature::ToolRoles,
            }
        } else if has_tools(request) && is_tools_unsupported(error) {
            Feature::Tools
        } else if let Some(text) = RejectionText::from_error(error) {
            let limit = models::parse_max_tokens(text.as_str());
            if let Some(limit) = limit.filter(|limit| *limit < form.max_tokens) {
                self.lock_max_outputs().insert(model.to_owned(), limit);
                return true;
            }
            match rejected_feature(&text, form, body) {
                Some(feature) => feature,
                None => return false,
            }
        } else {
            return false;
        };
        tracing::warn!(%model, ?feature, error = %error, "asking without this from now on");
        self.rejections.add(model, feature)
    }

    fn lock_max_outputs(&self) -> MutexGuard<'_, HashMap<String, u64>> {
        self.max_outputs.lock()
    }
}

/// Returns the feature that a server rejects.
fn rejected_feature(text: &RejectionText, form: &RequestForm, body: &Value) -> Option<Feature> {
    let has = |field: &str| body.get(field).is_some();
    let is_disabled = body["thinking"]["type"] == "disabled";
    let thinking_form = match form.thinking {
        _ if is_disabled => Feature::ThinkingOff,
        ThinkingForm::Adaptive => Feature::AdaptiveThinking,
        _ => Feature::BudgetThinking,
    };
    let is_thinking = text.names(&["thinking", "redacted_thinking"]);
    Some(if has("temperature") && text.names(&["temperature"]) {
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
    })
}

#[async_trait::async_trait]
impl Endpoint for Anthropic {
    fn name(&self) -> &str {
        &self.api.endpoint().name
    }

    async fn models(&self) -> Result<ListedModels, ModelError> {
        self.catalog.models(self.api.models(&models::LIST)).await
    }

    async fn context_window(&self, model: &str) -> Option<usize> {
        let probe = |is_window_wanted| self.api.probe(model, is_window_wanted);
        let list = self.api.models(&models::LIST);
        self.catalog.context_window(model, probe, list).await
    }

    fn model_capabilities(&self, model: &str) -> ModelCapabilities {
        self.catalog.capabilities(model)
    }

    fn prompt_length(&self) -> PromptLength {
        self.prompt_length
    }

    fn capabilities(&self, model: &str) -> ServerCapabilities {
        let learned = usize::from(self.lock_max_outputs().contains_key(model));
        ServerCapabilities {
            tools: self.sends_tools(model),
            rejected_features: self.rejections.count(model) + learned + self.tools.count(model),
            ..ServerCapabilities::ALL
        }
    }

    fn max_tools(&self, model: &str) -> usize {
        self.tools.max_tools(model)
    }

    fn refused_tools(&self, model: &str) -> Vec<String> {
        self.tools.refused(model)
    }

    fn tool_problems(&self) -> Vec<RunError> {
        self.tools.problems()
    }

    fn preview_request(&self, model: &str, request: &ModelRequest) -> RequestPreview {
        let adapted = self.tools.adapt(model, request);
        let request = adapt_tools(&adapted.request, self.tool_form(model));
        let sent = build_request(model, &request, &self.form(model));
        let body = match serde_json::to_value(sent) {
            Ok(Value::Object(body)) => body,
            // The call fails for the same reason and reports it.
            _ => Map::new(),
        };
        RequestPreview {
            url: self.api.endpoint().url.clone(),
            conversation_fields: &["model", "system", "messages", "tools"],
            messages: request.shown_messages(),
            tools: request.shown_tools(),
            max_tokens: body.get("max_tokens").and_then(Value::as_u64),
            temperature: body.get("temperature").and_then(Value::as_f64),
            body,
        }
    }

    async fn call(&self, model: &str, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        // The room that this conversation leaves for the answer, if it is less than usual.
        let mut room = None;
        let mut tools = self.tools.begin(model);
        loop {
            let mut form = self.form(model);
            form.max_tokens = form.max_tokens.min(room.unwrap_or(form.max_tokens));
            let sent = tools.adapt(request);
            let request = adapt_tools(&sent.request, self.tool_form(model));
            let body = build_request(model, &request, &form);
            let decoder = MessageDecoder::default();
            match self.api.call("/v1/messages", "", model, &body, decoder).await {
                // None of these is a retry: the next request differs.
                Err(error) if tools.learn(&sent, &error) => {}
                Err(error) => {
                    let text = RejectionText::from_error(&error);
                    let found = text.and_then(|text| models::parse_room(text.as_str()));
                    if room.is_none() && found.is_some() {
                        room = found;
                        continue;
                    }
                    let body = serde_json::to_value(&body).unwrap_or_default();
                    if !self.learn_from_rejection(model, &form, &request, &body, &error) {
                        return Err(error);
                    }
                }
                Ok(answer) => return Ok(tools.restore(sent, answer)),
            }
        }
    }
}
