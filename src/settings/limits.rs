//! Limits: maximum sizes, timeouts, and the retention of the log.

use serde::Deserialize;

/// Maximum sizes, in bytes unless the name says otherwise.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// A user's message.
    pub message_bytes: usize,
    /// A title or an API token's name, in characters.
    pub title_characters: usize,
    /// A request's body.
    pub request_bytes: usize,
    /// The minimum average speed of a request's body, enforced after `timeouts.request_body_seconds`.
    pub request_bytes_per_second: usize,
    /// One event of a model's stream.
    pub model_event_bytes: usize,
    /// One answer, including its thinking.
    pub answer_bytes: usize,
    /// Provider-specific data of one call, which only the model server understands (signatures, encrypted
    /// thoughts). Data beyond this is not stored.
    pub opaque_bytes: usize,
    /// The payload of one tool call.
    pub payload_bytes: usize,
    /// The diagnostics stored of one model call: this much of the request, and as much of the response.
    pub diagnostics_bytes: usize,
    /// The number of a conversation's answers with diagnostics: the newest.
    pub diagnostics_answers: usize,
    /// One file produced by a tool.
    pub attachment_bytes: usize,
    /// The number of files that a tool may produce in one call.
    pub attachments: usize,
    /// The number of conversations in one page of the list.
    pub conversations_page: usize,
    /// The number of messages in one page of a conversation.
    pub messages_page: usize,
    /// The size of a page of a conversation; the page ends with the message that reaches it.
    pub messages_page_bytes: usize,
    /// One memory of a user.
    pub memory_bytes: usize,
    /// The number of memories of a user.
    pub memories: usize,
    /// A request's description of the page that the user has open.
    pub context_bytes: usize,
    /// A user's instructions for the assistant in every conversation.
    pub instructions_bytes: usize,
    /// The number of API tokens of a user.
    pub api_tokens: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 512 << 10,
            title_characters: 200,
            request_bytes: 2 << 20,
            request_bytes_per_second: 100,
            model_event_bytes: 1 << 20,
            answer_bytes: 8 << 20,
            opaque_bytes: 1 << 20,
            payload_bytes: 1 << 20,
            diagnostics_bytes: 256 << 10,
            diagnostics_answers: 50,
            attachment_bytes: 8 << 20,
            attachments: 16,
            conversations_page: 40,
            messages_page: 20,
            messages_page_bytes: 256 << 10,
            memory_bytes: 2000,
            memories: 500,
            context_bytes: 16 << 10,
            instructions_bytes: 8 << 10,
            api_tokens: 50,
        }
    }
}

/// Timeouts and intervals, in seconds.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Timeouts {
    /// Timeout of connecting to a model server.
    pub connect_seconds: f64,
    /// Timeout of the first token of an answer.
    pub first_token_seconds: f64,
    /// Timeout between two tokens.
    pub silence_seconds: f64,
    /// Timeout of a whole answer.
    pub run_seconds: f64,
    /// Interval between heartbeats on an event stream. Some proxies cut streams that are silent for 15
    /// seconds.
    pub heartbeat_seconds: f64,
    /// Longest wait for MCP servers that have not listed their tools yet. Then the answer starts without
    /// them.
    pub mcp_start_seconds: f64,
    /// Timeout of a request's head, from its first byte or from the end of the previous request: the lifetime
    /// of an idle connection.
    pub request_head_seconds: f64,
    /// Timeout between two chunks of a request's body.
    pub request_body_seconds: f64,
    /// Longest wait for runs to end when the server stops.
    pub shutdown_seconds: f64,
    /// Timeout of an answer to a batch request. Then the response has the answer's location.
    pub batch_seconds: f64,
    /// The duration of an answer from which its end in the background is worth a notification.
    pub long_answer_seconds: f64,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect_seconds: 10.0,
            first_token_seconds: 120.0,
            silence_seconds: 60.0,
            run_seconds: 3600.0,
            heartbeat_seconds: 10.0,
            mcp_start_seconds: 5.0,
            request_head_seconds: 30.0,
            request_body_seconds: 30.0,
            shutdown_seconds: 5.0,
            batch_seconds: 300.0,
            // For shorter answers the user still watches the page.
            long_answer_seconds: 30.0,
        }
    }
}

/// The retention of the log, which clients catch up from. Messages are kept for ever.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogRetention {
    pub keep_hours: u32,
    /// The maximum number of events per user.
    pub keep_events: u64,
    /// The interval between two trims.
    pub trim_seconds: f64,
}

impl Default for LogRetention {
    fn default() -> Self {
        Self {
            keep_hours: 24,
            keep_events: 1_000_000,
            trim_seconds: 600.0,
        }
    }
}
