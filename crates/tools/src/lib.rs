//! Tools: actions that a model can request. One trait, one file a tool.
//!
//! A tool gives its name, its input and its labels; it receives its input and returns a text for
//! the model. [`execute()`] enforces the limits of time and output; `runs` schedules calls and stores
//! their results.

mod attachment;
mod built_in;
pub mod calculate;
mod context;
pub mod current_time;
mod execute;
pub mod fetch_webpage;
mod find_tool;
mod generate_image;
pub mod lines;
pub mod mcp;
pub mod memory;
mod message_file;
mod nothing_new;
mod payload;
mod phrasings;
mod project_files;
mod registry;
mod retrieve_file;
pub mod schema;
mod search_conversations;
mod search_pubmed;
mod session;
#[cfg(test)]
mod test_call;
#[cfg(test)]
mod tests;
mod typed;
pub mod web_search;

use std::{borrow::Cow, fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use self::typed::TypedTool;
pub use self::{
    built_in::built_in,
    context::{CallOrigin, OpenItems, ProgressReporter, ToolContext, UsageMeter},
    execute::execute,
    find_tool::{FindTool, FoundTools},
    generate_image::{GenerateImage, made_images},
    nothing_new::NothingNew,
    payload::UNKNOWN_VERSION_FIELD,
    project_files::{ReadProjectFile, SearchProjectFiles},
    registry::{ToolOffer, ToolProvider, ToolRegistry},
    retrieve_file::RetrieveFile,
    search_conversations::SearchConversations,
    session::{FinishedCall, ReplayedCall, SessionHold, SessionKeeper, StepId},
    typed::{any_tool, any_tool_with},
};
use parlor_model::{ToolInput, ToolPlan, ToolSpec};
use parlor_protocol::Attachment;
pub use parlor_protocol::tool_kind::ToolKind;
use parlor_web::services::ServiceError;

/// A tool with a typed input. The doc comments of the input's fields are given to the model.
pub trait Tool: Send + Sync + 'static {
    type Input: DeserializeOwned + JsonSchema + Send + 'static;

    /// The name for the model, with what the page must know of the tool.
    const KIND: ToolKind;
    /// The name for the model.
    const NAME: &'static str = Self::KIND.name;
    /// The purpose of the tool and when to use it, for the model.
    const DESCRIPTION: &'static str;
    /// The label of a call in progress, for the user: "Searching the web".
    const LABEL: &'static str;
    /// The label of a finished call: "Searched".
    const DONE: &'static str;
    /// The time limit of a call.
    const TIMEOUT: Duration = Duration::from_secs(60);
    /// Maximum size of its output for the model, in bytes.
    const OUTPUT_BYTES: usize = 48 << 10;
    /// A repeated call has no further effect, so a call with an unknown outcome may be repeated.
    const IS_IDEMPOTENT: bool = false;
    /// Each call needs the user's approval.
    const NEEDS_APPROVAL: bool = false;
    /// The tool finds pages that an answer should cite as its sources.
    const FINDS_SOURCES: bool = false;

    /// Returns the time limit of a call, where the settings define it.
    fn timeout(&self) -> Duration {
        Self::TIMEOUT
    }

    /// Returns the limits of the files that a call makes, if they are its result.
    fn file_limits(&self) -> Option<FileLimits> {
        None
    }

    /// Returns `true` if each call needs the user's approval, where the settings define it.
    fn needs_approval(&self) -> bool {
        Self::NEEDS_APPROVAL
    }

    /// Returns `true` if a call changes the session of its conversation. Such calls run one after the other, in their order,
    /// and are replayed into a new session.
    fn uses_session(&self, _input: &Self::Input) -> bool {
        false
    }

    /// Returns `true` if a finished call that uses the session has changed it.
    fn is_replayed(&self, _finished: &FinishedCall) -> bool {
        false
    }

    /// Repeats the effect of a finished call on a new session, and nothing else.
    fn replay(
        &self,
        _input: Self::Input,
        _finished: FinishedCall,
        _call: ToolContext,
    ) -> impl Future<Output = Result<ReplayedCall, ToolError>> + Send {
        std::future::ready(Ok(ReplayedCall::default()))
    }

    /// Completes the input of a call with what the user has open. An approval shows the completed one.
    ///
    /// # Errors
    ///
    /// If something is missing that is not open either: the message for the model.
    fn complete(&self, _input: &mut Self::Input, _open: OpenItems<'_>) -> Result<(), String> {
        Ok(())
    }

    /// Returns the subject of a call for the user, who sees its beginning in one line: the query,
    /// the URL.
    fn detail(&self, _input: &Self::Input) -> Option<String> {
        None
    }

    /// Performs a call. Dropping the future cancels it.
    fn run(
        &self,
        input: Self::Input,
        call: ToolContext,
    ) -> impl Future<Output = Result<ToolResult, ToolError>> + Send;
}

