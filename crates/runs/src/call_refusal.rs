//! The reasons why a user may not call a model now, in words and as errors.

use std::time::Duration;

use crate::agent::run_error;
use parlor_base::text::join_first;
use parlor_model::{ModelError, ModelErrorKind};
use parlor_protocol::{Dollars, number_format::group_digits};

/// The maximum number of models that a refusal lists.
const MAX_LISTED_MODELS: usize = 20;

/// The time after which a further run may be possible. Nobody knows when one ends.
const RUN_RETRY_DELAY: Duration = Duration::from_secs(5);

/// The reason why a user may not call a model now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallRefusal {
    /// The user's role may not use the model.
    Model {
        model: String,
        /// The listed models that it may use.
        allowed: Vec<String>,
    },
    /// The tokens of the day are used.
    Tokens { used: u64, limit: u64, wait: Duration },
    /// The cost of the day is reached.
    Cost {
        used: Dollars,
        limit: Dollars,
        wait: Duration,
    },
    /// The cost of one answer of a schedule is reached.
    RunCost { used: Dollars, limit: Dollars },
    /// The limit of answers at the same time is reached.
    Runs { limit: usize },
}

impl CallRefusal {
    /// Returns the reason, in a sentence.
    pub fn reason(&self) -> String {
        match self {
            Self::Model { model, .. } => {
                format!("You may not use the model “{model}” here (setting accounts.access).")
            }
            Self::Tokens { used, limit, .. } => format!(
                "Your answers have used {} tokens today; the limit is {} a day (setting accounts.tokens_per_day).",
                group_digits(*used),
                group_digits(*limit)
            ),
            Self::Cost { used, limit, .. } => format!(
                "Your answers have cost {} today; the limit is {} a day (setting accounts.dollars_per_day).",
                used.to_label(),
                limit.to_label()
            ),
            Self::RunCost { used, limit } => format!(
                "This answer has cost {}; the limit of its schedule is {}, for one answer or for the rest of the month.",
                used.to_label(),
                limit.to_label()
            ),
            Self::Runs { limit: 1 } => {
                "You can have one answer at a time here, and one is being written (setting accounts.runs)."
                    .into()
            }
            Self::Runs { limit } => {
                format!(
                    "You can have {limit} answers at a time here, and {limit} are being written (setting accounts.runs)."
                )
            }
        }
    }

    /// Returns the next step for the user.
    pub fn advice(&self) -> String {
        match self {
            Self::Model { allowed, .. } if allowed.is_empty() => {
                "None of the models is for you: ask an administrator.".into()
            }
            Self::Model { allowed, .. } => {
                format!("Choose one of these: {}.", join_first(allowed, MAX_LISTED_MODELS))
            }
            Self::Tokens { wait, .. } | Self::Cost { wait, .. } => format!(
                "The next day begins at midnight UTC, in {}; an administrator can raise the limit.",
                hours_and_minutes(*wait)
            ),
            Self::RunCost { .. } => {
                "What was written is kept. Ask for the rest in another message; raise the limit on the page Schedules for later answers."
                    .into()
            }
            Self::Runs { .. } => "Wait for the end of one, or stop one.".into(),
        }
    }

    /// Returns the time after which the same request may succeed.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Model { .. } | Self::RunCost { .. } => None,
            Self::Tokens { wait, .. } | Self::Cost { wait, .. } => Some(*wait),
            Self::Runs { .. } => Some(RUN_RETRY_DELAY),
        }
    }

    /// Returns the error of an answer that may not continue.
    pub fn into_model_error(self) -> ModelError {
        let code = match self {
            Self::Model { .. } => "model_not_allowed",
            Self::Tokens { .. } | Self::Cost { .. } | Self::RunCost { .. } | Self::Runs { .. } => {
                "limit_reached"
            }
        };
        ModelError {
            error: run_error(code, self.reason(), &self.advice()),
            kind: ModelErrorKind::Refused,
            reply: None,
        }
    }
}

fn hours_and_minutes(wait: Duration) -> String {
    let count = |number: u64, unit: &str| match number {
        1 => format!("1 {unit}"),
        _ => format!("{number} {unit}s"),
    };
    let minutes = wait.as_secs().div_ceil(60);
    match (minutes / 60, minutes % 60) {
        (0, minutes) => count(minutes, "minute"),
        (hours, 0) => count(hours, "hour"),
        (hours, minutes) => [count(hours, "hour"), count(minutes, "minute")].join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_say_what_to_do() {
        let model = |allowed: &[&str]| CallRefusal::Model {
            model: "x/dear".into(),
            allowed: allowed.iter().map(|id| (*id).to_owned()).collect(),
        };
        assert_eq!(model(&["x/a", "x/b"]).advice(), "Choose one of these: x/a, x/b.");
        assert!(model(&[]).advice().contains("ask an administrator"));
        let spent = CallRefusal::Tokens {
            used: 12_345,
            limit: 12_000,
            wait: Duration::from_secs(2 * 3600 + 90),
        };
        assert!(spent.reason().contains("12,345 tokens"), "{}", spent.reason());
        assert!(
            spent.advice().contains("in 2 hours 2 minutes"),
            "{}",
            spent.advice()
        );
        assert_eq!(spent.retry_after(), Some(Duration::from_secs(7290)));
        for (minutes, words) in [
            (1, "1 minute"),
            (60, "1 hour"),
            (61, "1 hour 1 minute"),
            (120, "2 hours"),
        ] {
            assert_eq!(hours_and_minutes(Duration::from_secs(minutes * 60)), words);
        }
        let one = CallRefusal::Runs { limit: 1 };
        assert!(one.reason().starts_with("You can have one answer at a time here"));
    }
}
