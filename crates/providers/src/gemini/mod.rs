//! Endpoints with Google's Gemini API (`generateContent`).

mod content;
mod decoder;
mod finish;
mod function_call;
mod models;
mod request;
#[cfg(test)]
mod tests;
mod thinking;
mod wire;

use std::fmt;

use reqwest::header::HeaderName;
use serde_json::{Map, Value};

use self::{
    decoder::ContentDecoder,
    request::{RequestForm, build_request},
    thinking::ThinkingForm,
};
use super::{
    EndpointConfig,
    catalog::Catalog,
    error_phrases::is_tools_unsupported,
    fallback_messages::{ToolForm, adapt_tools, has_tools},
    images::{self, ImageClient},
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
const PROVIDER_KIND: &str = "gemini";

/// A feature of requests that not every model takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Feature {
    /// The thinking levels besides low and high.
    MiddleLevels,
    /// Any setting of thinking.
    Thinking,
    /// `systemInstruction`.
    System,
    /// `functionDeclarations`.
    Tools,
    ToolRoles,
    ToolFiles,
    /// Function calls without signatures.
    MissingSignatures,
    /// The signatures of earlier answers.
    EarlierSignatures,
}

/// The names of signatures.
const SIGNATURE_NAMES: [&str; 6] = [
    "thought_signature",
    "thought_signatures",
    "thought signature",
    "thought signatures",
    "thoughtsignature",
    "thoughtsignatures",
];

/// The names of the settings of thinking.
const THINKING_NAMES: [&str; 9] = [
    "thinking",
    "thinking_config",
    "thinkingconfig",
    "thinking_level",
    "thinkinglevel",
    "thinking_budget",
    "thinkingbudget",
    "include_thoughts",
    "includethoughts",
];

/// An endpoint with Google's API.
pub struct Gemini {
    api: Api,
    catalog: Catalog,
    rejections: Rejections<Feature>,
    prompt_length: PromptLength,
    /// The form of tools.
    tools: ToolForms,
}

impl fmt::Debug for Gemini {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Gemini").field(self.api.endpoint()).finish()
    }
}

impl Gemini {
    /// Creates an endpoint from its configuration, without sending requests.
    ///
    /// # Errors
    ///
    /// If it can never be called: the URL is invalid, or a header or the key can't be sent.
    pub fn new(config: &EndpointConfig) -> Result<Self, ModelError> {
        let key_header = |key: &str| (HeaderName::from_static("x-goog-api-key"), key.to_owned());
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
            thinking: ThinkingForm::choose(model, &self.catalog.capabilities(model), takes),
            needs_signatures: thinking::needs_signatures(model) || !takes(Feature::MissingSignatures),
            earlier_signatures: takes(Feature::EarlierSignatures),
            system: takes(Feature::System),
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
        error: &ModelError,
    ) -> bool {
        let feature = if let Some(rejected) = rejected_roles(&request.messages, form.system, error) {
            match rejected {
                RejectedRoles::ToolFiles => Feature::ToolFiles,
                RejectedRoles::System => Feature::System,
                RejectedRoles::ToolRoles => Feature::ToolRoles,
            }
        } else if has_tools(request) && is_tools_unsupported(error) {
            Feature::Tools
        } else if let Some(text) = RejectionText::from_error(error) {
            if text.names(&SIGNATURE_NAMES) {
                match text.contains(&["missing", "without", "required"]) && !form.needs_signatures {
                    true => Feature::MissingSignatures,
                    false => Feature::EarlierSignatures,
                }
            } else if form.thinking != ThinkingForm::None && text.rejects(&THINKING_NAMES) {
                match text.contains(&["level"]) && form.thinking == ThinkingForm::Level {
                    true => Feature::MiddleLevels,
                    false => Feature::Thinking,
                }
            } else if form.system && text.contains(&["developer instruction", "system instruction"]) {
                Feature::System
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

#[async_trait::async_trait]
impl Endpoint for Gemini {
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
        let sent = build_request(&request, &self.form(model));
        let body = match serde_json::to_value(sent) {
            Ok(Value::Object(body)) => body,
            // The call fails for the same reason and reports it.
            _ => Map::new(),
        };
        let config = body.get("generationConfig").cloned().unwrap_or_default();
        RequestPreview {
            url: self.api.endpoint().url.clone(),
            conversation_fields: &["systemInstruction", "contents", "tools"],
            messages: request.shown_messages(),
            tools: request.shown_tools(),
            max_tokens: config["maxOutputTokens"].as_u64(),
            temperature: config["temperature"].as_f64(),
            body,
        }
    }

    async fn call(&self, model: &str, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        let path = models::call_path(model);
        let mut tools = self.tools.begin(model);
        loop {
            let sent = tools.adapt(request);
            let adapted = adapt_tools(&sent.request, self.tool_form(model));
            let form = self.form(model);
            let body = build_request(&adapted, &form);
            let decoder = ContentDecoder::default();
            match self.api.call(&path, "alt=sse", model, &body, decoder).await {
                // None of these is a retry: the next request differs.
                Err(error) if tools.learn(&sent, &error) => {}
                Err(error) if self.learn_from_rejection(model, &form, &adapted, &error) => {}
                Ok(answer) => return Ok(tools.restore(sent, answer)),
                Err(error) => return Err(error),
            }
        }
    }

    fn image_api(&self, model: &str, is_set: bool) -> Option<ImageApi> {
        images::google_model_api(model).or(is_set.then_some(ImageApi::GenerateContent))
    }

    async fn make_image(
        &self,
        model: &str,
        _: ImageApi,
        request: &ImageRequest,
    ) -> Result<ImageAnswer, ImageError> {
        let client = ImageClient {
            transport: self.api.transport(),
            headers: self.api.headers(),
            url: &|path| self.api.path_url(path),
            max_bytes: request.max_bytes,
        };
        images::by_generate_content(&client, &models::image_path(model), model, request).await
    }
}
