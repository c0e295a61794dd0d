//! The stored record of a model call. `redaction` makes it without secrets, and limits its size.
//!
//! Values from a model or a tool server are kept as text, because they may be nested deeper than a parsed
//! `serde_json::Value` can be.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::timeline::TimelineEntry;
use parlor_model::ReportedUsage;
use parlor_protocol::{RawJson, RunError, RunStatus, Timestamp};

/// The request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestRecord {
    pub started_at: Timestamp,
    /// The model's id, `endpoint/model`.
    pub model: String,
    #[serde(default)]
    pub purpose: Purpose,
    /// The endpoint's URL, without userinfo and query.
    pub address: String,
    /// The number of calls of the run that may request tools.
    pub max_iterations: usize,
    /// All parameters besides the messages and the tools, in the server's form.
    pub parameters: Map<String, Value>,
    /// The maximum length of the answer in tokens, if it was sent.
    #[serde(default)]
    pub max_tokens: Option<u64>,
    /// The temperature, if it was sent.
    #[serde(default)]
    pub temperature: Option<f64>,
    /// The offered tools; `None` if they equal those of the previous call.
    pub tools: Option<Vec<RawJson>>,
    /// True if the messages follow all messages of the previous call.
    pub goes_on: bool,
    /// The messages. `{"omitted": N}` replaces N messages that exceeded the limit.
    pub messages: Vec<Value>,
}

/// The purpose of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Generates the answer, or a part of it.
    #[default]
    Answer,
    /// Generates the summary that replaces the beginning of a long conversation.
    Summary,
    /// Generates the title of the conversation.
    Title,
    /// Generates the result of a step of a job.
    Step,
}

/// The response so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResponseRecord {
    pub status: RunStatus,
    /// The time from the start of the call to the model's first output.
    pub first_token_ms: Option<u64>,
    /// The duration of the call.
    pub duration_ms: Option<u64>,
    /// The finish reason, in Parlor's terms.
    pub finish_reason: Option<String>,
    pub usage: Option<TokenUsage>,
    /// The cost in US dollars.
    pub cost: Option<f64>,
    pub raw: RawAnswer,
    /// The number of retries.
    pub retries: usize,
    /// The error of each failed attempt.
    pub failures: Vec<CallFailure>,
    pub events: Vec<TimelineEntry>,
}

/// Token counts as reported by the model server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Tokens")]
pub struct TokenUsage {
    /// The whole input, cached or not.
    pub input_tokens: u64,
    /// The whole output, thinking included.
    pub output_tokens: u64,
    /// The part of the input that was read from the server's cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_input_tokens: u64,
    /// The part of the input that was written to the server's cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// The part of the output that is thinking.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub thinking_tokens: u64,
    /// The part of the input that is images.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub image_input_tokens: u64,
    /// The part of the output that is images.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub image_output_tokens: u64,
}

/// Returns true for a count that is not worth a field.
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl From<&ReportedUsage> for TokenUsage {
    fn from(usage: &ReportedUsage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cached_input_tokens: usage.cached_input_tokens,
            cache_write_tokens: usage.cache_write_tokens,
            thinking_tokens: usage.thinking_tokens,
            image_input_tokens: usage.image_input_tokens,
            image_output_tokens: usage.image_output_tokens,
        }
    }
}

/// The model's raw output, before any filtering.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RawResponse")]
pub struct RawAnswer {
    pub thinking: String,
    pub text: String,
    pub tool_calls: Vec<RawCall>,
    /// The unreadable contents.
    #[serde(rename = "unread", default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<RawContent>,
    /// The parts that the user is not shown, such as actions that the page does not know, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<RawContent>,
    /// True if the output exceeded the limit and was truncated.
    pub cut: bool,
}

/// A tool call as requested by the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RawCall {
    pub id: String,
    pub name: String,
    pub arguments: String,
}

/// Content of an answer that Parlor could not read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RawContent {
    /// The kind of content, or the reason for leaving it out.
    pub what: String,
    /// The beginning of the raw text.
    pub raw: String,
}

/// A call that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallFailure {
    pub at: Timestamp,
    pub error: RunError,
}

impl ResponseRecord {
    /// Creates the response of a call that has just started.
    pub fn pending() -> Self {
        Self {
            status: RunStatus::Running,
            first_token_ms: None,
            duration_ms: None,
            finish_reason: None,
            usage: None,
            cost: None,
            raw: RawAnswer::default(),
            retries: 0,
            failures: Vec::new(),
            events: Vec::new(),
        }
    }
}
