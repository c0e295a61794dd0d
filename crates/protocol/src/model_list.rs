//! The models of the chat page, which it requests besides the event stream.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ModelCapabilities, RunError, flat_json::Fields};

/// A model that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from, rename = "Model")]
pub struct ModelInfo {
    /// `endpoint/model`, as stored with a conversation.
    pub id: String,
    /// The name to show.
    pub name: String,
    /// The endpoint that serves it, as the settings name it.
    pub endpoint: String,
    #[serde(default, skip_serializing_if = "ModelCapabilities::is_unknown")]
    pub capabilities: ModelCapabilities,
}

/// A problem of the list: an endpoint that could not be queried, an invalid setting, or an unusable MCP server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct ModelListProblem {
    /// The endpoint that could not be queried; missing if it is not about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// A code that does not change.
    pub code: String,
    pub message: String,
    /// The next step for the user.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hint: String,
}

impl ModelListProblem {
    /// Creates the problem of an endpoint.
    pub fn of_endpoint(endpoint: &str, error: RunError) -> Self {
        Self {
            endpoint: Some(endpoint.to_owned()),
            ..error.into()
        }
    }
}

impl From<RunError> for ModelListProblem {
    fn from(error: RunError) -> Self {
        Self {
            endpoint: None,
            code: error.code,
            message: error.message,
            hint: error.hint,
        }
    }
}

impl From<ModelListProblem> for RunError {
    fn from(problem: ModelListProblem) -> Self {
        Self {
            code: problem.code,
            message: problem.message,
            hint: problem.hint,
        }
    }
}

/// The available models, and the problems of endpoints that could not be queried.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct ModelList {
    pub models: Vec<ModelInfo>,
    /// The model that a new conversation starts with; null if there is none.
    pub default: Option<String>,
    /// Endpoints that could not be reached, an invalid default model, unusable MCP servers (`mcp_unavailable`), tools that a model
    /// server refuses (`tool_refused`), and tools beyond its limit (`tools_left_out`).
    pub problems: Vec<ModelListProblem>,
    /// True if models are offered a tool that searches the web.
    #[serde(default)]
    pub can_search: bool,
    /// True if this user may add model servers.
    #[serde(default)]
    pub can_connect: bool,
    /// True if this user may add keys of their own for services that are offered.
    #[serde(default)]
    pub can_bring_keys: bool,
}
