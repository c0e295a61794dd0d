//! Endpoints with OpenAI's Responses API: OpenAI itself, LM Studio, vLLM and others. Nothing is stored on the
//! server: the whole conversation is sent each time, with the encrypted reasoning of earlier answers.

mod decoder;
mod finish;
mod items;
mod phase;
mod request;
#[cfg(test)]
mod tests;
mod wire;

use std::fmt;

use reqwest::header;
use serde_json::{Map, Value};

use self::{
    decoder::ResponseDecoder,
    request::{RequestForm, build_request},
};
use super::{
    EndpointConfig,
    catalog::Catalog,
    error_phrases::is_tools_unsupported,
    fallback_messages::{ToolForm, adapt_tools, has_tools},
    images::{self, ImageClient},
    model_list::OPENAI_LIST,
    rejected_roles::{RejectedRoles, rejected_roles},
    rejection_text::RejectionText,
    rejections::Rejections,
    tool_forms::ToolForms,
    transport::Api,
};
use parlor_base::settings::PromptLength;
use parlor_model::{
    Endpoint, ImageAnswer, ImageApi, ImageError, ImageRequest, ListedModels, ModelError, ModelRequest,
    ModelStream, RequestPreview, ServerCapabilities,
};
use parlor_protocol::{ModelCapabilities, RunError};

/// The provider kind of these endpoints.
const PROVIDER_KIND: &str = "openai-responses";

/// A feature of requests that not every model or server takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Feature {
    /// `include: ["reasoning.encrypted_content"]`.
    EncryptedReasoning,
    /// `reasoning: {summary}`.
    Summary,
    /// `reasoning`.
    Reasoning,
    /// The reasoning of earlier answers.
    EarlierReasoning,
    /// The phases of earlier messages.
    Phase,
    Temperature,
    ToolChoice,
    /// `tools`.
    Tools,
    ToolRoles,
    ToolFiles,
}

/// Phrases that reject the reasoning of earlier answers.
const EARLIER_REASONING_PHRASES: [&str; 8] = [
    // The item after it is missing, or the one before it.
    "without its required",
    // Another model, which does not reason.
    "reasoning input item",
    "reasoning items can only",
    "reasoning items are not supported",
    // Another organization or key.
    "could not be verified",
    "could not be decrypted",
    "could not be parsed",
    "invalid_encrypted_content",
];

/// The types of items that Parlor makes. A message has none.
const OWN_ITEMS: [&str; 2] = ["function_call", "function_call_output"];

/// An endpoint with the Responses API.
pub struct OpenAiResponses {
    api: Api,
    catalog: Catalog,
    rejections: Rejections<Feature>,
    prompt_length: PromptLength,
    /// The form of tools.
    tools: ToolForms,
}

impl fmt::Debug for OpenAiResponses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OpenAiResponses")
            .field(self.api.endpoint())
            .finish()
    }
}

impl OpenAiResponses {
    /// Creates an endpoint from its configuration, without sending requests.
    ///
    /// # Errors
    ///
    /// If it can never be called: the URL is invalid, or a header or the key can't be sent.
    pub fn new(config: &EndpointConfig) -> Result<Self, ModelError> {
        let key_header = |key: &str| (header::AUTHORIZATION, format!("Bearer {key}"));
        Ok(Self {
            api: Api::new(config, key_header)?,
            catalog: Catalog::new(config),
            rejections: Rejections::default(),
            prompt_length: config.prompt_length,
            tools: ToolForms::new(config),
        })
    }

