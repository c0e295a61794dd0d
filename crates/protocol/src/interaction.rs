//! The way in which a user wrote a message: by typing it, or by choosing what an answer suggested.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flat_json::Fields;

/// The action of a message with which a fresh Python session begins: earlier calls are not repeated for it.
pub const FRESH_SESSION: &str = "fresh_session";

/// The origin of the user's message. It is not part of the message's text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "interaction_type", rename_all = "snake_case", try_from = "Fields")]
#[schemars(!try_from)]
pub enum Interaction {
    /// The user typed it.
    #[default]
    TextInput,
    /// The user chose a value that the previous answer suggested.
    ValueSelected,
    /// The user pressed the button of an action that the previous answer suggested and the server performs.
    ActionExecuted {
        /// The action.
        action: String,
        /// The action's data, as JSON text exactly as in the answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<String>,
    },
}
