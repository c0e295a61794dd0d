//! Settings of schedules.

use std::time::Duration;

use serde::Deserialize;

/// Prompts that are sent at planned times (docs/schedules.md).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScheduleSettings {
    /// True if users can have schedules. If false, those that exist wait.
    pub enabled: bool,
    /// The number of schedules of a user.
    pub per_user: usize,
    /// The time between two looks for schedules whose planned time has come.
    #[serde(deserialize_with = "super::duration::positive")]
    pub interval: Duration,
    /// The delay after a planned time from which on it counts as missed. A missed time is made up for once, and said.
    #[serde(deserialize_with = "super::duration::positive")]
    pub grace: Duration,
    /// The number of schedules of all users that are started at one look. Further ones follow at the next.
    pub starts: usize,
}

impl ScheduleSettings {
    /// Returns the number of schedules that a user can have now.
    pub fn limit(&self) -> usize {
        if self.enabled { self.per_user } else { 0 }
    }
}

impl Default for ScheduleSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            per_user: 50,
            interval: Duration::from_secs(10),
            grace: Duration::from_secs(10 * 60),
            starts: 20,
        }
    }
}
