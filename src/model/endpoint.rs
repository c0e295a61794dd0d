//! One place where models are served, as an adapter implements it.

use std::{fmt, pin::Pin};

use futures::Stream;

use super::{ModelError, ModelEvent, ModelRequest};
use crate::{protocol::model_list::ModelInfo, settings::PromptLength};

/// What a server has not refused so far, for a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerCapabilities {
    /// It is asked for the token counts at the end.
    pub usage: bool,
    /// It is told in a field of its own which tool has to be used; else in words.
    pub tool_choice: bool,
    /// It is shown what the model thought before it asked for tools.
    pub thinking: bool,
    /// The model is told of tools, and of what they gave before; else that is said in words.
    pub tools: bool,
    /// It takes instructions as the system's; else they stand before the first question.
    pub system: bool,
}

impl ServerCapabilities {
    /// Nothing was refused.
    pub const ALL: Self = Self {
        usage: true,
        tool_choice: true,
        thinking: true,
        tools: true,
        system: true,
    };
}

/// What a call sends, and where to.
#[derive(Debug, Default)]
pub struct RequestPreview {
    /// The endpoint's address without user info and query; empty if nothing leaves Parlor.
    pub address: String,
    /// The body of the request, an object.
    pub body: serde_json::Map<String, serde_json::Value>,
}

/// The events of one call. Dropping it ends the call.
pub type ModelStream = Pin<Box<dyn Stream<Item = Result<ModelEvent, ModelError>> + Send>>;

/// The models that an endpoint lists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListedModels {
    /// Those that a person can choose, the one to choose first at the front.
    pub selectable: Vec<ModelInfo>,
    /// The names there of all of them, also of those that are not offered.
    pub ids: Vec<String>,
}

/// One place where models are served.
#[async_trait::async_trait]
pub trait Endpoint: fmt::Debug + Send + Sync {
    /// The name in the settings: the first half of a model's id.
    fn name(&self) -> &str;

    /// The models served there now; soon, or an error.
    async fn models(&self) -> Result<ListedModels, ModelError>;

    /// How many tokens a model can take, as far as that can be found out; soon. It is asked anew each time. Whether the model takes
    /// tools is found out along with it, and is part of its [`manners`](Self::manners) from then on.
    async fn context_window(&self, _model: &str) -> Option<usize> {
        None
    }

    /// The system prompt that its models are given.
    fn prompt_length(&self) -> PromptLength {
        PromptLength::Auto
    }

    /// What the server has not refused so far: as long as it is the same, so is what a call sends.
    fn capabilities(&self, _model: &str) -> ServerCapabilities {
        ServerCapabilities::ALL
    }

    /// What [`call`](Self::call) would send, for who wants to know; nothing that is secret is in it. `model` is the model's name
    /// here.
    fn preview_request(&self, model: &str, request: &ModelRequest) -> RequestPreview;

    /// Calls a model by its name here. The stream ends after [`ModelEvent::Finished`] or an error.
    ///
    /// Only connecting has a time limit here. How long to wait for this to return, for the first event and for
    /// the next one is for the caller to decide; it gives up by dropping what it waits for.
    ///
    /// # Errors
    ///
    /// If the server could not be reached or answered with an error before the first event.
    async fn call(&self, model: &str, request: &ModelRequest) -> Result<ModelStream, ModelError>;
}
