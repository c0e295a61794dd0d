//! Actions that the page performs when the person presses their button. The page knows them by the same names
//! (`ui::actions`); what the model suggests beyond them is not shown.

/// Something that the page does.
#[derive(Debug)]
pub struct ClientAction {
    pub name: &'static str,
    /// With which data, for the model; empty if it needs none. What it does is in its name.
    pub data_instructions: &'static str,
}

/// On the page *Literature*.
pub const OPEN_ARTICLE: ClientAction = ClientAction {
    name: "open_article",
    data_instructions: "{\"pmid\": \"its PMID\"}",
};

/// What every page does: nothing that could not be undone.
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

/// What the model is told of them.
pub fn instructions(actions: &[&ClientAction]) -> String {
    let known: Vec<String> = actions
        .iter()
        .map(|action| match action.data_instructions {
            "" => action.name.to_owned(),
            data => format!("{} (data: {data})", action.name),
        })
        .collect();
    format!("{INSTRUCTIONS_INTRO} {}.", known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documented_action_exists() {
        let docs = include_str!("../../docs/tools.md");
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
