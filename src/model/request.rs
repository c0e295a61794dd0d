//! What a model is asked: the messages, the tools and the parameters of one call.

use std::sync::Arc;

use super::{ToolSpec, ToolUse};
use crate::protocol::{Opaque, Parameters, RawJson};

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
                data.value = RawJson::parse_or_quote(&told);
            }
        }
        request
    }
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