    fn form(&self, model: &str) -> RequestForm {
        let takes = |feature| !self.rejections.contains(model, feature);
        RequestForm {
            encrypted_reasoning: takes(Feature::EncryptedReasoning),
            summary: takes(Feature::Summary),
            reasoning: takes(Feature::Reasoning),
            earlier_reasoning: takes(Feature::EncryptedReasoning) && takes(Feature::EarlierReasoning),
            phase: takes(Feature::Phase),
            temperature: takes(Feature::Temperature),
            tool_choice: takes(Feature::ToolChoice),
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
        request: &ModelRequest,
        body: &Value,
        error: &ModelError,
    ) -> bool {
        let has = |pointer: &str| body.pointer(pointer).is_some();
        let feature = if let Some(rejected) = rejected_roles(&request.messages, false, error) {
            match rejected {
                RejectedRoles::ToolFiles => Feature::ToolFiles,
                RejectedRoles::System => return false,
                RejectedRoles::ToolRoles => Feature::ToolRoles,
            }
        } else if has_tools(request) && is_tools_unsupported(error) {
            Feature::Tools
        } else if let Some(text) = RejectionText::from_error(error) {
            if has_provider_items(body) && text.contains(&EARLIER_REASONING_PHRASES) {
                Feature::EarlierReasoning
            } else if has_phases(body) && text.rejects(&["phase"]) {
                Feature::Phase
            } else if has("/temperature") && text.rejects(&["temperature"]) {
                Feature::Temperature
            } else if has("/tool_choice") && text.rejects(&["tool_choice"]) {
                Feature::ToolChoice
            } else if has("/include") && text.rejects(&["encrypted content", "encrypted_content", "include"])
            {
                Feature::EncryptedReasoning
            } else if has("/reasoning/summary") && text.rejects(&["summary", "summaries"]) {
                Feature::Summary
            } else if has("/reasoning") && text.rejects(&["reasoning", "reasoning_effort"]) {
                Feature::Reasoning
            } else {
                return false;
            }
        } else {
            return false;
        };
        tracing::warn!(%model, ?feature, error = %error, "asking without this from now on");
        self.rejections.add(model, feature)
    }
}

/// Returns true if a request has phases of messages.
fn has_phases(body: &Value) -> bool {
    let mut items = body["input"].as_array().into_iter().flatten();
    items.any(|item| item.get("phase").is_some())
}

/// Returns true if a request has items that the server sent.
fn has_provider_items(body: &Value) -> bool {
    let items = body["input"].as_array().into_iter().flatten();
    let mut kinds = items.filter_map(|item| item["type"].as_str());
    kinds.any(|kind| !OWN_ITEMS.contains(&kind))
}

#[async_trait::async_trait]
impl Endpoint for OpenAiResponses {
    fn name(&self) -> &str {
        &self.api.endpoint().name
    }

    async fn models(&self) -> Result<ListedModels, ModelError> {
        self.catalog.models(self.api.models(&OPENAI_LIST)).await
    }

    async fn context_window(&self, model: &str) -> Option<usize> {
        let probe = |is_window_wanted| self.api.probe(model, is_window_wanted);
        let list = self.api.models(&OPENAI_LIST);
        self.catalog.context_window(model, probe, list).await
    }

    fn model_capabilities(&self, model: &str) -> ModelCapabilities {
        self.catalog.capabilities(model)
    }

    fn prompt_length(&self) -> PromptLength {
        self.prompt_length
    }

    fn capabilities(&self, model: &str) -> ServerCapabilities {
        ServerCapabilities {
            tools: self.sends_tools(model),
            rejected_features: self.rejections.count(model) + self.tools.count(model),
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
            conversation_fields: &["model", "instructions", "input", "tools"],
            messages: request.shown_messages(),
            tools: request.shown_tools(),
            max_tokens: body.get("max_output_tokens").and_then(Value::as_u64),
            temperature: body.get("temperature").and_then(Value::as_f64),
            body,
        }
    }

    async fn call(&self, model: &str, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        let mut tools = self.tools.begin(model);
        loop {
            let sent = tools.adapt(request);
            let request = adapt_tools(&sent.request, self.tool_form(model));
            let body = build_request(model, &request, &self.form(model));
            let decoder = ResponseDecoder::default();
            match self.api.call("/responses", "", model, &body, decoder).await {
                // None of these is a retry: the next request differs.
                Err(error) if tools.learn(&sent, &error) => {}
                Err(error) => {
                    let body = serde_json::to_value(&body).unwrap_or_default();
                    if !self.learn_from_rejection(model, &request, &body, &error) {
                        return Err(error);
                    }
                }
                Ok(answer) => return Ok(tools.restore(sent, answer)),
            }
        }
    }

    fn image_api(&self, model: &str, is_set: bool) -> Option<ImageApi> {
        images::openai_model_api(model).or(is_set.then_some(ImageApi::Images))
    }

    async fn make_image(
        &self,
        model: &str,
        api: ImageApi,
        request: &ImageRequest,
    ) -> Result<ImageAnswer, ImageError> {
        let client = ImageClient {
            transport: self.api.transport(),
            headers: self.api.headers(),
            url: &|path| self.api.path_url(path),
            max_bytes: request.max_bytes,
        };
        images::by_openai(&client, model, api, request).await
    }
}
