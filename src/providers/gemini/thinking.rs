//! The form in which a model takes thinking: a level, a budget of tokens, or none.

use serde_json::{Value, json};

use super::Feature;
use crate::{protocol::ThinkingLevel, providers::catalog::ListedModel};

/// The first generation whose thinking has levels, and the first one that thinks at all, in tenths.
const FIRST_WITH_LEVELS: u32 = 30;
const FIRST_WITH_THINKING: u32 = 25;

/// The form of the request for thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkingForm {
    /// `thinkingLevel`: minimal, low, medium or high.
    Level,
    /// `thinkingLevel`: low or high.
    TwoLevels,
    /// `thinkingBudget`, in tokens.
    Budget,
    /// The model can't think.
    None,
}

impl ThinkingForm {
    /// Returns the form for a model, by its generation and what the list says.
    pub fn choose(model: &str, listed: Option<&ListedModel>, takes: impl Fn(Feature) -> bool) -> Self {
        let says = listed.and_then(|listed| listed.entry["thinking"].as_bool());
        if !takes(Feature::Thinking) || says == Some(false) {
            return Self::None;
        }
        match generation(model) {
            Some(FIRST_WITH_LEVELS..) if takes(Feature::MiddleLevels) => Self::Level,
            Some(FIRST_WITH_LEVELS..) => Self::TwoLevels,
            Some(FIRST_WITH_THINKING..) => Self::Budget,
            // Names such as gemini-flash-latest have no generation.
            None if says == Some(true) => Self::Budget,
            _ => Self::None,
        }
    }

    /// Returns the setting of a request; `None` if the model can't think.
    pub fn config(self, level: Option<ThinkingLevel>) -> Option<Value> {
        let mut config = json!({ "includeThoughts": true });
        match (self, level) {
            (Self::None, _) => return None,
            (_, None) => {}
            (Self::Level, Some(level)) => config["thinkingLevel"] = level.as_str().into(),
            (Self::TwoLevels, Some(level)) => {
                config["thinkingLevel"] = match level {
                    ThinkingLevel::Minimal | ThinkingLevel::Low => "low",
                    ThinkingLevel::Medium | ThinkingLevel::High => "high",
                }
                .into();
            }
            (Self::Budget, Some(level)) => {
                config["thinkingBudget"] = match level {
                    ThinkingLevel::Minimal => 512,
                    ThinkingLevel::Low => 2048,
                    ThinkingLevel::Medium => 8192,
                    ThinkingLevel::High => 24_576,
                }
                .into();
            }
        }
        Some(config)
    }
}

/// Returns true for models that reject a function call without its signature.
pub fn needs_signatures(model: &str) -> bool {
    generation(model).is_some_and(|generation| generation >= FIRST_WITH_LEVELS)
}

/// Returns the generation in a model's name, in tenths: 25 for "gemini-2.5-pro".
pub fn generation(model: &str) -> Option<u32> {
    let (_, rest) = model
        .rsplit_once("gemini-")
        .filter(|(before, _)| !before.ends_with(char::is_alphanumeric))?;
    let number = rest.split('-').next()?;
    let (whole, tenth) = number.split_once('.').unwrap_or((number, "0"));
    let is_short = |text: &str| text.len() == 1;
    let (whole, tenth) = (
        is_short(whole).then_some(whole)?,
        is_short(tenth).then_some(tenth)?,
    );
    Some(whole.parse::<u32>().ok()? * 10 + tenth.parse::<u32>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_generation_in_a_name() {
        for (name, expected) in [
            ("gemini-3-pro-preview", Some(30)),
            ("gemini-3.1-pro-preview", Some(31)),
            ("gemini-2.5-flash", Some(25)),
            ("publishers/google/models/gemini-3-flash-preview", Some(30)),
            ("gemini-flash-latest", None),
            ("gemini-exp-1206", None),
            ("gemma-3-27b-it", None),
        ] {
            assert_eq!(generation(name), expected, "{name}");
        }
    }

    #[test]
    fn chooses_the_form_by_generation_list_and_rejections() {
        let listed = |thinks: bool| ListedModel {
            entry: json!({ "thinking": thinks }),
            ..ListedModel::default()
        };
        for (model, listed, rejected, expected) in [
            ("gemini-3-flash-preview", None, vec![], ThinkingForm::Level),
            (
                "gemini-3-pro-preview",
                None,
                vec![Feature::MiddleLevels],
                ThinkingForm::TwoLevels,
            ),
            (
                "gemini-3-pro-preview",
                None,
                vec![Feature::Thinking],
                ThinkingForm::None,
            ),
            ("gemini-2.5-pro", None, vec![], ThinkingForm::Budget),
            ("gemini-2.0-flash", None, vec![], ThinkingForm::None),
            (
                "gemini-2.5-flash-image",
                Some(listed(false)),
                vec![],
                ThinkingForm::None,
            ),
            (
                "gemini-flash-latest",
                Some(listed(true)),
                vec![],
                ThinkingForm::Budget,
            ),
        ] {
            let form = ThinkingForm::choose(model, listed.as_ref(), |feature| !rejected.contains(&feature));
            assert_eq!(form, expected, "{model} {rejected:?}");
        }
    }

    #[test]
    fn sends_levels_as_the_model_takes_them() {
        let config = |form: ThinkingForm, level| form.config(level);
        let thoughts = json!({ "includeThoughts": true });
        assert_eq!(config(ThinkingForm::Level, None), Some(thoughts));
        for (level, name) in ThinkingLevel::ALL
            .into_iter()
            .zip(["minimal", "low", "medium", "high"])
        {
            let sent = config(ThinkingForm::Level, Some(level)).unwrap();
            assert_eq!(sent["thinkingLevel"], name);
        }
        for (level, name) in ThinkingLevel::ALL.into_iter().zip(["low", "low", "high", "high"]) {
            let sent = config(ThinkingForm::TwoLevels, Some(level)).unwrap();
            assert_eq!(sent["thinkingLevel"], name);
        }
        let budget = config(ThinkingForm::Budget, Some(ThinkingLevel::Low)).unwrap();
        assert_eq!(budget, json!({ "includeThoughts": true, "thinkingBudget": 2048 }));
        assert_eq!(config(ThinkingForm::None, Some(ThinkingLevel::Low)), None);
    }
}
