//! The use of models by users and days.

use parlor_protocol::{Dollars, Timestamp, UserId};

/// The length of a day. Days begin at midnight UTC.
pub const DAY_MS: i64 = 86_400_000;

/// A day (UTC), as the number of days since 1970-01-01.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(pub i64);

impl Day {
    /// Returns the day of a time.
    pub fn from_timestamp(at: Timestamp) -> Self {
        Self(at.days_since_epoch())
    }

    /// Returns the time at which it begins.
    pub fn start(self) -> Timestamp {
        Timestamp(self.0.saturating_mul(DAY_MS))
    }
}

/// The usage of one user on one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DailyUsage {
    pub user_id: UserId,
    pub day: Day,
    pub usage: UsageSum,
}

/// The use of models by some answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsageSum {
    /// The answers that were begun.
    pub runs: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// The cost, as far as prices are known.
    pub cost: Dollars,
}

impl UsageSum {
    /// Returns all tokens, in and out.
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// Returns the sum of both.
    pub fn plus(self, other: Self) -> Self {
        Self {
            runs: self.runs.saturating_add(other.runs),
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cost: self.cost.saturating_add(other.cost),
        }
    }
}
