//! The thinking of a model before its answer: the levels and budgets that it takes, and the closest one to a
//! user's choice.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{flat_json::Fields, number_format::group_digits};

/// The amount of thinking before an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingLevel {
    /// No thinking.
    Off,
    /// Thinking, as much as the model chooses.
    On,
    Minimal,
    Low,
    Medium,
    High,
    #[serde(rename = "xhigh")]
    XHigh,
    Max,
}

impl ThinkingLevel {
    /// All levels. Those from the third on are graded, from less to more.
    pub const ALL: [Self; 8] = [
        Self::Off,
        Self::On,
        Self::Minimal,
        Self::Low,
        Self::Medium,
        Self::High,
        Self::XHigh,
        Self::Max,
    ];

    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::On => "on",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
            Self::Max => "max",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == name)
    }

    /// Returns the budget that is about as much as this level, in tokens.
    pub fn budget(self) -> usize {
        match self {
            Self::Off => 0,
            Self::Minimal => 1024,
            Self::Low => 4096,
            Self::On | Self::Medium => 10_000,
            Self::High => 24_000,
            Self::XHigh => 32_000,
            Self::Max => 64_000,
        }
    }

    /// Returns the level that is about as much as a budget.
    pub fn for_budget(tokens: usize) -> Self {
        match tokens {
            0 => Self::Off,
            1..2048 => Self::Minimal,
            2048..7000 => Self::Low,
            7000..16_000 => Self::Medium,
            16_000..28_000 => Self::High,
            28_000..48_000 => Self::XHigh,
            _ => Self::Max,
        }
    }

    /// The position among the levels of more or less thinking.
    fn rank(self) -> Option<usize> {
        let graded = &Self::ALL[2..];
        graded.iter().position(|level| *level == self)
    }
}

/// A choice of the amount of thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ThinkingChoice {
    Level(ThinkingLevel),
    /// A maximum in tokens.
    Budget(usize),
}

impl ThinkingChoice {
    /// The choice in words: "high", "8,192 tokens".
    pub fn to_text(self) -> String {
        match self {
            Self::Level(level) => level.as_str().into(),
            Self::Budget(tokens) => [&group_digits(tokens as u64), " tokens"].concat(),
        }
    }

    /// Returns the level that is about as much thinking.
    pub fn nearest_level(self) -> ThinkingLevel {
        match self {
            Self::Level(level) => level,
            Self::Budget(tokens) => ThinkingLevel::for_budget(tokens),
        }
    }
}

/// The thinking of a model, and the ways to set it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct ThinkingSupport {
    /// True if the model can think. Without levels and a budget, it decides alone how much.
    pub supported: bool,
    /// The levels that it takes, `off` included if its thinking can be turned off.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<ThinkingLevel>,
    /// The smallest budget that it takes in tokens; missing if it takes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_budget: Option<usize>,
    /// The largest budget that it takes in tokens; missing if it takes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_budget: Option<usize>,
}

impl ThinkingSupport {
    /// The support of a model that can't think.
    pub const NONE: Self = Self {
        supported: false,
        levels: Vec::new(),
        min_budget: None,
        max_budget: None,
    };

    /// Returns the support of a model that takes these levels; without any, it always thinks.
    pub fn levels(levels: &[ThinkingLevel]) -> Self {
        Self {
            supported: true,
            levels: levels.to_vec(),
            ..Self::NONE
        }
    }

    /// Returns the support of a model that takes a budget.
    pub fn budget(min: usize, max: usize, can_be_off: bool) -> Self {
        Self {
            supported: true,
            levels: can_be_off.then_some(ThinkingLevel::Off).into_iter().collect(),
            min_budget: Some(min),
            max_budget: Some(max),
        }
    }

    /// Returns the smallest and the largest budget in tokens.
    pub fn budget_range(&self) -> Option<(usize, usize)> {
        let (min, max) = (self.min_budget?, self.max_budget?);
        (min <= max).then_some((min, max))
    }

    /// Returns true if it takes a level of more or less thinking.
    pub fn has_graded_level(&self) -> bool {
        self.levels.iter().any(|level| level.rank().is_some())
    }

