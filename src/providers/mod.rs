//! Models: where they are, and how to talk with them.
//!
//! An adapter turns the wire stream of one kind of model server into the same small set of
//! [`ModelEvent`]s. It keeps no conversation, retries nothing and knows nothing of runs: what an event or
//! an error means for a run is decided in `agent`.

mod config;
pub mod discover;
mod naming;
pub mod openai;
mod registry;
mod think;
pub mod tokens;
mod tour;
mod windows;

use std::{fmt, pin::Pin, sync::Arc, time::Duration};

use futures::Stream;

pub use self::{
    config::{DEFAULT_MAX_FRAME, EndpointConfig},
    registry::{Models, ModelsConfig, UnknownModel, endpoint_of},
    think::ThinkFilter,
};
use crate::{
    protocol::{Json, Opaque, Parameters, RunError, Source, chat::ModelInfo},
    settings::PromptLength,
};

pub use crate::protocol::FinishReason;

/// What a model says, in the order in which it says it.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    /// More of its reasoning.
    Thinking(String),
    /// More of its answer.
    Text(String),
    /// It begins to ask for a tool call; `index` is the call's place among those of this answer.
    ToolCall { index: usize, id: String, name: String },
    /// More of a tool call's arguments, which are JSON once they are whole.
    ToolArguments { index: usize, delta: String },
    /// What the call has cost so far.
    Usage(Usage),
    /// All text of the present answer so far was reasoning: its end came, and no beginning was marked.
    TextWasThinking,
    /// Where the answer has it from, as the server says: all of it so far, numbered as the text cites it.
    Sources(Vec<Source>),
    /// What only this provider understands, and wants to see again.
    Opaque { beside: Beside, data: Opaque },
    /// A piece of the answer that can't be taken in, and the beginning of it as it came.
    Unread { what: Unread, raw: String },
    /// It said why it stopped. A stream that ends without this has broken off.
    Finished(FinishReason),
}

/// Which piece of the present answer [`Opaque`] data belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// The answer as a whole.
    Answer,
    /// The thinking or the text that came last.
    LastPart,
    /// The tool call with this index.
    ToolCall(usize),
}

/// A piece of an answer that can't be taken in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    Image,
    /// Sound without its words.
    Audio,
    /// A field or a type of this name.
    Unknown(String),
    /// Something that was left out for its size; why.
    TooLarge(String),
}

impl Unread {
    /// The name of what could not be taken in.
    pub fn name(&self) -> &str {
        match self {
            Self::Image => "image",
            Self::Audio => "audio",
            Self::Unknown(name) | Self::TooLarge(name) => name,
        }
    }
}

/// Tokens, as the model server counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// What it costs, if the server says so.
    pub cost: Option<Cost>,
}

/// Money, in billionths of a US dollar: a token costs millionths, and sums must not depend on their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost(pub u64);

impl Cost {
    /// What is not a price, or none that anyone could pay, is nothing.
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        let nanos = (dollars * 1e9).round();
        (0.0..1e18).contains(&nanos).then_some(Self(nanos as u64))
    }

    pub fn dollars(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

/// A call of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRequest {
    /// As `endpoint/model`.
    pub model: String,
    pub messages: Vec<ModelMessage>,
    /// The tools that it may ask for.
    pub tools: Vec<Arc<ToolSpec>>,
    /// Those of them that it has to use, by their names.
    pub force_tools: Vec<String>,
    /// What is set about how it answers.
    pub parameters: Parameters,
}

impl ModelRequest {
    /// A call without tools, as the server likes it.
    pub fn new(model: impl Into<String>, messages: Vec<ModelMessage>) -> Self {
        Self {
            model: model.into(),
            messages,
            tools: Vec::new(),
            force_tools: Vec::new(),
            parameters: Parameters::default(),
        }
    }
}

impl ModelRequest {
    /// The same, as it may be shown: of what is for the provider alone only how much it is.
    pub fn without_opaque(&self) -> Self {
        let mut request = self.clone();
        for message in &mut request.messages {
            let ModelMessage::Assistant {
                tool_calls, opaque, ..
            } = message
            else {
                continue;
            };
            let of_calls = tool_calls.iter_mut().flat_map(|call| &mut call.opaque);
            for data in opaque.iter_mut().chain(of_calls) {
                let told = format!("(for the provider alone: {} bytes)", data.value.as_str().len());
                data.value = Json::or_string(&told);
            }
        }
        request
    }
}

/// A tool as a model is told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// What it takes, as a JSON schema.
    pub parameters: serde_json::Value,
}

/// A message as a model is shown it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelMessage {
    System(String),
    User(String),
    /// What the model said, and which tools it asked for.
    Assistant {
        text: String,
        /// What it thought before it asked for them, if it is to be shown that again.
        thinking: Option<String>,
        tool_calls: Vec<ToolUse>,
        /// What its endpoint said of the answer as a whole, for itself.
        opaque: Vec<Opaque>,
    },
    /// What a tool gave.
    Tool {
        tool_use_id: String,
        output: String,
    },
}

impl ModelMessage {
    /// An answer without tools.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::Assistant {
            text: text.into(),
            thinking: None,
            tool_calls: Vec::new(),
            opaque: Vec::new(),
        }
    }
}

/// A tool call that a model has made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolUse {
    pub id: String,
    pub name: String,
    /// As the model gave them.
    pub arguments: String,
    /// What its endpoint said beside it, for itself.
    pub opaque: Vec<Opaque>,
}

/// Why a call gave no (whole) answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .error.message)]
pub struct ModelError {
    /// What the person is told: names the endpoint, the cause and the setting to change.
    pub error: RunError,
    pub kind: ModelErrorKind,
}

/// What an error means for the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// The server named an error that the same call would meet again.
    Refused,
    /// The server is busy or down (408, 409, 429, 5xx, no connection): the call may be tried again before
    /// its first event, after `after` if the server said so.
    Unavailable { after: Option<Duration> },
    /// The stream broke off after it had begun.
    Broken,
}

/// What a server has not refused so far, for a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manners {
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

impl Manners {
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
pub struct Sent {
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
    pub offered: Vec<ModelInfo>,
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
    fn manners(&self, _model: &str) -> Manners {
        Manners::ALL
    }

    /// What [`call`](Self::call) would send, for who wants to know; nothing that is secret is in it. `model` is the model's name
    /// here.
    fn sends(&self, model: &str, request: &ModelRequest) -> Sent;

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
