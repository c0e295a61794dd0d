//! Endpoints with OpenAI's chat completions protocol: OpenAI itself, Ollama, llama.cpp, vLLM, LM Studio,
//! OpenRouter, DeepSeek, Groq, Mistral, xAI and others.
//!
//! Requests use async-openai's types. The response is decoded here ([`decoder`]),
//! because async-openai's stream is unbounded and can't tell a clean end from a broken one.

mod call_assembler;
mod citations;
pub mod decoder;
mod reasoning_details;
mod rejected_features;
mod request;
#[cfg(test)]
mod tests;
mod thinking_rejection;
mod unknown_content;
mod wire;
mod word_keeper;

use std::fmt;

use serde_json::{Map, Value};

use self::{decoder::ChunkDecoder, rejected_features::RejectedFeatures};
use super::{
    EndpointConfig,
    catalog::Catalog,
    images::{self, ImageClient},
    model_list::OPENAI_LIST,
    tool_forms::ToolForms,
    transport::Api,
};
use parlor_base::settings::{Dialect, PromptLength, ThinkingField};
use parlor_model::{
    Endpoint, ImageAnswer, ImageApi, ImageError, ImageRequest, ListedModels, ModelError, ModelRequest,
    ModelStream, RequestPreview, ServerCapabilities,
};
use parlor_protocol::{ModelCapabilities, RunError};

/// The provider kind of these endpoints.
const PROVIDER_KIND: &str = "openai";

/// An OpenAI-compatible endpoint.
pub struct OpenAi {
    api: Api,
    catalog: Catalog,
    dialect: Dialect,
    prompt_length: PromptLength,
    rejected: RejectedFeatures,
    /// The form of tools.
    tools: ToolForms,
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OpenAi").field(self.api.endpoint()).finish()
    }
}

impl OpenAi {
    /// Creates an endpoint from its configuration, without sending requests.
    ///
    /// # Errors
    ///
    /// If it can never be called: the URL is invalid, or a header or the key can't be sent.
    pub fn new(config: &EndpointConfig) -> Result<Self, ModelError> {
        Ok(Self {
            api: Api::with_bearer(config)?,
            catalog: Catalog::new(config),
            dialect: config.dialect,
            prompt_length: config.prompt_length,
            tools: ToolForms::new(config),
            rejected: RejectedFeatures::new(config.dialect.forget_thinking),
        })
    }
}

#[async_trait::async_trait]
impl Endpoint for OpenAi {
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
        let mut capabilities = self.rejected.capabilities(model, self.catalog.takes_tools(model));
        capabilities.rejected_features += self.tools.count(model);
        capabilities
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
        let capabilities = self.request_capabilities(model, request);
        let adapted = self.tools.adapt(model, request);
        let completion =
            request::build_completion(model, &adapted.request, self.dialect_for(model), capabilities);
        let body = match serde_json::to_value(completion) {
            Ok(Value::Object(body)) => body,
            // The call fails for the same reason and reports it.
            _ => Map::new(),
        };
        let list = |field: &str| {
            body.get(field)
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default()
        };
        let max_tokens = ["max_completion_tokens", "max_tokens"].map(|name| body.get(name)?.as_u64());
        RequestPreview {
            url: self.api.endpoint().url.clone(),
            conversation_fields: &["model", "messages", "tools"],
            messages: list("messages"),
            tools: list("tools"),
            max_tokens: max_tokens.into_iter().flatten().next(),
            temperature: body.get("temperature").and_then(Value::as_f64),
            body,
        }
    }

    async fn call(&self, model: &str, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        let mut tools = self.tools.begin(model);
        loop {
            let capabilities = self.request_capabilities(model, request);
            let sent = tools.adapt(request);
            let request = &sent.request;
            let body = request::build_completion(model, request, self.dialect_for(model), capabilities);
            let decoder = ChunkDecoder::default();
            match self
                .api
                .call("/chat/completions", "", model, &body, decoder)
                .await
            {
                // None of these is a retry: the next request differs.
                Err(error) if capabilities.tools && tools.learn(&sent, &error) => {}
                Err(error)
                    if self
                        .rejected
                        .learn_from_rejection(model, request, capabilities, &error) => {}
                Ok(answer) => return Ok(tools.restore(sent, answer)),
                Err(error) => return Err(error),
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

impl OpenAi {
    /// Returns the features that a request may have: without a choice of thinking that was rejected.
    fn request_capabilities(&self, model: &str, request: &ModelRequest) -> ServerCapabilities {
        let mut capabilities = self.capabilities(model);
        let choice = request.parameters.thinking();
        capabilities.thinking_choice &= choice.is_none_or(|choice| !self.rejected.has_choice(model, choice));
        capabilities
    }

    /// Returns the dialect of requests for a model. Local servers turn thinking on and off in the template.
    fn dialect_for(&self, model: &str) -> Dialect {
        let mut dialect = self.dialect;
        if dialect.thinking_level == ThinkingField::default() && self.catalog.has_template_switch(model) {
            dialect.thinking_level = ThinkingField::ChatTemplate;
        }
        dialect
    }
}
