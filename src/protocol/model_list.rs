//! What the chat page and the server ask each other besides the event stream.

use serde::{Deserialize, Serialize};

use super::flat_json::Fields;

/// The tool that searches the web. The person can ask for it with a button; for others, in words.
pub const WEB_SEARCH: &str = "web_search";

/// A model that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct ModelInfo {
    /// `endpoint/model`: what a conversation remembers.
    pub id: String,
    /// The name to show.
    pub name: String,
    /// The endpoint that serves it, as the settings name it.
    pub endpoint: String,
}

/// The models there are, and what is wrong with endpoints that could not be asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct ModelList {
    pub models: Vec<ModelInfo>,
    /// The model that a new conversation starts with, if there is one.
    pub default: Option<String>,
    pub problems: Vec<super::RunError>,
    /// Whether they are offered a tool that searches the web.
    #[serde(default)]
    pub can_search: bool,
}
