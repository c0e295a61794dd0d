//! The request of a model call: messages, tools and parameters.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{ToolSpec, ToolUse};
use parlor_protocol::{Attachment, AttachmentId, FileProblem, Parameters, ProviderData, RawJson};

/// A call of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRequest {
    /// The model's id, `endpoint/model`.
    pub model: String,
    pub messages: Vec<ModelMessage>,
    /// The offered tools.
    pub tools: Vec<Arc<ToolSpec>>,
    /// The names of the tools that the model has to use.
    pub force_tools: Vec<String>,
    /// True if the last message only asks for the rest of the answer before it. A server that continues such an
    /// answer by itself does not need it.
    pub continues_answer: bool,
    /// The JSON Schema of the answer, which the messages name too: servers that can keep the model to it.
    pub answer_schema: Option<Arc<Value>>,
    /// Sampling and thinking parameters.
    pub parameters: Parameters,
}

impl ModelRequest {
    /// Creates a request without tools and with the server's default parameters.
    pub fn new(model: impl Into<String>, messages: Vec<ModelMessage>) -> Self {
        Self {
            model: model.into(),
            messages,
            tools: Vec::new(),
            force_tools: Vec::new(),
            continues_answer: false,
            answer_schema: None,
            parameters: Parameters::default(),
        }
    }

    /// Returns the messages as JSON for the diagnostics.
    pub fn shown_messages(&self) -> Vec<Value> {
        self.messages.iter().map(ModelMessage::to_json).collect()
    }

    /// Returns the tools as JSON for the diagnostics.
    pub fn shown_tools(&self) -> Vec<Value> {
        self.tools.iter().map(|tool| tool.to_json()).collect()
    }

    /// Returns a copy that may be shown: provider data and files are replaced by their sizes.
    pub fn without_provider_data(&self) -> Self {
        let mut request = self.clone();
        for message in &mut request.messages {
            match message {
                ModelMessage::File(file) => {
                    file.base64 = format!("(a file: {} bytes)", file.bytes).into();
                }
                ModelMessage::Assistant {
                    tool_calls,
                    provider_data,
                    ..
                } => {
                    let call_data = tool_calls.iter_mut().flat_map(|call| &mut call.provider_data);
                    for data in provider_data.iter_mut().chain(call_data) {
                        let placeholder =
                            format!("(for the provider alone: {} bytes)", data.value.as_str().len());
                        data.value = RawJson::parse_or_quote(&placeholder);
                    }
                }
                ModelMessage::System(_) | ModelMessage::User(_) | ModelMessage::Tool { .. } => {}
            }
        }
        request
    }
}

/// A message as the model receives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelMessage {
    System(String),
    User(String),
    /// A file of the user's message before it, or of the tool outputs before it.
    File(ModelFile),
    /// The model's output: text and tool calls.
    Assistant {
        text: String,
        /// The thinking before the tool calls, if it is sent back.
        thinking: Option<String>,
        tool_calls: Vec<ToolUse>,
        /// The endpoint's provider data of the whole answer.
        provider_data: Vec<ProviderData>,
    },
    /// The output of a tool.
    Tool {
        tool_use_id: String,
        output: String,
    },
}

/// A file as a model receives it: an image or a PDF file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFile {
    pub id: AttachmentId,
    pub name: String,
    pub media_type: String,
    /// The size of the stored file, in bytes.
    pub bytes: usize,
    /// The size of a document's text in bytes, if it has one.
    pub text_bytes: Option<usize>,
    /// The reason why a document has no text.
    pub problem: Option<FileProblem>,
    /// The estimated tokens; 0 until the call is prepared, and if the file is only named.
    pub tokens: usize,
    /// The content; empty until the file is read, which happens before a call.
    pub base64: Arc<str>,
}

impl ModelFile {
    /// Returns true for an image.
    pub fn is_image(&self) -> bool {
        self.media_type.starts_with("image/")
    }

    /// Returns the content as a URL.
    pub fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.media_type, self.base64)
    }
}

impl From<&Attachment> for ModelFile {
    fn from(file: &Attachment) -> Self {
        Self {
            id: file.id,
            name: file.name.clone(),
            media_type: file.media_type.clone(),
            bytes: file.bytes,
            text_bytes: file.text_bytes,
            problem: file.problem,
            tokens: 0,
            base64: "".into(),
        }
    }
}

impl ModelMessage {
    /// Returns the message as JSON for the diagnostics, in the form of OpenAI's chat completions.
    pub fn to_json(&self) -> Value {
        match self {
            Self::System(text) => json!({ "role": "system", "content": text }),
            Self::User(text) => json!({ "role": "user", "content": text }),
            Self::File(file) => json!({
                "role": "user",
                "content": [{ "type": "file", "name": file.name, "media_type": file.media_type, "data": *file.base64 }],
            }),
            Self::Assistant {
                text,
                thinking,
                tool_calls,
                provider_data,
            } => {
                let mut message = json!({ "role": "assistant", "content": text });
                if let Some(thinking) = thinking {
                    message["reasoning_content"] = json!(thinking);
                }
                if !tool_calls.is_empty() {
                    message["tool_calls"] = tool_calls.iter().map(ToolUse::to_json).collect();
                }
                let call_data = tool_calls.iter().flat_map(|call| &call.provider_data);
                let data: Value = provider_data
                    .iter()
                    .chain(call_data)
                    .map(|data| json!({ "field": data.field, "value": data.value }))
                    .collect();
                if data.as_array().is_some_and(|data| !data.is_empty()) {
                    message["provider_data"] = data;
                }
                message
            }
            Self::Tool { tool_use_id, output } => {
                json!({ "role": "tool", "tool_call_id": tool_use_id, "content": output })
            }
        }
    }

    /// An answer without tools.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::Assistant {
            text: text.into(),
            thinking: None,
            tool_calls: Vec::new(),
            provider_data: Vec::new(),
        }
    }
}
