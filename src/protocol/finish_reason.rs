//! Why a model stopped.

use serde::{Deserialize, Serialize};

/// Why the last call of a run's model stopped, as its server says. On the wire and in the database it is a string; one that is not
/// known is kept as it came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum FinishReason {
    /// The answer is whole.
    Stop,
    /// The answer reached the longest one allowed: the model's, the request's or Parlor's own.
    Length,
    /// The model waits for the results of its tool calls.
    ToolCalls,
    /// The model server held the rest back.
    ContentFilter,
    /// The model refused to answer.
    Refusal,
    /// The model server held the rest back, for safety.
    Safety,
    /// The model server interrupted a long turn, which can go on.
    PauseTurn,
    /// The model asked for a tool in a form that its own server could not read.
    MalformedFunctionCall,
    /// Any other, which counts as a natural end.
    Other(String),
}

/// The known reasons and their names.
const NAMES: [(FinishReason, &str); 8] = [
    (FinishReason::Stop, "stop"),
    (FinishReason::Length, "length"),
    (FinishReason::ToolCalls, "tool_calls"),
    (FinishReason::ContentFilter, "content_filter"),
    (FinishReason::Refusal, "refusal"),
    (FinishReason::Safety, "safety"),
    (FinishReason::PauseTurn, "pause_turn"),
    (FinishReason::MalformedFunctionCall, "malformed_function_call"),
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

    /// Whether the answer has a natural end that *Continue* can go beyond.
    pub fn is_cut_short(&self) -> bool {
        matches!(self, Self::Length | Self::PauseTurn)
    }

    /// Whether somebody decided that there should be no (more) answer.
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
    use crate::protocol::json;

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
