//! The request fields for messages that were not typed.

use serde_json::Value;

use super::problem::{Problem, bad_request};
use parlor_protocol::Interaction;

/// Reads the type of an interaction with its fields.
///
/// # Errors
///
/// If the type is unknown, or an action has no name.
pub fn parse_interaction(
    interaction_type: Option<&str>,
    action: Option<&str>,
    data: Option<&Value>,
) -> Result<Interaction, Problem> {
    match (interaction_type, action) {
        (None | Some("text_input"), None) => Ok(Interaction::TextInput),
        (Some("value_selected"), None) => Ok(Interaction::ValueSelected),
        (Some("action_executed"), Some(action)) => Ok(Interaction::ActionExecuted {
            action: action.to_owned(),
            data: data.map(Value::to_string),
        }),
        _ => Err(bad_request(
            "interaction_type is text_input, value_selected, or action_executed; with the last one, and only with it, \
             goes the action.",
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn message_counts_as_typed_by_default() {
        let data = json!({"a": 1});
        assert_eq!(
            parse_interaction(None, None, None).ok(),
            Some(Interaction::TextInput)
        );
        assert_eq!(
            parse_interaction(Some("action_executed"), Some("save"), Some(&data)).ok(),
            Some(Interaction::ActionExecuted {
                action: "save".into(),
                data: Some(r#"{"a":1}"#.into()),
            })
        );
        for (interaction, action) in [
            (Some("thought"), None),
            (Some("action_executed"), None),
            (None, Some("save")),
            (Some("value_selected"), Some("save")),
        ] {
            let parsed = parse_interaction(interaction, action, None).ok();
            assert_eq!(parsed, None, "{interaction:?} {action:?}");
        }
    }
}
