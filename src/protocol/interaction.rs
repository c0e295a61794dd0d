//! How a person said something: by typing it, or by pressing what an answer offered.

use serde::{Deserialize, Serialize};

use super::flat_json::Fields;

/// How a message of a person came to be. The text of a message never says so: only this does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "interaction_type", rename_all = "snake_case", try_from = "Fields")]
pub enum Interaction {
    /// They wrote it.
    #[default]
    TextInput,
    /// They chose a value that the answer before suggested.
    ValueSelected,
    /// They pressed the button of an action that the answer before suggested, and that the server performs.
    ActionExecuted {
        action: String,
        /// What goes with it, as JSON text, just as the answer had it.
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<String>,
    },
}
