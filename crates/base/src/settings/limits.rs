//! Limits: maximum sizes, timeouts, and the retention of the log.

use std::time::Duration;

use serde::Deserialize;

/// Maximum sizes, in bytes unless the name says otherwise. Data over a limit is rejected with an error that names the limit,
/// unless the setting says what is left out.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// A user's message.
    pub message_bytes: usize,
    /// The number of messages that wait in a conversation for the end of its run.
    pub queued_messages: usize,
    /// The text of all messages that wait in a conversation for the end of its run.
    pub queued_bytes: usize,
    /// A conversation's title or an API token's name, in characters.
    pub title_characters: usize,
    /// A whole request.
    pub request_bytes: usize,
    /// The minimum average speed of a request's body, enforced after `timeouts.request_body`.
    pub request_bytes_per_second: usize,
    /// One event of a model's stream. An image in an answer is one event.
    pub model_event_bytes: usize,
    /// One answer, including its thinking.
    pub answer_bytes: usize,
    /// Provider-specific data of one call, which only the model server understands (signatures, encrypted
    /// thoughts). Data beyond this is not stored.
    pub opaque_bytes: usize,
    /// The payload of one tool call for the panel.
    pub payload_bytes: usize,
    /// The diagnostics stored of one model call: this much of the request, and as much of the response. The rest is
    /// left out.
    pub diagnostics_bytes: usize,
    /// The number of a conversation's answers with diagnostics: the newest. 0 for none.
    pub diagnostics_answers: usize,
    /// One file produced by a tool, such as a plot. Generated images have `images.max_bytes` instead.
    pub attachment_bytes: usize,
    /// The number of files that a tool may produce in one call.
    pub attachments: usize,
    /// The number of conversations in one page of the list.
    pub conversations_page: usize,
    /// The number of a user's pinned conversations, which are all on the first page of the list.
    pub pinned_conversations: usize,
    /// The number of conversations that one request may archive, delete or otherwise change in the list.
    pub changed_conversations: usize,
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

impl Limits {
    /// The limits without which nothing works, with their names. None of them may be 0.
    pub(super) fn positive(&self) -> [(&'static str, usize); 8] {
        [
            ("limits.message_bytes", self.message_bytes),
            ("limits.title_characters", self.title_characters),
            ("limits.request_bytes", self.request_bytes),
            ("limits.model_event_bytes", self.model_event_bytes),
            ("limits.answer_bytes", self.answer_bytes),
            ("limits.conversations_page", self.conversations_page),
            ("limits.changed_conversations", self.changed_conversations),
            ("limits.messages_page", self.messages_page),
        ]
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 512 << 10,
            queued_messages: 20,
            queued_bytes: 1 << 20,
            title_characters: 200,
            request_bytes: 2 << 20,
            request_bytes_per_second: 100,
            model_event_bytes: 16 << 20,
            answer_bytes: 8 << 20,
            opaque_bytes: 1 << 20,
            payload_bytes: 1 << 20,
            diagnostics_bytes: 256 << 10,
            diagnostics_answers: 50,
            attachment_bytes: 8 << 20,
            attachments: 16,
            conversations_page: 40,
            pinned_conversations: 50,
            changed_conversations: 200,
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

/// Timeouts and intervals.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Timeouts {
    /// The timeout of connecting to a model server.
    #[serde(deserialize_with = "super::duration::positive")]
    pub connect: Duration,
    /// The timeout of the first token of an answer. Loading a model takes a while.
    #[serde(deserialize_with = "super::duration::positive")]
    pub first_token: Duration,
    /// The timeout between two tokens.
    #[serde(deserialize_with = "super::duration::positive")]
    pub silence: Duration,
    /// The timeout of a whole answer.
    #[serde(deserialize_with = "super::duration::positive")]
    pub run: Duration,
    /// The interval between two heartbeats on an event stream, at most 15 seconds: some proxies cut streams that
    /// are silent for longer.
    #[serde(deserialize_with = "super::duration::heartbeat")]
    pub heartbeat: Duration,
    /// The longest wait for MCP servers that have not listed their tools yet. Then an answer starts without
    /// them.
    #[serde(deserialize_with = "super::duration::positive")]
    pub mcp_start: Duration,
    /// The timeout of a request's first line and headers, from its first byte or from the end of the previous
    /// request: the lifetime of an idle connection.
    #[serde(deserialize_with = "super::duration::positive")]
    pub request_head: Duration,
    /// The timeout between two chunks of a request's body.
    #[serde(deserialize_with = "super::duration::positive")]
    pub request_body: Duration,
    /// The time for which the deletion of a message or a conversation can be undone. Then it is erased; with 0 at once.
    #[serde(deserialize_with = "super::duration::any")]
    pub undo: Duration,
    /// The longest wait for answers to end when Parlor stops.
    #[serde(deserialize_with = "super::duration::positive")]
    pub shutdown: Duration,
    /// The longest wait for the database in `GET /readyz`, and the longest time for which a commit may last. Then the server is
    /// not ready.
    #[serde(deserialize_with = "super::duration::positive")]
    pub readiness: Duration,
    /// The time for which `GET /readyz` and `GET /metrics` repeat what the database has answered, without asking it.
    #[serde(deserialize_with = "super::duration::positive")]
    pub readiness_interval: Duration,
    /// The timeout of an answer to `POST /api/chat/batch`. Then the response has the answer's location.
    #[serde(deserialize_with = "super::duration::positive")]
    pub batch: Duration,
    /// The duration of an answer from which its end in the background triggers a notification, if
    /// notifications are on.
    #[serde(deserialize_with = "super::duration::positive")]
    pub long_answer: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_token: Duration::from_secs(120),
            silence: Duration::from_secs(60),
            run: Duration::from_secs(3600),
            heartbeat: Duration::from_secs(10),
            mcp_start: Duration::from_secs(5),
            request_head: Duration::from_secs(30),
            request_body: Duration::from_secs(30),
            undo: Duration::from_secs(10),
            shutdown: Duration::from_secs(5),
            readiness: Duration::from_secs(2),
            readiness_interval: Duration::from_secs(1),
            batch: Duration::from_secs(300),
            // For shorter answers the user still watches the page.
            long_answer: Duration::from_secs(30),
        }
    }
}

/// The age at which conversations are erased. Their last activity is the last message, or the start of the last answer. One
/// that was begun while the machine's clock was too early is erased after the clock is corrected.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Retention {
    /// The number of days after its last activity after which a conversation is erased, unless it is pinned; 0 for never.
    /// Users may choose fewer for themselves.
    pub days: u32,
    /// The time after its last activity after which a temporary conversation is erased.
    #[serde(deserialize_with = "super::duration::positive")]
    pub temporary: Duration,
    /// The interval between two checks. The first one is at most 5 minutes after the start.
    #[serde(deserialize_with = "super::duration::positive")]
    pub interval: Duration,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            days: 0,
            temporary: Duration::from_secs(24 * 3600),
            interval: Duration::from_secs(3600),
        }
    }
}

/// The retention of the event log, from which clients catch up after an interruption. Messages are kept regardless.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogRetention {
    /// The age from which events are deleted.
    #[serde(deserialize_with = "super::duration::any")]
    pub keep: Duration,
    /// The maximum number of events per user.
    pub keep_events: u64,
    /// The interval between two trims.
    #[serde(deserialize_with = "super::duration::positive")]
    pub trim_interval: Duration,
}

impl Default for LogRetention {
    fn default() -> Self {
        Self {
            keep: Duration::from_secs(24 * 3600),
            keep_events: 1_000_000,
            trim_interval: Duration::from_secs(600),
        }
    }
}
