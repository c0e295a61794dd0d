//! Limits: how large things may be, how long Parlor waits, and how much of the log it keeps.

use serde::Deserialize;

/// The largest that Parlor takes, in bytes unless the name says otherwise.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// A person's message.
    pub message_bytes: usize,
    /// A title, or an API token's name, in characters.
    pub title_characters: usize,
    /// A request's body.
    pub request_bytes: usize,
    /// The least average speed of a request's body, once it has taken `timeouts.request_body_seconds`.
    pub request_bytes_per_second: usize,
    /// One event of a model's stream.
    pub model_event_bytes: usize,
    /// What one answer may come to, its thinking included.
    pub answer_bytes: usize,
    /// Data of one call that a model server wants to see again and nobody else understands (signatures, encrypted thoughts), in
    /// bytes. What is more is not kept.
    pub opaque_bytes: usize,
    /// What a tool makes for the panel in one call.
    pub payload_bytes: usize,
    /// What is kept of one call of a model for the diagnostics: of what was sent, and as much of what came back.
    pub diagnostics_bytes: usize,
    /// Answers of a conversation that there are diagnostics of: the newest.
    pub diagnostics_answers: usize,
    /// One file that a tool gives.
    pub attachment_bytes: usize,
    /// Files that a tool may give in one call.
    pub attachments: usize,
    /// Conversations in one page of the list.
    pub conversations_page: usize,
    /// Messages in one page of a conversation.
    pub messages_page: usize,
    /// A page of a conversation ends with the message with which it comes to this.
    pub messages_page_bytes: usize,
    /// One thing that is remembered of a person.
    pub memory_bytes: usize,
    /// Things that are remembered of a person.
    pub memories: usize,
    /// What a request says of what the person is looking at.
    pub context_bytes: usize,
    /// What a person wants the assistant to be told in every conversation.
    pub instructions_bytes: usize,
    /// A person's API tokens.
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

/// How long Parlor waits, in seconds.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Timeouts {
    /// For a connection to a model server.
    pub connect_seconds: f64,
    /// For the first token of an answer.
    pub first_token_seconds: f64,
    /// Between two tokens.
    pub silence_seconds: f64,
    /// For a whole answer.
    pub run_seconds: f64,
    /// Between two signs of life on an event stream. Proxies cut what is silent for longer than 15 or so.
    pub heartbeat_seconds: f64,
    /// For MCP servers that have not said yet which tools they have, before an answer is begun without them.
    pub mcp_start_seconds: f64,
    /// For the head of a request, from its first byte or from the end of the request before: how long an idle connection lasts.
    pub request_head_seconds: f64,
    /// Between two pieces of a request's body.
    pub request_body_seconds: f64,
    /// For runs to end when the server is asked to stop.
    pub shutdown_seconds: f64,
    /// For an answer to whoever asked for all of it at once; then they are told where to find it.
    pub batch_seconds: f64,
    /// For an answer that is worth a notification when it ends while nobody looks.
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
            // Who waits for less still looks.
            long_answer_seconds: 30.0,
        }
    }
}

/// How much of the log is kept for catching up. Messages are kept for ever.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogRetention {
    pub keep_hours: u32,
    /// At most this many events of each user.
    pub keep_events: u64,
    /// How often what is too much is removed.
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
