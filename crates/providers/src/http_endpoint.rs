//! An endpoint with any protocol: all that is alike in the adapters.

use std::{
    collections::{HashMap, HashSet},
    fmt,
};

use parking_lot::Mutex;
use serde_json::Value;

use super::{
    EndpointConfig,
    adapter::Adapter,
    catalog::Catalog,
    fallback_messages::{ToolForm, adapt_tools},
    images::ImageClient,
    rejections::{AnyFeature, Lesson, Rejected},
    tool_forms::ToolForms,
    transport::Api,
};
use parlor_base::settings::PromptLength;
use parlor_model::{
    Endpoint, ImageAnswer, ImageApi, ImageError, ImageRequest, ListedModels, ModelError, ModelRequest,
    ModelStream, RequestPreview, ServerCapabilities,
};
use parlor_protocol::{ModelCapabilities, RunError};

/// An endpoint of the settings.
pub struct HttpEndpoint<A: Adapter> {
    adapter: A,
    api: Api,
    catalog: Catalog,
    /// The features that the server has rejected, by model. They are left out of later requests, until Parlor is
    /// restarted.
    rejected: Mutex<HashMap<String, HashSet<AnyFeature<A::Feature>>>>,
    /// The form of tools.
    tools: ToolForms,
    prompt_length: PromptLength,
}

/// The knowledge of a model from which a request is made.
pub struct KnownModel<'a, A: Adapter> {
    pub name: &'a str,
    catalog: &'a Catalog,
    rejected: HashSet<AnyFeature<A::Feature>>,
    /// The maximum length of an answer to this conversation, in tokens, if the server has named it.
    pub room: Option<u64>,
}

impl<A: Adapter> KnownModel<'_, A> {
    /// Returns true if a local server turns the thinking of the model on and off in its chat template.
    pub fn has_template_switch(&self) -> bool {
        self.catalog.has_template_switch(self.name)
    }

    pub fn capabilities(&self) -> ModelCapabilities {
        self.catalog.capabilities(self.name)
    }

    /// Returns true unless the server has rejected the feature for this model.
    pub fn takes(&self, feature: A::Feature) -> bool {
        self.takes_any(AnyFeature::Own(feature))
    }

    pub fn takes_any(&self, feature: AnyFeature<A::Feature>) -> bool {
        !self.rejected.contains(&feature)
    }

    /// Returns the features that every protocol has.
    pub fn server_capabilities(&self) -> ServerCapabilities {
        ServerCapabilities {
            tools: self.catalog.takes_tools(self.name) && self.takes_any(AnyFeature::Tools),
            tool_roles: self.takes_any(AnyFeature::ToolRoles),
            tool_files: self.takes_any(AnyFeature::ToolFiles),
            call_groups: self.takes_any(AnyFeature::CallGroups),
            call_texts: self.takes_any(AnyFeature::CallTexts),
            system: self.takes_any(AnyFeature::System),
            rejected_features: self.rejected.len(),
            ..ServerCapabilities::ALL
        }
    }
}

impl<A: Adapter> fmt::Debug for HttpEndpoint<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let endpoint = self.api.endpoint();
        f.debug_tuple(&format!("{:?}", endpoint.kind))
            .field(endpoint)
            .finish()
    }
}

impl<A: Adapter> HttpEndpoint<A> {
    /// Creates an endpoint from its configuration, without sending requests.
    ///
    /// # Errors
    ///
    /// If it can never be called: the URL is invalid, or a header or the key can't be sent.
    pub fn new(config: &EndpointConfig) -> Result<Self, ModelError> {
        Ok(Self {
            adapter: A::new(config),
            api: A::api(config)?,
            catalog: Catalog::new(config),
            rejected: Mutex::default(),
            tools: ToolForms::new(config),
            prompt_length: config.prompt_length,
        })
    }

