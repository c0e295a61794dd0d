//! The models of the chat page, which it requests besides the event stream.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flat_json::Fields;

/// The web search tool. The user can require it with a button; other tools only by asking in the message.
pub const WEB_SEARCH: &str = "web_search";

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
}

/// The available models, and the problems of endpoints that could not be queried.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct ModelList {
    pub models: Vec<ModelInfo>,
    /// The model that a new conversation starts with; null if there is none.
    pub default: Option<String>,
    /// Endpoints that could not be reached, an invalid default model, and unusable MCP servers (`mcp_unavailable`).
    pub problems: Vec<super::RunError>,
    /// True if models are offered a tool that searches the web.
    #[serde(default)]
    pub can_search: bool,
}
