//! The form in which a model takes thinking: an effort, a budget of tokens, or none.

use serde_json::Value;

use super::Feature;
use crate::{protocol::ThinkingLevel, providers::catalog::ListedModel};

/// The smallest budget that the API accepts, in tokens.
pub const MIN_BUDGET_TOKENS: u64 = 1024;

/// Models before adaptive thinking, by the beginnings of their names.
const BUDGET_MODELS: [&str; 9] = [
    "claude-3-7",
    "claude-opus-4-0",
    "claude-opus-4-1",
    "claude-opus-4-2",
    "claude-opus-4-5",
    "claude-sonnet-4-0",
    "claude-sonnet-4-2",
    "claude-sonnet-4-5",
    "claude-haiku-4-5",
];

/// Models that do not think, by the beginnings of their names.
const MODELS_WITHOUT_THINKING: [&str; 4] =
    ["claude-3-5", "claude-3-haiku", "claude-3-opus", "claude-3-sonnet"];

/// The form of the request for thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkingForm {
    /// The model decides, guided by an effort.
    Adaptive,
    /// A budget in tokens.
    Budget,
    /// The model can't think.
    None,
}

impl ThinkingForm {
    /// Returns the form for a model: what the list says, or else what its name suggests. A rejected form is
    /// replaced by the other one.
    pub fn choose(model: &str, listed: Option<&ListedModel>, takes: impl Fn(Feature) -> bool) -> Self {
        let says = |form: &str| {
            listed?
                .entry
                .pointer(&format!("/capabilities/thinking{form}/supported"))?
                .as_bool()
        };
        let begins = |names: &[&str]| names.iter().any(|name| model.starts_with(name));
        let first = if says("").is_some_and(|thinks| !thinks) {
            return Self::None;
        } else if says("/types/adaptive") == Some(true) {
            Self::Adaptive
        } else if says("/types/enabled") == Some(true) {
            Self::Budget
        } else if begins(&MODELS_WITHOUT_THINKING) {
            return Self::None;
        } else if begins(&BUDGET_MODELS) {
            Self::Budget
        } else {
            Self::Adaptive
        };
        let forms = match first {
            Self::Adaptive => [Self::Adaptive, Self::Budget],
            _ => [Self::Budget, Self::Adaptive],
        };
        let is_taken = |form: &Self| match form {
            Self::Adaptive => takes(Feature::AdaptiveThinking),
            _ => takes(Feature::BudgetThinking),
        };
        forms.into_iter().find(is_taken).unwrap_or(Self::None)
    }
}

/// Returns the effort of a level.
pub fn effort(level: ThinkingLevel) -> Value {
    match level {
        ThinkingLevel::Minimal | ThinkingLevel::Low => "low",
        ThinkingLevel::Medium => "medium",
        ThinkingLevel::High => "high",
    }
    .into()
}

/// Returns the budget of a level, which has to be smaller than the whole answer. Returns `None` for an answer
/// that is too short for any.
pub fn budget(level: ThinkingLevel, max_tokens: u64) -> Option<u64> {
    let wanted = match level {
        ThinkingLevel::Minimal => MIN_BUDGET_TOKENS,
        ThinkingLevel::Low => 4096,
        ThinkingLevel::Medium => 10_000,
        ThinkingLevel::High => 24_000,
    };
    let room = (max_tokens / 2).max(MIN_BUDGET_TOKENS);
    (max_tokens > MIN_BUDGET_TOKENS).then_some(wanted.min(room))
}
