//! Actions that the page performs when the user presses their button. The browser has the same names
//! (`ui::transcript::actions`). Other client actions that the model suggests are not shown; the diagnostics name them.

/// The actions of every page. All of them can be undone.
pub const CLIENT_ACTIONS: [&str; 4] = ["close_chat", "new_conversation", "copy_answer", OPEN];

/// The action that opens something: a payload, or what a page names by its fields.
pub const OPEN: &str = "open";

/// Something that a page can open, as described to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The data of the action: the page and its fields, as a JSON object.
    pub data: &'static str,
    /// The same as an address for links in answers.
    pub address: &'static str,
}

const INTRO: &str = "Or with buttons for what to do next:\n\
     SUGGESTED_ACTIONS: [{\"label\": \"Shorten it\", \"action\": \"shorten\", \"handler\": \"server\", \"data\": {\"words\": 100}, \"style\": \"primary\"}]\n\
     A \"server\" action comes back to you, with its data, as the person's next turn. Style: primary, secondary, or warning if it can't \
     be undone. A \"client\" action is done by the page, which knows only";

/// Returns the instructions for the model about the actions of the page, and about what can be opened.
pub fn instructions(openings: &[Opening]) -> String {
    let names = CLIENT_ACTIONS.join(", ");
    let mut data = vec![r#"{"payload_id": "its id"}"#];
    data.extend(openings.iter().map(|opening| opening.data));
    let mut text = format!("{INTRO} {names} (data: {}).", data.join(" or "));
    if !openings.is_empty() {
        let addresses: Vec<&str> = openings.iter().map(|opening| opening.address).collect();
        text.push_str(&format!(
            " In a text, link to the same: {}.",
            addresses.join(", ")
        ));
    }
    text
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
            assert!(CLIENT_ACTIONS.contains(&name), "{name}");
        }
    }
}
