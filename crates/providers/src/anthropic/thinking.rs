//! The form in which a model takes thinking: an effort, a budget of tokens, or none.

use serde_json::{Map, Value, json};

use super::Feature;
use parlor_protocol::{ModelCapabilities, ThinkingChoice, ThinkingLevel};

/// The smallest budget that the API accepts, in tokens.
pub const MIN_BUDGET_TOKENS: usize = 1024;

/// The part of the maximum length that thinking leaves for the answer, in tokens.
const MIN_ANSWER_TOKENS: usize = 1024;

/// The form of the request for thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkingForm {
    /// The model decides, guided by an effort.
    Adaptive,
    /// A budget in tokens.
    Budget,
    /// The model can't think, or can't be told to.
    None,
}

impl ThinkingForm {
    /// Returns the form for a model. A rejected form is replaced by the other one.
    pub fn choose(capabilities: &ModelCapabilities, takes: impl Fn(Feature) -> bool) -> Self {
        let first = match &capabilities.thinking {
            Some(thinking) if !thinking.supported => return Self::None,
            Some(thinking) if thinking.levels.iter().any(|level| *level != ThinkingLevel::Off) => {
                Self::Adaptive
            }
            Some(thinking) if thinking.budget_range().is_some() => Self::Budget,
            Some(_) => return Self::None,
            None => Self::Adaptive,
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

/// Adds the request for adaptive thinking, with its effort if the server takes one.
pub fn add_adaptive(fields: &mut Map<String, Value>, choice: ThinkingChoice, takes_effort: bool) {
    // Newer models leave out their thinking otherwise.
    let adaptive = json!({ "type": "adaptive", "display": "summarized" });
    fields.insert("thinking".into(), adaptive);
    let effort = match choice.nearest_level() {
        ThinkingLevel::Off | ThinkingLevel::On => return,
        // There is no lower one.
        ThinkingLevel::Minimal => ThinkingLevel::Low,
        level => level,
    };
    if takes_effort {
        fields.insert("output_config".into(), json!({ "effort": effort.as_str() }));
    }
}

/// Returns the budget of a choice, which has to be smaller than the whole answer. Returns `None` for an answer
/// that is too short for any.
pub fn budget(choice: ThinkingChoice, max_tokens: u64) -> Option<usize> {
    let wanted = match choice {
        ThinkingChoice::Level(level) => level.budget(),
        ThinkingChoice::Budget(tokens) => tokens,
    };
    let max_tokens = usize::try_from(max_tokens).unwrap_or(usize::MAX);
    let room = max_tokens
        .saturating_sub(MIN_ANSWER_TOKENS)
        .max(MIN_BUDGET_TOKENS);
    (max_tokens > MIN_BUDGET_TOKENS).then_some(wanted.clamp(MIN_BUDGET_TOKENS, room))
}
