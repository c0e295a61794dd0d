//! Endpoints with OpenAI's Responses API: OpenAI itself, LM Studio, vLLM and others. Nothing is stored on the
//! server: the whole conversation is sent each time, with the encrypted reasoning of earlier answers.

mod decoder;
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
    catalog::{Catalog, ListedModel},
    fallback_messages::without_tools,
    model_list,
    rejections::Rejections,
    transport::Api,
};
use crate::{
    model::{
        Endpoint, ListedModels, ModelError, ModelErrorKind, ModelRequest, ModelStream, RequestPreview,
        ServerCapabilities,
    },
    settings::PromptLength,
};

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
    Temperature,
    ToolChoice,
}

/// An endpoint with the Responses API.
pub struct OpenAiResponses {
    api: Api,
    catalog: Catalog,
    rejections: Rejections<Feature>,
    takes_tools: bool,
    prompt_length: PromptLength,
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
    /// If it can never be called: the address is invalid, or a header or the key can't be sent.
    pub fn new(config: &EndpointConfig) -> Result<Self, ModelError> {
        let key_header = |key: &str| (header::AUTHORIZATION, format!("Bearer {key}"));
        Ok(Self {
            api: Api::new(config, key_header)?,
            catalog: Catalog::new(config),
            rejections: Rejections::default(),
            takes_tools: config.takes_tools != Some(false),
            prompt_length: config.prompt_length,
        })
    }

    fn form(&self, model: &str) -> RequestForm {
        let takes = |feature| !self.rejections.contains(model, feature);
        RequestForm {
            encrypted_reasoning: takes(Feature::EncryptedReasoning),
            summary: takes(Feature::Summary),
            reasoning: takes(Feature::Reasoning),
            temperature: takes(Feature::Temperature),
            tool_choice: takes(Feature::ToolChoice),
        }
    }

    /// Returns the request as it is sent to this endpoint.
    fn adapt(&self, request: &ModelRequest) -> ModelRequest {
        let mut adapted = request.clone();
        if !self.takes_tools {
            adapted.messages = without_tools(&adapted.messages);
            adapted.tools.clear();
        }
        adapted
    }

    /// Learns from a rejected request. Returns true if the next one will differ.
    fn learn(&self, model: &str, body: &Value, error: &ModelError) -> bool {
        if error.kind != ModelErrorKind::Refused {
            return false;
        }
        let message = error.error.message.to_lowercase();
        let has = |pointer: &str| body.pointer(pointer).is_some();
        let says = |word: &str| message.contains(word);
        let feature = if has("/temperature") && says("temperature") {
            Feature::Temperature
        } else if has("/tool_choice") && says("tool_choice") {
            Feature::ToolChoice
        } else if has("/include") && (says("encrypted") || says("include")) {
            Feature::EncryptedReasoning
        } else if has("/reasoning/summary") && says("summar") {
            Feature::Summary
        } else if has("/reasoning") && says("reasoning") {
            Feature::Reasoning
        } else {
            return false;
        };
        tracing::warn!(%model, ?feature, error = %error, "asking without this from now on");
        self.rejections.add(model, feature)
    }

    async fn list(&self) -> Result<Vec<ListedModel>, ModelError> {
        let pages = self.api.list("/models", "", |_| None).await?;
        let models = pages.first().and_then(model_list::read_models);
        models.ok_or_else(|| {
            self.api
                .transport()
                .invalid_answer("sent an invalid list of models.")
        })
    }
}

#[async_trait::async_trait]
impl Endpoint for OpenAiResponses {
    fn name(&self) -> &str {
        &self.api.endpoint().name
    }

    async fn models(&self) -> Result<ListedModels, ModelError> {
        self.catalog.models(self.list()).await
    }

    async fn context_window(&self, model: &str) -> Option<usize> {
        self.catalog.context_window(model, self.list()).await
    }

    fn prompt_length(&self) -> PromptLength {
        self.prompt_length
    }

    fn capabilities(&self, model: &str) -> ServerCapabilities {
        ServerCapabilities {
            tools: self.takes_tools,
            rejected_features: self.rejections.count(model),
            ..ServerCapabilities::ALL
        }
    }

    fn preview_request(&self, model: &str, request: &ModelRequest) -> RequestPreview {
        let request = self.adapt(request);
        let sent = build_request(model, &request, &self.form(model));
        let body = match serde_json::to_value(sent) {
            Ok(Value::Object(body)) => body,
            // The call fails for the same reason and reports it.
            _ => Map::new(),
        };
        RequestPreview {
            address: self.api.endpoint().address.clone(),
            conversation_fields: &["model", "instructions", "input", "tools"],
            messages: request.shown_messages(),
            tools: request.shown_tools(),
            max_tokens: body.get("max_output_tokens").and_then(Value::as_u64),
            temperature: body.get("temperature").and_then(Value::as_f64),
            body,
        }
    }

    async fn call(&self, model: &str, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        let request = self.adapt(request);
        loop {
            let body = build_request(model, &request, &self.form(model));
            let decoder = ResponseDecoder::default();
            match self.api.call("/responses", "", model, &body, decoder).await {
                // This is not a retry: the next request differs.
                Err(error) => {
                    let body = serde_json::to_value(&body).unwrap_or_default();
                    if !self.learn(model, &body, &error) {
                        return Err(error);
                    }
                }
                answer => return answer,
            }
        }
    }
}
