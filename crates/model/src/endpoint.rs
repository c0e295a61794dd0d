//! The interface of a model endpoint, implemented by the provider adapters.

use std::{fmt, pin::Pin};

use futures::Stream;
use serde_json::{Map, Value};

use super::{ImageAnswer, ImageApi, ImageError, ImageRequest, ModelError, ModelEvent, ModelRequest};
use parlor_base::settings::PromptLength;
use parlor_protocol::{ModelCapabilities, RunError, model_list::ModelInfo};

/// The features that a server has not rejected so far for a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerCapabilities {
    /// True if the request asks for token counts at the end.
    pub usage: bool,
    /// True if a forced tool is named in the request's own field; otherwise it is named in the prompt.
    pub tool_choice: bool,
    /// True if the model's thinking before its tool calls is sent back.
    pub thinking: bool,
    /// True if the user's choice of the amount of thinking is sent.
    pub thinking_choice: bool,
    /// True if tools, tool calls and tool outputs are sent in their own fields; otherwise they are sent as text.
    pub tools: bool,
    /// True if earlier tool calls and their outputs are sent in their own fields; otherwise they are sent as text.
    pub tool_roles: bool,
    /// True if the files of tools follow their outputs; otherwise messages of both roles stand between them.
    pub tool_files: bool,
    /// True if one message of the model has all calls that it made at once; otherwise each has a message of its own, with the
    /// call's output behind it.
    pub call_groups: bool,
    /// True if a message of the model has its words besides its calls; otherwise the words are left out.
    pub call_texts: bool,
    /// True if instructions are sent with the system role; otherwise they precede the first question.
    pub system: bool,
    /// True if a model that makes images is asked for them in its answers.
    pub image_output: bool,
    /// True if the schema of an answer is sent in its own field.
    pub answer_schema: bool,
    /// The number of other features of this kind of server that were rejected.
    pub rejected_features: usize,
}

impl ServerCapabilities {
    /// All features: nothing was rejected.
    pub const ALL: Self = Self {
        usage: true,
        tool_choice: true,
        thinking: true,
        thinking_choice: true,
        tools: true,
        answer_schema: true,
        tool_roles: true,
        tool_files: true,
        call_groups: true,
        call_texts: true,
        system: true,
        image_output: true,
        rejected_features: 0,
    };
}

/// The request of a call, in the form of the server and in Parlor's.
#[derive(Debug, Default)]
pub struct RequestPreview {
    /// The endpoint's URL without userinfo and query; empty if nothing leaves Parlor.
    pub url: String,
    /// The body of the request, an object in the server's form.
    pub body: Map<String, Value>,
    /// The fields of the body with the conversation and the tools. The others are parameters.
    pub conversation_fields: &'static [&'static str],
    /// The messages as they are sent, in a form that does not depend on the server: that of
    /// [`ModelMessage::to_json`](super::ModelMessage::to_json), the instructions first.
    pub messages: Vec<Value>,
    /// The offered tools, in the form of [`ToolSpec::to_json`](super::ToolSpec::to_json).
    pub tools: Vec<Value>,
    /// The maximum length of the answer in tokens, if it is sent.
    pub max_tokens: Option<u64>,
    /// The temperature, if it is sent.
    pub temperature: Option<f64>,
}

/// The events of one call. Dropping the stream cancels the call.
pub type ModelStream = Pin<Box<dyn Stream<Item = Result<ModelEvent, ModelError>> + Send>>;

/// The models that an endpoint lists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListedModels {
    /// The models that a user can choose, the default choice first.
    pub selectable: Vec<ModelInfo>,
    /// The endpoint's names of all models, including those that are not offered.
    pub ids: Vec<String>,
}

/// A server of models.
#[async_trait::async_trait]
pub trait Endpoint: fmt::Debug + Send + Sync {
    /// Returns the name in the settings: the first half of a model's id.
    fn name(&self) -> &str;

    /// Returns the models that the server has now. Answers soon, or with an error.
    async fn models(&self) -> Result<ListedModels, ModelError>;

    /// Returns the context window of a model in tokens, if it can be determined. Answers soon and asks the
    /// server each time. The same probe finds out if the model takes tools, which
    /// [`capabilities`](Self::capabilities) reports from then on.
    async fn context_window(&self, _model: &str) -> Option<usize> {
        None
    }

    /// Returns the capabilities of a model that are known now. More may be known after [`models`](Self::models) and
    /// [`context_window`](Self::context_window).
    fn model_capabilities(&self, _model: &str) -> ModelCapabilities {
        ModelCapabilities::default()
    }

    /// Returns the length of the system prompt for the models of this endpoint.
    fn prompt_length(&self) -> PromptLength {
        PromptLength::Auto
    }

    /// Returns the features that the server has not rejected so far. Calls with equal capabilities send equal
    /// requests.
    fn capabilities(&self, _model: &str) -> ServerCapabilities {
        ServerCapabilities::ALL
    }

    /// Returns the number of tools that one request to a model may have.
    fn max_tools(&self, _model: &str) -> usize {
        usize::MAX
    }

    /// Returns the names of tools that the server has refused for a model. Requests leave them out.
    fn refused_tools(&self, _model: &str) -> Vec<String> {
        Vec::new()
    }

    /// Returns what was refused so far, in words for the user.
    fn tool_problems(&self) -> Vec<RunError> {
        Vec::new()
    }

    /// Returns the request that [`call`](Self::call) would send, without secrets. `model` is the endpoint's name of the
    /// model; the request is [without provider data](ModelRequest::without_provider_data) if somebody is to read it.
    fn preview_request(&self, model: &str, request: &ModelRequest) -> RequestPreview;

    /// Calls a model by the endpoint's name of it. The stream ends after [`ModelEvent::Finished`] or an
    /// error.
    ///
    /// Only connecting has a time limit here. The caller decides how long to wait for this function, for the
    /// first event and for the next one; it cancels by dropping the future or the stream.
    ///
    /// # Errors
    ///
    /// If the server can't be reached or answers with an error before the first event.
    async fn call(&self, model: &str, request: &ModelRequest) -> Result<ModelStream, ModelError>;

    /// Returns the request form with which a model makes images; `None` if it makes none, as far as its name says. With
    /// `is_set`, the settings say that it makes images.
    fn image_api(&self, _model: &str, _is_set: bool) -> Option<ImageApi> {
        None
    }

    /// Makes or edits an image. The caller limits the time.
    ///
    /// # Errors
    ///
    /// If there is no image: the reason, such as a refusal.
    async fn make_image(
        &self,
        _model: &str,
        _api: ImageApi,
        _request: &ImageRequest,
    ) -> Result<ImageAnswer, ImageError> {
        Err(ImageError::unsupported(self.name()))
    }
}
