//! Actions that the page performs when the person presses their button. The page knows them by the same names
//! (`ui::actions`); what the model suggests beyond them is not shown.

/// Something that the page does.
#[derive(Debug)]
pub struct ClientAction {
    pub name: &'static str,
    /// What it does, and with which data: for the model.
    pub does: &'static str,
}

/// On the page *Literature*.
pub const OPEN_ARTICLE: ClientAction = ClientAction {
    name: "open_article",
    does: "opens an article beside the chat; data: {\"pmid\": \"its PMID\"}",
};

/// What every page does: nothing that could not be undone.
pub const EVERYWHERE: [&ClientAction; 4] = [
    &ClientAction {
        name: "close_chat",
        does: "closes this chat, when the person is done with it",
    },
    &ClientAction {
        name: "new_conversation",
        does: "begins a new conversation",
    },
    &ClientAction {
        name: "copy_answer",
        does: "copies the text of this answer",
    },
    &ClientAction {
        name: "open_payload",
        does: "opens something that was shown earlier; data: {\"payload_id\": \"its id\"}",
    },
];

const HOW: &str = "You can offer what to do next as buttons. Put it last as well, on a line of its own, as JSON:\n\
     SUGGESTED_ACTIONS: [{\"label\": \"Make it shorter\", \"action\": \"shorten\", \"handler\": \"server\", \"data\": {\"words\": 100}, \"style\": \"primary\"}]\n\
     With \"handler\": \"server\" the action is yours: its name and data come back to you as the person's next turn, and you do it. \
     \"style\" is \"primary\", \"secondary\", or \"warning\" for what can't be undone. With \"handler\": \"client\" the page does \
     it, and only these are known there:";

/// What the model is told of them.
pub fn instructions(actions: &[&ClientAction]) -> String {
    let mut text = String::from(HOW);
    for action in actions {
        text.push_str(&format!("\n- {}: {}", action.name, action.does));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_action_is_one() {
        let docs = include_str!("../../docs/tools.md");
        let named: Vec<&str> = docs
            .split("\"action\": \"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
            .collect();
        assert!(!named.is_empty());
        for name in named {
            assert!(EVERYWHERE.iter().any(|action| action.name == name), "{name}");
        }
    }
}
