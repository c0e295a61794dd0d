//! Tools: what a model can ask Parlor to do. One trait, one file a tool.
//!
//! A tool says what it is called, what it takes and what it is doing; it is given its input and gives a text for the model.
//! When it is run, how long it may take and what becomes of its output is decided elsewhere: in `agent` and [`execute`].

mod attachment;
mod built_in;
pub mod calculate;
pub mod current_time;
mod execute;
pub mod fetch_webpage;
pub mod mcp;
pub mod memory;
mod payload;
mod registry;
pub mod schema;
mod search_pubmed;
#[cfg(test)]
mod test_call;
pub mod web_search;

use std::{borrow::Cow, fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use self::{
    built_in::built_in,
    execute::execute,
    payload::UNKNOWN_VERSION_FIELD,
    registry::{ToolOffer, ToolRegistry, ToolSource},
};
use crate::{
    model::{ToolPlan, ToolSpec},
    protocol::{ConversationId, Fraction, MessageId, RawJson, ToolProgress, UserId},
    services::ServiceError,
    text,
};

/// A tool, with an input of its own. The doc comments of the input's fields are what the model reads about them.
pub trait Tool: Send + Sync + 'static {
    type Input: DeserializeOwned + JsonSchema + Send;

    /// The name that the model calls it by.
    const NAME: &'static str;
    /// What it does and when to use it, for the model.
    const DESCRIPTION: &'static str;
    /// What it is doing, for the person: "Searching the web".
    const LABEL: &'static str;
    /// What it has done: "Searched".
    const DONE: &'static str;
    /// How long it may take.
    const TIMEOUT: Duration = Duration::from_secs(60);
    /// How much of its text the model is given, in bytes.
    const OUTPUT_BYTES: usize = 48 << 10;
    /// Whether it may run again when it is not known what came of it: it changes nothing.
    const IS_IDEMPOTENT: bool = false;
    /// Whether a person must allow each call.
    const NEEDS_APPROVAL: bool = false;
    /// It finds pages that an answer should name as its sources.
    const FINDS_SOURCES: bool = false;

    /// The same, where the settings say it.
    fn timeout(&self) -> Duration {
        Self::TIMEOUT
    }

    /// What it does that with, for the person, who sees the beginning of it in one line: the query, the address.
    fn detail(&self, _input: &Self::Input) -> Option<String> {
        None
    }

    /// Does it. Dropping the future ends it.
    fn run(
        &self,
        input: Self::Input,
        call: ToolContext,
    ) -> impl Future<Output = Result<ToolResult, ToolError>> + Send;
}

/// Any tool: those with an input type, and those that a server describes.
#[async_trait]
pub trait AnyTool: Send + Sync {
    fn spec(&self) -> &Arc<ToolSpec>;

    /// How it is run.
    fn run_options(&self) -> ToolRunOptions;

    /// It finds pages that an answer should name as its sources.
    fn finds_sources(&self) -> bool {
        false
    }

    /// Its server's words about using its tools.
    fn guidance(&self) -> Option<Arc<Guidance>> {
        None
    }

    /// What a call with these arguments would do.
    ///
    /// # Errors
    ///
    /// If they do not fit: what the model is told.
    fn plan(&self, arguments: &str) -> Result<ToolPlan, String>;

    async fn run(&self, arguments: &str, call: ToolContext) -> Result<ToolResult, ToolError>;
}

/// A server's own words about using its tools, for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guidance {
    pub server: String,
    pub text: String,
}

/// How a tool is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolRunOptions {
    /// What it has done, for the person.
    pub done_label: Cow<'static, str>,
    pub timeout: Duration,
    pub output_bytes: usize,
}

/// Whose call of a tool it is, and the way to say how far it is.
#[derive(Clone, Debug)]
pub struct ToolContext {
    pub user_id: UserId,
    pub conversation_id: ConversationId,
    pub run: MessageId,
    pub progress: ProgressReporter,
}

/// Where a tool says how far it is. What is said faster than it is read is replaced by what is said last.
#[derive(Clone, Debug)]
pub struct ProgressReporter(tokio::sync::watch::Sender<Option<ToolProgress>>);

