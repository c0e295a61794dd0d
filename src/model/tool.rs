//! Tools as the model and the agent know them. What a tool is and does is in `tools`.

use std::fmt;

use crate::protocol::{Attachment, Opaque, PayloadRef};

/// A tool as a model is told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// What it takes, as a JSON schema.
    pub parameters: serde_json::Value,
}

/// A tool call that a model has made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolUse {
    pub id: String,
    pub name: String,
    /// As the model gave them.
    pub arguments: String,
    /// What its endpoint said beside it, for itself.
    pub opaque: Vec<Opaque>,
}

/// The tools that the model may ask for.
pub trait Toolbox: fmt::Debug + Send + Sync {
    /// What a call would come to. `arguments` is what the model gave: JSON, as it should be.
    ///
    /// # Errors
    ///
    /// If there is no such tool or the arguments do not fit: what the model is told.
    fn plan(&self, tool: &str, arguments: &str) -> Result<ToolPlan, String>;
}

/// What a tool call would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolPlan {
    /// What the tool is doing, for the person: "Searching the web".
    pub label: String,
    /// What it does that with: the query, the address.
    pub detail: Option<String>,
    /// Whether a person must allow it first.
    pub needs_approval: bool,
    /// Whether it may run again if it is not known what came of it.
    pub is_idempotent: bool,
}

/// What a tool call has come to.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutcome {
    /// What the tool has done, for the person: "Searched".
    pub label: String,
    /// What the model is told; the error, if it is one.
    pub output: Result<String, String>,
    pub artifacts: ToolArtifacts,
}

/// What a tool has made for the person, which is kept already.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolArtifacts {
    /// For the panel.
    pub payload: Option<PayloadRef>,
    /// Files.
    pub attachments: Vec<Attachment>,
}
