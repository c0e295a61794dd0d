//! The form in which a model takes thinking: a level, a budget of tokens, or none.

use serde_json::{Value, json};

use super::Feature;
use parlor_protocol::{ModelCapabilities, ThinkingChoice, ThinkingLevel};

/// The largest budget that every model with a budget takes, in tokens.
pub const MAX_BUDGET_TOKENS: usize = 24_576;

/// The first generation whose thinking has levels, and the first one that thinks at all, in tenths.
pub const FIRST_WITH_LEVELS: u32 = 30;
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
    /// Returns the form for a model: what is known of it, or else by its generation.
    pub fn choose(model: &str, capabilities: &ModelCapabilities, takes: impl Fn(Feature) -> bool) -> Self {
        let levels = match takes(Feature::MiddleLevels) {
            true => Self::Level,
            false => Self::TwoLevels,
        };
        match &capabilities.thinking {
            _ if !takes(Feature::Thinking) => Self::None,
            Some(thinking) if !thinking.supported => Self::None,
            Some(thinking) if thinking.has_graded_level() => levels,
            Some(thinking) if thinking.budget_range().is_some() => Self::Budget,
            // It thinks as it likes.
            Some(_) => levels,
            None => match generation(model) {
                Some(FIRST_WITH_LEVELS..) => levels,
                Some(FIRST_WITH_THINKING..) => Self::Budget,
                // Names such as gemini-flash-latest have no generation.
                _ => Self::None,
            },
        }
    }

    /// Returns the setting of a request; `None` if the model can't think.
    pub fn config(self, choice: Option<ThinkingChoice>) -> Option<Value> {
        let mut config = json!({ "includeThoughts": true });
        match (self, choice) {
            (Self::None, _) => return None,
            (_, None) => {}
            (Self::Level, Some(choice)) => config["thinkingLevel"] = nearest_level(choice).as_str().into(),
            (Self::TwoLevels, Some(choice)) => {
                config["thinkingLevel"] = match nearest_level(choice) {
                    ThinkingLevel::Minimal | ThinkingLevel::Low => "low",
                    _ => "high",
                }
                .into();
            }
            (Self::Budget, Some(choice)) => {
                let tokens = match choice {
                    ThinkingChoice::Level(level) => level.budget().min(MAX_BUDGET_TOKENS),
                    ThinkingChoice::Budget(tokens) => tokens,
                };
                if tokens == 0 {
                    // There are no thoughts to include, and asking for them is an error.
                    return Some(json!({ "thinkingBudget": 0 }));
                }
                config["thinkingBudget"] = tokens.into();
            }
        }
        Some(config)
    }
}

/// Returns the closest of the API's levels.
fn nearest_level(choice: ThinkingChoice) -> ThinkingLevel {
    match choice.nearest_level() {
        ThinkingLevel::Off => ThinkingLevel::Minimal,
        ThinkingLevel::On | ThinkingLevel::XHigh | ThinkingLevel::Max => ThinkingLevel::High,
        level => level,
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
    use super::{super::models::read_list, *};
    use crate::known_models::known_capabilities;

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
        let listed = |thinks: bool| {
            let pages = vec![json!({ "models": [{ "name": "models/m-latest", "thinking": thinks }] })];
            read_list(pages).unwrap().remove(0).capabilities
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
            let known = listed.unwrap_or_default().or(known_capabilities(model));
            let form = ThinkingForm::choose(model, &known, |feature| !rejected.contains(&feature));
            assert_eq!(form, expected, "{model} {rejected:?}");
        }
    }

    #[test]
    fn sends_choices_as_the_model_takes_them() {
        use ThinkingLevel::{High, Low, Medium, Minimal, Off};
        let config = |form: ThinkingForm, choice| form.config(choice);
        let level = |level| Some(ThinkingChoice::Level(level));
        let thoughts = json!({ "includeThoughts": true });
        assert_eq!(config(ThinkingForm::Level, None), Some(thoughts));
        let graded = [Minimal, Low, Medium, High];
        for (choice, name) in graded.into_iter().zip(["minimal", "low", "medium", "high"]) {
            let sent = config(ThinkingForm::Level, level(choice)).unwrap();
            assert_eq!(sent["thinkingLevel"], name);
        }
        for (choice, name) in graded.into_iter().zip(["low", "low", "high", "high"]) {
            let sent = config(ThinkingForm::TwoLevels, level(choice)).unwrap();
            assert_eq!(sent["thinkingLevel"], name);
        }
        let with_budget = |tokens: usize| Some(json!({ "includeThoughts": true, "thinkingBudget": tokens }));
        let budget = |choice| config(ThinkingForm::Budget, choice);
        assert_eq!(budget(level(Low)), with_budget(4096));
        assert_eq!(budget(Some(ThinkingChoice::Budget(5000))), with_budget(5000));
        assert_eq!(budget(level(Off)), Some(json!({ "thinkingBudget": 0 })));
        assert_eq!(config(ThinkingForm::None, level(Low)), None);
    }
}