impl ProgressReporter {
    /// Says that a stage is reached: `searching`, "Found 15 articles", 0.5.
    pub fn report(&self, stage: &str, message: impl Into<String>, progress: Option<Fraction>) {
        self.report_with_data(stage, message, progress, None);
    }

    /// The same, with what there is so far.
    pub fn report_with_data(
        &self,
        stage: &str,
        message: impl Into<String>,
        progress: Option<Fraction>,
        data: Option<RawJson>,
    ) {
        self.0.send_replace(Some(ToolProgress {
            stage: stage.into(),
            message: message.into(),
            progress,
            data,
        }));
    }
}

/// What a tool gives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolResult {
    /// For the model.
    pub text: String,
    /// For the person, in a panel.
    pub payload: Option<NewPayload>,
    /// For the person: images and other files.
    pub attachments: Vec<NewAttachment>,
}

/// A file that a tool gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAttachment {
    /// Such as `image/png`.
    pub media_type: String,
    pub name: String,
    pub data: Bytes,
}

/// Something to be shown in a panel.
#[derive(Clone, Debug, PartialEq)]
pub struct NewPayload {
    /// Its type, such as `pubmed_search_results`: decides how it is shown.
    pub kind: String,
    pub data: Value,
}

impl From<String> for ToolResult {
    fn from(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }
}

/// What went wrong, in words that the model can act on. The person sees it too.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ToolError(pub String);

impl ToolError {
    pub fn new(what: impl fmt::Display) -> Self {
        Self(what.to_string())
    }

    /// Storage does not work. What is wrong with it is said to the log, and to no model.
    pub fn unavailable() -> Self {
        Self::new("Parlor's storage does not work just now. Nothing was changed; do without it.")
    }
}

impl From<ServiceError> for ToolError {
    fn from(error: ServiceError) -> Self {
        Self(format!("{error} {}", error.kind.advice()))
    }
}

/// How much is shown of what a tool does its work with, in characters.
const MAX_DETAIL_CHARS: usize = 200;

/// A [`Tool`] as [`AnyTool`].
struct TypedTool<T> {
    tool: T,
    spec: Arc<ToolSpec>,
}

impl<T: Tool> TypedTool<T> {
    fn new(tool: T) -> Self {
        let spec = ToolSpec {
            name: T::NAME.into(),
            description: T::DESCRIPTION.into(),
            parameters: schema::for_type::<T::Input>(),
        };
        Self {
            tool,
            spec: Arc::new(spec),
        }
    }

    fn parse_input(arguments: &str) -> Result<T::Input, String> {
        // A tool that needs nothing is called with nothing by some models.
        let arguments = if arguments.trim().is_empty() {
            "{}"
        } else {
            arguments
        };
        serde_json::from_str(arguments).map_err(|error| {
            let what = if error.is_data() {
                "The arguments do not fit the schema"
            } else {
                "The arguments are not JSON"
            };
            format!("{what}: {error}. Correct them and call {} again.", T::NAME)
        })
    }
}

#[async_trait]
impl<T: Tool> AnyTool for TypedTool<T> {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn run_options(&self) -> ToolRunOptions {
        ToolRunOptions {
            done_label: T::DONE.into(),
            timeout: self.tool.timeout(),
            output_bytes: T::OUTPUT_BYTES,
        }
    }

    fn finds_sources(&self) -> bool {
        T::FINDS_SOURCES
    }

    fn plan(&self, arguments: &str) -> Result<ToolPlan, String> {
        let input = Self::parse_input(arguments)?;
        Ok(ToolPlan {
            label: T::LABEL.into(),
            detail: self
                .tool
                .detail(&input)
                .map(|detail| text::plain_line(&detail, MAX_DETAIL_CHARS)),
            needs_approval: T::NEEDS_APPROVAL,
            is_idempotent: T::IS_IDEMPOTENT,
        })
    }

    async fn run(&self, arguments: &str, call: ToolContext) -> Result<ToolResult, ToolError> {
        let input = Self::parse_input(arguments).map_err(ToolError)?;
        self.tool.run(input, call).await
    }
}