    fn known_model<'a>(&'a self, model: &'a str) -> KnownModel<'a, A> {
        KnownModel {
            name: model,
            catalog: &self.catalog,
            rejected: self.rejected.lock().get(model).cloned().unwrap_or_default(),
            room: None,
        }
    }
}

#[async_trait::async_trait]
impl<A: Adapter> Endpoint for HttpEndpoint<A> {
    fn name(&self) -> &str {
        &self.api.endpoint().name
    }

    async fn models(&self) -> Result<ListedModels, ModelError> {
        self.catalog.models(self.api.models(&A::LIST)).await
    }

    async fn context_window(&self, model: &str) -> Option<usize> {
        let probe = |is_window_wanted| self.api.probe(model, is_window_wanted);
        let list = self.api.models(&A::LIST);
        self.catalog.context_window(model, probe, list).await
    }

    fn model_capabilities(&self, model: &str) -> ModelCapabilities {
        self.catalog.capabilities(model)
    }

    fn prompt_length(&self) -> PromptLength {
        self.prompt_length
    }

    fn capabilities(&self, model: &str) -> ServerCapabilities {
        let mut capabilities = self.adapter.capabilities(&self.known_model(model));
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
        let known = self.known_model(model);
        let adapted = self.tools.adapt(model, request);
        let request = adapt_tools(&adapted.request, known.server_capabilities().into());
        let body = A::body(model, &request, &self.adapter.form(&known, &request));
        // A call fails for the same reason and reports it.
        let body = serde_json::to_value(body).unwrap_or_default();
        let (messages, tools) = A::shown_conversation(&body, &request);
        let fields = A::SHOWN_FIELDS;
        let mut max_tokens = fields.max_tokens.iter();
        RequestPreview {
            url: self.api.endpoint().url.clone(),
            conversation_fields: fields.conversation,
            messages,
            tools,
            max_tokens: max_tokens.find_map(|field| body.pointer(field)?.as_u64()),
            temperature: body.pointer(fields.temperature).and_then(Value::as_f64),
            body: match body {
                Value::Object(body) => body,
                _ => serde_json::Map::new(),
            },
        }
    }

    async fn call(&self, model: &str, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        let (path, query) = A::call_url(model);
        let mut tools = self.tools.begin(model);
        let mut room = None;
        loop {
            let known = KnownModel {
                room,
                ..self.known_model(model)
            };
            let tool_form = ToolForm::from(known.server_capabilities());
            let sent = tools.adapt(request);
            let request = adapt_tools(&sent.request, tool_form);
            let form = self.adapter.form(&known, &request);
            let body = A::body(model, &request, &form);
            let decoder = A::Decoder::default();
            let error = match self.api.call(&path, query, model, &body, decoder).await {
                Ok(answer) => return Ok(tools.restore(sent, answer)),
                Err(error) => error,
            };
            // None of these is a retry: the next request differs.
            if tool_form.tools && tools.learn(&sent, &error) {
                continue;
            }
            let rejected = Rejected {
                model,
                request: &request,
                form: &form,
                body: &body,
                error: &error,
            };
            match self.adapter.learn(&rejected) {
                Some(Lesson::Without(feature)) if known.takes_any(feature) => {
                    tracing::warn!(%model, ?feature, %error, "asking without this from now on");
                    let mut rejected = self.rejected.lock();
                    rejected.entry(model.to_owned()).or_default().insert(feature);
                }
                Some(Lesson::Room(tokens)) if room.is_none() => room = Some(tokens),
                Some(Lesson::Recorded) => {}
                _ => return Err(error),
            }
        }
    }

    fn image_api(&self, model: &str, is_set: bool) -> Option<ImageApi> {
        A::image_api(model, is_set)
    }

    async fn make_image(
        &self,
        model: &str,
        api: ImageApi,
        request: &ImageRequest,
    ) -> Result<ImageAnswer, ImageError> {
        let client = ImageClient {
            api: &self.api,
            max_bytes: request.max_bytes,
        };
        A::make_image(&client, model, api, request).await
    }
}
