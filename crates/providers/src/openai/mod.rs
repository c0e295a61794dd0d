//! Endpoints with OpenAI's chat completions protocol: OpenAI itself, Ollama, llama.cpp, vLLM, LM Studio,
//! OpenRouter, DeepSeek, Groq, Mistral, xAI and others.
//!
//! Requests and URLs use async-openai. The response is decoded here ([`decoder`]),
//! because async-openai's stream is unbounded and can't tell a clean end from a broken one.

mod call_assembler;
mod citations;
mod client_config;
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

use async_openai::config::{Config, OpenAIConfig};
use reqwest::header::{self, HeaderValue};
use serde_json::{Map, Value};

use self::{client_config::ClientConfig, decoder::ChunkDecoder, rejected_features::RejectedFeatures};
use super::{
    EndpointConfig,
    catalog::{Catalog, ListedModel},
    images::{self, ImageClient},
    local_probe::LocalProbe,
    model_list,
    tool_forms::ToolForms,
    transport::{
        EndpointInfo, Transport, answer_stream,
        api::MODEL_LIST_TIMEOUT,
        list_backoff::ListBackoff,
        urls::{base_path_url, checked_key, configured_headers, endpoint_url},
    },
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
    transport: Transport,
    config: ClientConfig,
    max_frame_bytes: usize,
    catalog: Catalog,
    local: LocalProbe,
    dialect: Dialect,
    /// The delay before the next request of the model list.
    list_backoff: ListBackoff,
    prompt_length: PromptLength,
    rejected: RejectedFeatures,
    /// The form of tools.
    tools: ToolForms,
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OpenAi").field(&self.transport.endpoint).finish()
    }
}

impl OpenAi {
    /// Creates an endpoint from its configuration, without sending requests.
    ///
    /// # Errors
    ///
    /// If it can never be called: the URL is invalid, or a header or the key can't be sent.
    pub fn new(config: &EndpointConfig) -> Result<Self, ModelError> {
        let url = endpoint_url(config)?;
        let facts = EndpointInfo::new(config, &url);
        // All four are set, because the defaults would come from the environment, for any endpoint.
        let key = checked_key(config, &facts)?;
        let openai = OpenAIConfig::default()
            .with_api_base(base_path_url(&url))
            .with_api_key(key)
            .with_org_id("")
            .with_project_id("");
        let headers = configured_headers(config, &facts)?;
        let transport = Transport::new(&url, facts, config.connect_timeout)?;
        let config_of_requests = ClientConfig {
            openai,
            headers,
            query: url.query().map(str::to_owned),
        };
        Ok(Self {
            transport,
            config: config_of_requests,
            max_frame_bytes: config.max_frame_bytes,
            catalog: Catalog::new(config),
            local: LocalProbe::new(&url),
            dialect: config.dialect,
            list_backoff: ListBackoff::default(),
            prompt_length: config.prompt_length,
            tools: ToolForms::new(config),
            rejected: RejectedFeatures::new(config.dialect.forget_thinking),
        })
    }

    /// Sends a request for a streamed answer.
    async fn send_completion(
        &self,
        model: &str,
        request: &ModelRequest,
        capabilities: ServerCapabilities,
    ) -> Result<reqwest::Response, ModelError> {
        let config = &self.config;
        let mut headers = config.headers();
        headers.insert(header::ACCEPT, HeaderValue::from_static("text/event-stream"));
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let completion = request::build_completion(model, request, self.dialect_for(model), capabilities);
        let body = serde_json::to_vec(&completion).map_err(|error| {
            self.transport
                .invalid_request(format!("cannot be sent this conversation: {error}"))
        })?;
        let post = self
            .transport
            .http()
            .post(config.url("/chat/completions"))
            .headers(headers)
            .body(body);
        let post = post.build().map_err(|error| {
            self.transport
                .invalid_request(format!("can't be called: {}", error.without_url()))
        })?;
        self.transport.send(post, Some(model)).await
    }
}

#[async_trait::async_trait]
impl Endpoint for OpenAi {
    fn name(&self) -> &str {
        &self.transport.endpoint.name
    }

    async fn models(&self) -> Result<ListedModels, ModelError> {
        self.catalog.models(self.list()).await
    }

    async fn context_window(&self, model: &str) -> Option<usize> {
        let headers = self.config.headers();
        let (local, transport) = (&self.local, &self.transport);
        let probe = |is_window_wanted| local.run(transport, &headers, model, is_window_wanted);
        self.catalog.context_window(model, probe, self.list()).await
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
            url: self.transport.endpoint.url.clone(),
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
        let (sent, response) = loop {
            let capabilities = self.request_capabilities(model, request);
            let sent = tools.adapt(request);
            let request = &sent.request;
            // None of these is a retry: the next request differs.
            match self.send_completion(model, request, capabilities).await {
                Err(error) if capabilities.tools && tools.learn(&sent, &error) => {}
                Err(error)
                    if self
                        .rejected
                        .learn_from_rejection(model, request, capabilities, &error) => {}
                response => break (sent, response?),
            }
        };
        let decoder = ChunkDecoder::default();
        let (transport, max_frame) = (self.transport.clone(), self.max_frame_bytes);
        let answer = answer_stream::stream_events(transport, response, decoder, max_frame).await?;
        Ok(tools.restore(sent, answer))
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
        let config = &self.config;
        let client = ImageClient {
            transport: &self.transport,
            headers: config.headers(),
            url: &|path| config.url(path),
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

    /// Requests `/v1/models`. After a `Retry-After`, no request is sent before the delay has passed.
    async fn list(&self) -> Result<Vec<ListedModel>, ModelError> {
        if let Some(error) = self.list_backoff.active_error() {
            return Err(error);
        }
        let answer = self.request_list().await;
        self.list_backoff.record(answer.as_ref().err());
        model_list::read_models(&answer?)
            .ok_or_else(|| self.transport.invalid_response("sent an invalid list of models."))
    }

    async fn request_list(&self) -> Result<Value, ModelError> {
        let list = self.transport.http().get(self.config.url("/models"));
        let list = list.headers(self.config.headers()).build().map_err(|error| {
            self.transport
                .invalid_request(format!("can't be called: {}", error.without_url()))
        })?;
        let list = async {
            self.transport
                .read_list(self.transport.send(list, None).await?)
                .await
        };
        match tokio::time::timeout(MODEL_LIST_TIMEOUT, list).await {
            Ok(list) => list,
            Err(_) => Err(self.transport.timed_out(MODEL_LIST_TIMEOUT)),
        }
    }
}
