//! The request fields for messages that were not typed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::problem::{Problem, bad_request};
use crate::protocol::Interaction;

/// The fields that describe the interaction of a request.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct InteractionFields {
    /// The way in which the user sent it. Default: `text_input`.
    #[schemars(extend("type" = "string", "enum" = ["text_input", "value_selected", "action_executed"]))]
    interaction_type: Option<String>,
    /// With `action_executed`: a server action offered by the last answer.
    action: Option<String>,
    /// With `action_executed`: the data of the action, unchanged.
    data: Option<Value>,
}

impl InteractionFields {
    /// # Errors
    ///
    /// If the type is unknown, or an action has no name.
    pub fn parse(&self) -> Result<Interaction, Problem> {
        match (self.interaction_type.as_deref(), &self.action) {
            (None | Some("text_input"), None) => Ok(Interaction::TextInput),
            (Some("value_selected"), None) => Ok(Interaction::ValueSelected),
            (Some("action_executed"), Some(action)) => Ok(Interaction::ActionExecuted {
                action: action.clone(),
                data: self.data.as_ref().map(Value::to_string),
            }),
            _ => Err(bad_request(
                "interaction_type is text_input, value_selected, or action_executed; with the last one, and only with it, \
                 goes the action.",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse_request(request: Value) -> Option<Interaction> {
        serde_json::from_value::<InteractionFields>(request)
            .expect("the fields")
            .parse()
            .ok()
    }

    #[test]
    fn message_counts_as_typed_by_default() {
        assert_eq!(parse_request(json!({})), Some(Interaction::TextInput));
        let pressed = json!({"interaction_type": "action_executed", "action": "save", "data": {"a": 1}});
        assert_eq!(
            parse_request(pressed),
            Some(Interaction::ActionExecuted {
                action: "save".into(),
                data: Some(r#"{"a":1}"#.into()),
            })
        );
        for odd in [
            json!({"interaction_type": "thought"}),
            json!({"interaction_type": "action_executed"}),
            json!({"action": "save"}),
            json!({"interaction_type": "value_selected", "action": "save"}),
        ] {
            assert_eq!(parse_request(odd.clone()), None, "{odd}");
        }
    }
}
