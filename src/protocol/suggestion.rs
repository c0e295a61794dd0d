//! What an answer offers beside its text: values to send, actions to take, sources to look up.
//!
//! The model writes them as control text, and `control` on the server reads that; here is what both halves know.

use serde::{Deserialize, Serialize};

/// Something to say next: a click sends the value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuggestedValue {
    pub label: String,
    pub value: String,
}

/// Something to do next: a button.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuggestedAction {
    pub label: String,
    /// The name under which the page or the server knows it.
    pub action: String,
    pub handler: ActionHandler,
    /// What goes with the action, as JSON text: the page hands it on and does not look into it, and reading any JSON there
    /// is would make the WASM larger (see [`json`](super::json)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    #[serde(default)]
    pub style: ActionStyle,
    /// Somebody has taken it already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub taken: bool,
}

/// Who performs an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionHandler {
    /// The page, which has registered it.
    Client,
    /// The server, as the person's next turn.
    Server,
}

/// How an action's button looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionStyle {
    Primary,
    #[default]
    Secondary,
    /// For what cannot be undone.
    Warning,
}

/// Where a statement comes from, as the model says. Whether a tool really returned it is for others to check, and so is
/// whether its address may be a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CitedSource {
    /// By which the text cites it, as in `[1]`: its place among those that the model named, of which some may be left out.
    #[serde(default)]
    pub number: usize,
    #[serde(default)]
    pub title: String,
    pub url: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::json;

    #[test]
    fn both_readers_agree_on_actions() {
        let action = SuggestedAction {
            label: "Save".into(),
            action: "save_article".into(),
            handler: ActionHandler::Server,
            data: Some(r#"{"weight":0.5}"#.into()),
            style: ActionStyle::Primary,
            taken: false,
        };
        let wire = serde_json::to_string(&action).unwrap();
        assert_eq!(json::parse::<SuggestedAction>(wire.as_bytes()), Ok(action));
    }

    #[test]
    fn action_style_defaults_to_secondary() {
        let wire = br#"{"label":"Close","action":"close_chat","handler":"client"}"#;
        let action = SuggestedAction {
            label: "Close".into(),
            action: "close_chat".into(),
            handler: ActionHandler::Client,
            data: None,
            style: ActionStyle::Secondary,
            taken: false,
        };
        assert_eq!(json::parse::<SuggestedAction>(wire), Ok(action));
    }
}
