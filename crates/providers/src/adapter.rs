//! The part of an endpoint that depends on its protocol, and the choice of it.

use std::{borrow::Cow, fmt::Debug, hash::Hash, sync::Arc};

use serde::Serialize;
use serde_json::Value;

use super::{
    EndpointConfig,
    anthropic::Anthropic,
    gemini::Gemini,
    http_endpoint::{HttpEndpoint, KnownModel},
    images::ImageClient,
    model_list::ModelList,
    openai::ChatCompletions,
    openai_responses::OpenAiResponses,
    rejections::{Lesson, Rejected},
    transport::{Api, event_decoder::EventDecoder},
};
use parlor_base::settings::EndpointKind;
use parlor_model::{
    Endpoint, ImageAnswer, ImageApi, ImageError, ImageRequest, ModelError, ModelRequest, ServerCapabilities,
};

/// Creates an endpoint with the adapter of its kind, without sending requests.
///
/// # Errors
///
/// If it can never be called: the URL is invalid, or a header or the key can't be sent.
pub fn create_endpoint(config: &EndpointConfig) -> Result<Arc<dyn Endpoint>, ModelError> {
    Ok(match config.kind {
        EndpointKind::OpenAi => Arc::new(HttpEndpoint::<ChatCompletions>::new(config)?),
        EndpointKind::Anthropic => Arc::new(HttpEndpoint::<Anthropic>::new(config)?),
        EndpointKind::Gemini => Arc::new(HttpEndpoint::<Gemini>::new(config)?),
        EndpointKind::OpenAiResponses => Arc::new(HttpEndpoint::<OpenAiResponses>::new(config)?),
    })
}

/// One protocol: its requests, the decoder of its answers, and what rejected requests teach. [`HttpEndpoint`] has
/// what all of them need.
pub trait Adapter: Send + Sync + Sized + 'static {
    /// The form of a request, which depends on the model and on what was rejected.
    type Form: Send + Sync;
    /// A feature of requests that a server may reject, besides those that every protocol has.
    type Feature: Copy + Debug + Eq + Hash + Send + Sync;
    type Body: Serialize + Send + Sync;
    type Decoder: EventDecoder + Default + 'static;

    const LIST: ModelList;
    const SHOWN_FIELDS: ShownFields;

    fn new(config: &EndpointConfig) -> Self;

    /// Returns the API of an endpoint, with the header of its key.
    ///
    /// # Errors
    ///
    /// If it can never be called.
    fn api(config: &EndpointConfig) -> Result<Api, ModelError>;

    /// Returns the path and the query of a streamed call.
    fn call_url(model: &str) -> (Cow<'static, str>, &'static str);

    fn form(&self, model: &KnownModel<'_, Self>, request: &ModelRequest) -> Self::Form;

    /// Returns the body of a request, whose tools are as the model takes them.
    fn body(model: &str, request: &ModelRequest, form: &Self::Form) -> Self::Body;

    /// Returns what a rejected request teaches. `None` if the next one would be the same.
    fn learn(&self, rejected: &Rejected<'_, Self>) -> Option<Lesson<Self::Feature>>;

    /// Returns the features that the server has not rejected.
    fn capabilities(&self, model: &KnownModel<'_, Self>) -> ServerCapabilities {
        model.server_capabilities()
    }

    /// Returns the messages and the tools of a request in the form of [`RequestPreview`](parlor_model::RequestPreview).
    fn shown_conversation(_body: &Value, request: &ModelRequest) -> (Vec<Value>, Vec<Value>) {
        (request.shown_messages(), request.shown_tools())
    }

    /// Returns the request form with which a model makes images, as [`Endpoint::image_api`].
    fn image_api(_model: &str, _is_set: bool) -> Option<ImageApi> {
        None
    }

    /// Makes or edits an image, as [`Endpoint::make_image`].
    fn make_image(
        client: &ImageClient<'_>,
        _model: &str,
        _api: ImageApi,
        _request: &ImageRequest,
    ) -> impl Future<Output = Result<ImageAnswer, ImageError>> + Send {
        async { Err(ImageError::unsupported(&client.api.endpoint().name)) }
    }
}

/// The fields of a request's body that the diagnostics show by themselves.
pub struct ShownFields {
    /// The names of those with the conversation and the tools.
    pub conversation: &'static [&'static str],
    /// JSON pointers to the maximum length of the answer, which has one of these places.
    pub max_tokens: &'static [&'static str],
    /// A JSON pointer to the temperature.
    pub temperature: &'static str,
}
