//! Tools as the model and the agent see them. Their implementations are in `tools`.

use std::{any::Any, fmt};

use serde_json::{Value, json};

use parlor_protocol::{Attachment, PayloadRef, ProviderData, TokenTotals};

/// A tool's description for a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// The JSON schema of the arguments.
    pub input_schema: Value,
}

impl ToolSpec {
    /// Returns the description as JSON for the diagnostics, in the form of OpenAI's chat completions.
    pub fn to_json(&self) -> Value {
        let Self {
            name,
            description,
            input_schema,
        } = self;
        let function = json!({ "name": name, "description": description, "parameters": input_schema });
        json!({ "type": "function", "function": function })
    }
}

/// A tool call of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolUse {
    pub id: String,
    pub name: String,
    /// The arguments as the model wrote them.
    pub arguments: String,
    /// The endpoint's provider data of the call.
    pub provider_data: Vec<ProviderData>,
}

impl ToolUse {
    /// Returns the call as JSON for the diagnostics.
    pub(super) fn to_json(&self) -> Value {
        let function = json!({ "name": self.name, "arguments": self.arguments });
        json!({ "id": self.id, "type": "function", "function": function })
    }
}

/// The tools that the model may request.
pub trait Toolbox: fmt::Debug + Send + Sync {
    /// Plans a call without running it. `arguments` is the model's text, which should be JSON.
    ///
    /// # Errors
    ///
    /// If there is no such tool or the arguments are invalid. The error is the output for the model.
    fn plan(&self, tool: &str, arguments: &str) -> Result<ToolPlan, String>;

    /// Returns true if the output of this tool may be a source of the answer: the tool declares that it finds sources. Other tools
    /// return what the model has given them, such as code that prints a URL.
    fn finds_sources(&self, tool: &str) -> bool;
}

/// The arguments of a tool call: the model's text, and what the tool has parsed from it. Two are equal if
/// their texts are.
pub struct ToolInput {
    arguments: String,
    parsed: Box<dyn Any + Send>,
}

impl ToolInput {
    pub fn new(arguments: &str, parsed: impl Any + Send) -> Self {
        Self {
            arguments: arguments.to_owned(),
            parsed: Box::new(parsed),
        }
    }

    /// Returns the arguments as the model wrote them.
    pub fn arguments(&self) -> &str {
        &self.arguments
    }

    /// Returns the parsed arguments, or `None` if a tool with another type of input has parsed them.
    pub fn into_parsed<T: Any>(self) -> Option<T> {
        self.parsed.downcast().ok().map(|parsed| *parsed)
    }
}

impl PartialEq for ToolInput {
    fn eq(&self, other: &Self) -> bool {
        self.arguments == other.arguments
    }
}

impl fmt::Debug for ToolInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ToolInput").field(&self.arguments).finish()
    }
}

/// The plan of a tool call.
#[derive(Debug, PartialEq)]
pub struct ToolPlan {
    /// The arguments, parsed.
    pub input: ToolInput,
    /// The tool's activity for the user, for example "Searching the web".
    pub label: String,
    /// The object of the activity: the query, the URL.
    pub detail: Option<String>,
    /// True if a user must approve the call first.
    pub needs_approval: bool,
    /// True if the call may be repeated if its outcome is unknown.
    pub is_idempotent: bool,
}

/// The outcome of a tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutcome {
    /// The tool's completed activity for the user, for example "Searched".
    pub label: String,
    /// The output or the error for the model.
    pub output: Result<String, String>,
    pub artifacts: ToolArtifacts,
    /// The tokens and the cost of the models that the tool called.
    pub usage: Option<TokenTotals>,
}

/// The objects that a tool has made for the user. They are already stored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolArtifacts {
    /// A payload for the panel.
    pub payload: Option<PayloadRef>,
    /// Files.
    pub attachments: Vec<Attachment>,
}
