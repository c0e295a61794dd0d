//! The output of the scripted model, and the condition for playing a script. The vocabulary is the same in
//! Rust and in JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An answer as a list of steps. Without an end of its own it ends with `finish("stop")`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Script {
    pub steps: Vec<Step>,
    #[serde(default)]
    pub thinking: ThinkingFormat,
}

/// A step of the model or of its server.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// One delta of thinking.
    Think(String),
    /// One delta of text.
    Text(String),
    /// Text word by word, at a pace.
    Stream { text: String, per_second: f64 },
    /// Thinking word by word, at a pace.
    StreamThinking { text: String, per_second: f64 },
    /// Numbered tokens at a pace; 0 per second is as fast as they can be sent.
    Tokens { count: u64, per_second: f64 },
    /// A whole tool call.
    ToolCall {
        id: String,
        name: String,
        arguments: String,
    },
    /// Waits until a test opens the gate with this name.
    Gate(String),
    /// Waits this number of milliseconds.
    Pause(u64),
    /// Responds with this status and body instead of a stream. Earlier steps can only be waits.
    Status {
        code: u16,
        #[serde(default)]
        body: Value,
        #[serde(default)]
        headers: BTreeMap<String, String>,
    },
    /// A content type other than `text/event-stream`, whatever follows.
    ContentType(String),
    /// `data: {"error": …}` in the stream.
    ErrorObject(Value),
    /// Text that is sent unchanged, including invalid JSON.
    Raw(String),
    /// Bytes that are sent unchanged, including invalid UTF-8.
    RawBytes(Vec<u8>),
    /// Ends with this reason, the usage and `[DONE]`.
    Finish(String),
    /// Ends with `[DONE]` alone.
    Done,
    /// Ends the body properly, without an end marker.
    End,
    /// Drops the connection.
    Cut,
    /// Sends nothing more, and keeps the connection open.
    Hang,
}

/// The format of thinking on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingFormat {
    #[default]
    ReasoningContent,
    Reasoning,
    /// Content as an array of typed parts.
    Parts,
    /// `<think>` tags in the text.
    Tags,
}

/// The requests that a script answers. All conditions must hold.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct When {
    /// The last user message contains this text.
    #[serde(default)]
    pub user_contains: Option<String>,
    /// The model has this name. It is also listed.
    #[serde(default)]
    pub model: Option<String>,
    /// The request ends with a tool's output that contains this text.
    #[serde(default)]
    pub tool_gave: Option<String>,
    /// The request is for an image, and its prompt contains this text. No other script answers such a request.
    #[serde(default)]
    pub image_prompt: Option<String>,
}

/// The part of a request that selects the script.
#[derive(Debug)]
pub(crate) struct RequestSummary {
    pub model: String,
    /// The last message of a user.
    pub user: String,
    /// The last message, if it is a tool's output.
    pub tool: Option<String>,
    /// The prompt of a request for an image.
    pub image_prompt: Option<String>,
}

impl When {
    pub fn user_contains(text: impl Into<String>) -> Self {
        Self {
            user_contains: Some(text.into()),
            ..Self::default()
        }
    }

    pub fn model(name: impl Into<String>) -> Self {
        Self {
            model: Some(name.into()),
            ..Self::default()
        }
    }

    pub fn tool_gave(text: impl Into<String>) -> Self {
        Self {
            tool_gave: Some(text.into()),
            ..Self::default()
        }
    }

    pub fn image_prompt(text: impl Into<String>) -> Self {
        Self {
            image_prompt: Some(text.into()),
            ..Self::default()
        }
    }

    pub fn any() -> Self {
        Self::default()
    }

    pub(crate) fn matches(&self, asked: &RequestSummary) -> bool {
        let contains = |part: &Option<String>, whole: Option<&str>| {
            let part = part.as_deref();
            part.is_none_or(|part| whole.is_some_and(|whole| whole.contains(part)))
        };
        self.image_prompt.is_some() == asked.image_prompt.is_some()
            && contains(&self.image_prompt, asked.image_prompt.as_deref())
            && contains(&self.user_contains, Some(&asked.user))
            && contains(&self.tool_gave, asked.tool.as_deref())
            && self.model.as_deref().is_none_or(|name| name == asked.model)
    }
}

impl Script {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn with_thinking_format(mut self, thinking: ThinkingFormat) -> Self {
        self.thinking = thinking;
        self
    }

    pub fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    pub fn think(self, text: impl Into<String>) -> Self {
        self.step(Step::Think(text.into()))
    }

    pub fn text(self, text: impl Into<String>) -> Self {
        self.step(Step::Text(text.into()))
    }

    pub fn stream(self, text: impl Into<String>, per_second: f64) -> Self {
        self.step(Step::Stream {
            text: text.into(),
            per_second,
        })
    }

    pub fn tokens(self, count: u64, per_second: f64) -> Self {
        self.step(Step::Tokens { count, per_second })
    }

    pub fn tool_call(
        self,
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        self.step(Step::ToolCall {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
        })
    }

    pub fn gate(self, name: impl Into<String>) -> Self {
        self.step(Step::Gate(name.into()))
    }

    pub fn pause(self, milliseconds: u64) -> Self {
        self.step(Step::Pause(milliseconds))
    }

    pub fn status(self, code: u16, body: impl Into<Value>, headers: &[(&str, &str)]) -> Self {
        let headers = headers
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).into()))
            .collect();
        self.step(Step::Status {
            code,
            body: body.into(),
            headers,
        })
    }

    pub fn content_type(self, media_type: impl Into<String>) -> Self {
        self.step(Step::ContentType(media_type.into()))
    }

    pub fn error_object(self, error: Value) -> Self {
        self.step(Step::ErrorObject(error))
    }

    pub fn raw(self, text: impl Into<String>) -> Self {
        self.step(Step::Raw(text.into()))
    }

    pub fn raw_bytes(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.step(Step::RawBytes(bytes.into()))
    }

    pub fn finish(self, reason: impl Into<String>) -> Self {
        self.step(Step::Finish(reason.into()))
    }

    pub fn done(self) -> Self {
        self.step(Step::Done)
    }

    pub fn end(self) -> Self {
        self.step(Step::End)
    }

    pub fn cut(self) -> Self {
        self.step(Step::Cut)
    }

    pub fn hang(self) -> Self {
        self.step(Step::Hang)
    }
}