/// A tool of any kind: one with an input type, or one that a server describes.
#[async_trait]
pub trait AnyTool: Send + Sync {
    fn spec(&self) -> &Arc<ToolSpec>;

    /// Returns the name by which a page or a conversation asks for the tool: another one than the model's where a tool has
    /// several forms.
    fn offer_name(&self) -> &str {
        &self.spec().name
    }

    /// Returns the label of a call in progress, for the user: its name if it has none.
    fn label(&self) -> String {
        self.spec().name.clone()
    }

    /// Returns the options of its calls.
    fn run_options(&self) -> ToolRunOptions;

    /// Returns `true` if the tool finds pages that an answer should cite as its sources.
    fn finds_sources(&self) -> bool {
        false
    }

    /// Returns `true` if a call may be repeated after a crash without a further effect.
    fn is_idempotent(&self) -> bool {
        false
    }

    /// Returns its server's instructions for its tools.
    fn guidance(&self) -> Option<Arc<Guidance>> {
        None
    }

    /// Parses the arguments of a call, completes them with what the user has open, and plans the call.
    ///
    /// # Errors
    ///
    /// If the arguments are invalid: the message for the model.
    fn plan(&self, arguments: &str, open: OpenItems<'_>) -> Result<ToolPlan, String>;

    /// Performs a call with the input of its plan. Dropping the future cancels it.
    async fn run(&self, input: ToolInput, call: ToolContext) -> Result<ToolResult, ToolError>;

    /// Returns `true` if a call with these arguments changes the session of its conversation.
    fn uses_session(&self, _arguments: &str) -> bool {
        false
    }

    /// Returns the name of the sequence that a call with these arguments belongs to. The calls of one answer in a sequence
    /// run one after the other, in their order; all others run at the same time.
    fn sequence(&self, arguments: &str) -> Option<Cow<'_, str>> {
        self.uses_session(arguments).then_some("session".into())
    }

    /// Returns `true` if a finished call with these arguments has changed the session, so that a new one needs a replay.
    fn is_replayed(&self, _arguments: &str, _finished: &FinishedCall) -> bool {
        false
    }

    /// Repeats the effect of a finished call on a new session, and nothing else.
    async fn replay(
        &self,
        _arguments: &str,
        _finished: FinishedCall,
        _call: ToolContext,
    ) -> Result<ReplayedCall, ToolError> {
        Ok(ReplayedCall::default())
    }

    /// Returns the form of the tool for users who have no session; `None` if it is the same.
    fn without_session(&self) -> Option<Arc<dyn AnyTool>> {
        None
    }
}

/// A server's own instructions for its tools, for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guidance {
    pub server: String,
    pub text: String,
}

/// The options of a tool's calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolRunOptions {
    /// The label of a finished call, for the user.
    pub done_label: Cow<'static, str>,
    pub timeout: Duration,
    pub output_bytes: usize,
    /// Limits of the files of a tool whose result they are, instead of those of other tools. Its calls fail if no file is
    /// kept.
    pub file_limits: Option<FileLimits>,
}

/// Limits of the files that a call makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileLimits {
    pub max_count: usize,
    /// The maximum size of one file.
    pub max_bytes: usize,
    /// The name of the setting of each.
    pub count_setting: &'static str,
    pub bytes_setting: &'static str,
}

/// The result of a tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolResult {
    /// The output for the model; of a failed call the error, which the user sees too.
    pub text: String,
    /// True if the call has failed. What it made before is kept.
    pub has_failed: bool,
    /// Content for the user, in a panel.
    pub payload: Option<NewPayload>,
    /// Images and other files for the user.
    pub attachments: Vec<NewAttachment>,
    /// Stored files that the call shows again.
    pub known_files: Vec<Attachment>,
}

/// A file made by a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAttachment {
    /// The media type, such as `image/png`.
    pub media_type: String,
    pub name: String,
    pub data: Bytes,
}

/// Content for a panel.
#[derive(Clone, Debug, PartialEq)]
pub struct NewPayload {
    /// The payload's type, such as `pubmed_search_results`, which decides how it is shown.
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

/// A tool's error, with a message that the model can act on. The user sees it too. A failed call that has made something returns a
/// [`ToolResult`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ToolError(pub String);

impl ToolError {
    pub fn new(what: impl fmt::Display) -> Self {
        Self(what.to_string())
    }

    /// Returns the error for the input of another tool.
    fn foreign_input() -> Self {
        Self::new("A fault in Parlor gave this call to the wrong tool. Nothing was done.")
    }

    /// Returns the error for a storage failure. The details are logged and not given to the model.
    pub fn unavailable() -> Self {
        Self::new("Parlor's storage does not work just now. Nothing was changed; do without it.")
    }
}

impl From<ServiceError> for ToolError {
    fn from(error: ServiceError) -> Self {
        Self(format!("{error} {}", error.kind.advice()))
    }
}