    /// Returns the choice that the model takes and that is closest to this one. Returns `None` if nothing can
    /// be set.
    pub fn closest(&self, choice: ThinkingChoice) -> Option<ThinkingChoice> {
        if !self.supported {
            return None;
        }
        let budget = |tokens: usize| {
            let (min, max) = self.budget_range()?;
            Some(ThinkingChoice::Budget(tokens.clamp(min, max)))
        };
        match choice {
            ThinkingChoice::Level(level) if self.levels.contains(&level) => Some(choice),
            ThinkingChoice::Level(level) => self
                .closest_level(level)
                .map(ThinkingChoice::Level)
                .or_else(|| budget(level.budget())),
            ThinkingChoice::Budget(tokens) => budget(tokens)
                .or_else(|| self.closest(ThinkingChoice::Level(ThinkingLevel::for_budget(tokens)))),
        }
    }

    /// Returns the closest of other levels; of two equally close ones, the one with more thinking.
    fn closest_level(&self, level: ThinkingLevel) -> Option<ThinkingLevel> {
        let graded = || self.levels.iter().copied().filter(|level| level.rank().is_some());
        let to = match level {
            ThinkingLevel::Off => ThinkingLevel::Minimal.rank(),
            ThinkingLevel::On => ThinkingLevel::Medium.rank(),
            level => level.rank(),
        }?;
        let distance = |level: &ThinkingLevel| level.rank().map_or(usize::MAX, |rank| rank.abs_diff(to));
        let closest = graded().rev().min_by_key(distance);
        let is_on = |other: &ThinkingLevel| *other == ThinkingLevel::On && level != ThinkingLevel::Off;
        closest.or_else(|| self.levels.iter().copied().find(is_on))
    }
}

#[cfg(test)]
mod tests {
    use super::{ThinkingChoice::*, ThinkingLevel::*, *};

    #[test]
    fn names_round_trip() {
        for level in ThinkingLevel::ALL {
            assert_eq!(ThinkingLevel::parse(level.as_str()), Some(level));
            assert_eq!(serde_json::to_value(level).unwrap(), level.as_str());
        }
        assert_eq!(ThinkingLevel::parse("huge"), None);
    }

    #[test]
    fn falls_back_to_the_closest_choice() {
        let efforts = ThinkingSupport::levels(&[Off, Low, Medium, High]);
        let two = ThinkingSupport::levels(&[Low, High]);
        let switch = ThinkingSupport::levels(&[Off, On]);
        let budget = ThinkingSupport::budget(1024, 32_768, true);
        let forced_budget = ThinkingSupport::budget(128, 24_576, false);
        let always = ThinkingSupport::levels(&[]);
        for (support, choice, closest) in [
            (&efforts, Level(High), Some(Level(High))),
            (&efforts, Level(Off), Some(Level(Off))),
            (&efforts, Level(Minimal), Some(Level(Low))),
            (&efforts, Level(Max), Some(Level(High))),
            (&efforts, Level(On), Some(Level(Medium))),
            (&efforts, Budget(500), Some(Level(Low))),
            (&efforts, Budget(100_000), Some(Level(High))),
            (&two, Level(Medium), Some(Level(High))),
            (&two, Level(Off), Some(Level(Low))),
            (&switch, Level(High), Some(Level(On))),
            (&switch, Budget(9000), Some(Level(On))),
            (&switch, Budget(0), Some(Level(Off))),
            (&budget, Level(Low), Some(Budget(4096))),
            (&budget, Level(Off), Some(Level(Off))),
            (&budget, Budget(10), Some(Budget(1024))),
            (&budget, Budget(90_000), Some(Budget(32_768))),
            (&forced_budget, Level(Off), Some(Budget(128))),
            (&always, Level(High), None),
            (&ThinkingSupport::NONE, Level(Off), None),
        ] {
            assert_eq!(support.closest(choice), closest, "{support:?} {choice:?}");
        }
    }

    #[test]
    fn says_choices_in_words() {
        assert_eq!(Level(XHigh).to_text(), "xhigh");
        assert_eq!(Budget(8192).to_text(), "8,192 tokens");
    }
}
