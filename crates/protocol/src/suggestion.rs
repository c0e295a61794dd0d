//! An answer's suggestions besides its text: values to send, actions to take, sources to look up.
//!
//! The model writes them as control text, which `control` on the server parses. Here are the types that the
//! server and the browser share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Passage;

/// A value to send next, with one click.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuggestedValue {
    pub label: String,
    pub value: String,
}

/// An action to take next, shown as a button.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "EventAction")]
pub struct SuggestedAction {
    pub label: String,
    /// The name under which the page or the server has registered the action.
    pub action: String,
    pub handler: ActionHandler,
    /// The action's data, as JSON text.
    // The page passes it on without parsing it: code that parses any JSON would make the WASM larger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    #[serde(default)]
    pub style: ActionStyle,
    /// True if the action was taken already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub taken: bool,
}

/// The side that performs an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActionHandler {
    /// The page, in which the action is registered.
    Client,
    /// The server, as the user's next turn.
    Server,
}

/// The style of an action's button.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActionStyle {
    /// The button of the recommended action.
    Primary,
    /// The button of any other action.
    #[default]
    Secondary,
    /// The button of an action that can't be undone.
    Warning,
}

/// A source of a statement, as the model names it.
// Whether a tool really returned it, and whether its URL may be a link, is checked elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Source")]
pub struct CitedSource {
    /// The number by which the text cites it, as in `[1]`: its index among all that the model named, some of
    /// which may be left out.
    #[serde(default)]
    pub number: usize,
    #[serde(default)]
    pub title: String,
    /// Empty for a document or a file, which has only a title.
    pub url: String,
    /// The passage that the model quotes. A source that Parlor has the text of, an article or a file, counts only with one that
    /// is found there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passage: Option<Passage>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

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
