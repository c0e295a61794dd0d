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

use std::borrow::Cow;

use serde_json::Value;

use self::{
    decoder::ChunkDecoder,
    rejected_features::{Feature, RejectedFeatures},
    request::CompletionRequest,
};
use super::{
    EndpointConfig,
    adapter::{Adapter, ShownFields},
    http_endpoint::{HttpEndpoint, KnownModel},
    images::{self, ImageClient},
    model_list::{ModelList, OPENAI_LIST},
    rejections::{Lesson, Rejected},
    transport::Api,
};
use parlor_base::settings::{Dialect, ThinkingField};
use parlor_model::{
    ImageAnswer, ImageApi, ImageError, ImageRequest, ModelError, ModelRequest, ServerCapabilities,
};

/// The provider kind of these endpoints.
const PROVIDER_KIND: &str = "openai";

/// An OpenAI-compatible endpoint.
pub type OpenAi = HttpEndpoint<ChatCompletions>;

/// OpenAI's chat completions.
pub struct ChatCompletions {
    dialect: Dialect,
    rejected: RejectedFeatures,
}

/// The form of a request.
pub struct CompletionForm {
    dialect: Dialect,
    capabilities: ServerCapabilities,
}

impl Adapter for ChatCompletions {
    type Form = CompletionForm;
    type Feature = Feature;
    type Body = CompletionRequest;
    type Decoder = ChunkDecoder;

    const LIST: ModelList = OPENAI_LIST;
    const SHOWN_FIELDS: ShownFields = ShownFields {
        conversation: &["model", "messages", "tools"],
        max_tokens: &["/max_completion_tokens", "/max_tokens"],
        temperature: "/temperature",
    };

    fn new(config: &EndpointConfig) -> Self {
        Self {
            dialect: config.dialect,
            rejected: RejectedFeatures::new(config.dialect.forget_thinking),
        }
    }

    fn api(config: &EndpointConfig) -> Result<Api, ModelError> {
        Api::with_bearer(config)
    }

    fn call_url(_: &str) -> (Cow<'static, str>, &'static str) {
        ("/chat/completions".into(), "")
    }

    fn form(&self, model: &KnownModel<'_, Self>, request: &ModelRequest) -> CompletionForm {
        let mut capabilities = self.capabilities(model);
        let choice = request.parameters.thinking();
        capabilities.thinking_choice &= choice.is_none_or(|choice| model.takes(Feature::Choice(choice)));
        let mut dialect = self.dialect;
        // Local servers turn thinking on and off in the template.
        if dialect.thinking_level == ThinkingField::default() && model.has_template_switch() {
            dialect.thinking_level = ThinkingField::ChatTemplate;
        }
        CompletionForm {
            dialect,
            capabilities,
        }
    }

    fn body(model: &str, request: &ModelRequest, form: &CompletionForm) -> CompletionRequest {
        request::build_completion(model, request, form.dialect, form.capabilities)
    }

    fn learn(&self, rejected: &Rejected<'_, Self>) -> Option<Lesson<Feature>> {
        self.rejected.learn(rejected)
    }

    fn capabilities(&self, model: &KnownModel<'_, Self>) -> ServerCapabilities {
        self.rejected.capabilities(model)
    }

    fn shown_conversation(body: &Value, _: &ModelRequest) -> (Vec<Value>, Vec<Value>) {
        let list = |field: &str| body[field].as_array().cloned().unwrap_or_default();
        (list("messages"), list("tools"))
    }

    fn image_api(model: &str, is_set: bool) -> Option<ImageApi> {
        images::openai_model_api(model).or(is_set.then_some(ImageApi::Images))
    }

    async fn make_image(
        client: &ImageClient<'_>,
        model: &str,
        api: ImageApi,
        request: &ImageRequest,
    ) -> Result<ImageAnswer, ImageError> {
        images::by_openai(client, model, api, request).await
    }
}
