//! Actions that the page performs when the user presses their button. The browser has the same names
//! (`ui::transcript::actions`, and the page's folder in `ui`). Other client actions that the
//! model suggests are not shown.

/// An action of the page.
#[derive(Debug)]
pub struct ClientAction {
    pub name: &'static str,
    /// The action's data, as described to the model; empty if it needs none. The name describes the action
    /// itself.
    pub data_instructions: &'static str,
}

/// The actions of every page. All of them can be undone.
pub const COMMON_ACTIONS: [&ClientAction; 4] = [
    &ClientAction {
        name: "close_chat",
        data_instructions: "",
    },
    &ClientAction {
        name: "new_conversation",
        data_instructions: "",
    },
    &ClientAction {
        name: "copy_answer",
        data_instructions: "",
    },
    &ClientAction {
        name: "open_payload",
        data_instructions: "{\"payload_id\": \"its id\"}",
    },
];

const INSTRUCTIONS_INTRO: &str = "Or with buttons for what to do next:\n\
     SUGGESTED_ACTIONS: [{\"label\": \"Shorten it\", \"action\": \"shorten\", \"handler\": \"server\", \"data\": {\"words\": 100}, \"style\": \"primary\"}]\n\
     A \"server\" action comes back to you, with its data, as the person's next turn. Style: primary, secondary, or warning if it can't \
     be undone. A \"client\" action is done by the page, which knows only";

/// Returns the instructions for the model about these actions.
pub fn instructions(actions: &[&ClientAction]) -> String {
    let descriptions: Vec<String> = actions
        .iter()
        .map(|action| match action.data_instructions {
            "" => action.name.to_owned(),
            data => format!("{} (data: {data})", action.name),
        })
        .collect();
    format!("{INSTRUCTIONS_INTRO} {}.", descriptions.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documented_action_exists() {
        let docs = include_str!("../../../docs/tools.md");
        let named: Vec<&str> = docs
            .split("\"action\": \"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
            .collect();
        assert!(!named.is_empty());
        for name in named {
            assert!(COMMON_ACTIONS.iter().any(|action| action.name == name), "{name}");
        }
    }
}
