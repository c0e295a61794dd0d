//! The reasons for which a model stops.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The reason for which the last model call of a run stopped, as the model server reports it: `stop`, `length` (the answer
/// reached a length limit of the model, the request or Parlor, and can be continued), `pause_turn` (the model server
/// paused a long turn, which can be continued), `tool_calls`, `content_filter`, `refusal`, `safety`,
/// `malformed_function_call`, or any other word. Two are Parlor's own: `steered` (the run ended after its tool calls, so that
/// the model gets the user's next message; setting `agent.steer`) and `tool_limit` (the model requested further tools than
/// `agent.max_iterations` allows; the answer can be continued without them).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", into = "String")]
pub enum FinishReason {
    /// The answer is complete.
    Stop,
    /// The answer reached a maximum length: the model's, the request's or Parlor's own.
    Length,
    /// The model waits for the results of its tool calls.
    ToolCalls,
    /// The model server withheld the rest.
    ContentFilter,
    /// The model refused to answer.
    Refusal,
    /// The model server withheld the rest, for safety.
    Safety,
    /// The model server interrupted a long turn, which can be continued.
    PauseTurn,
    /// The model called a tool in a form that its own server could not parse.
    MalformedFunctionCall,
    /// Parlor ended the run after its tool calls, for the user's next message.
    Steered,
    /// Parlor did not run the last tool calls: the run had called as many tools in turn as are allowed.
    ToolLimit,
    /// Any other, which counts as a natural end.
    Other(String),
}

/// The known reasons and their names.
const NAMES: [(FinishReason, &str); 10] = [
    (FinishReason::Stop, "stop"),
    (FinishReason::Length, "length"),
    (FinishReason::ToolCalls, "tool_calls"),
    (FinishReason::ContentFilter, "content_filter"),
    (FinishReason::Refusal, "refusal"),
    (FinishReason::Safety, "safety"),
    (FinishReason::PauseTurn, "pause_turn"),
    (FinishReason::MalformedFunctionCall, "malformed_function_call"),
    (FinishReason::Steered, "steered"),
    (FinishReason::ToolLimit, "tool_limit"),
];

impl FinishReason {
    /// The name on the wire and in the database.
    pub fn as_str(&self) -> &str {
        if let Self::Other(name) = self {
            return name;
        }
        let known = NAMES.iter().find(|(reason, _)| reason == self);
        known.map_or("", |(_, name)| name)
    }

    /// Returns true if the answer ended at a limit and *Continue* can go beyond it.
    pub fn is_cut_short(&self) -> bool {
        matches!(self, Self::Length | Self::PauseTurn | Self::ToolLimit)
    }

    /// Returns true if the model or its server decided not to give an answer, or the rest of it.
    pub fn is_withheld(&self) -> bool {
        matches!(self, Self::ContentFilter | Self::Refusal | Self::Safety)
    }
}

impl From<String> for FinishReason {
    fn from(name: String) -> Self {
        let known = NAMES.into_iter().find(|(_, known)| *known == name);
        known.map_or(Self::Other(name), |(reason, _)| reason)
    }
}

impl From<FinishReason> for String {
    fn from(reason: FinishReason) -> Self {
        reason.as_str().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn every_reason_round_trips() {
        let others = [FinishReason::Other("eos_of_the_future".into())];
        for reason in NAMES.map(|(reason, _)| reason).into_iter().chain(others) {
            let written = serde_json::to_string(&reason).unwrap();
            assert_eq!(
                serde_json::from_str::<FinishReason>(&written).unwrap(),
                reason,
                "{written}"
            );
            assert_eq!(json::parse(written.as_bytes()), Ok(reason), "{written}");
        }
    }
}
