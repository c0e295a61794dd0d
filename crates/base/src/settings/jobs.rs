//! The settings of jobs.

use std::time::Duration;

use serde::Deserialize;

/// Limits of jobs: work with a plan of steps, such as a report.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JobSettings {
    /// The number of steps that a job performs at a time.
    pub concurrency: usize,
    /// The number of jobs of a user that run at a time.
    pub running: usize,
    /// The number of jobs of a user that are kept.
    pub stored: usize,
    /// The timeout of a model call of a step.
    #[serde(deserialize_with = "super::duration::positive")]
    pub call_timeout: Duration,
    /// The maximum tokens of the answer to such a call, with the thinking of models that think.
    pub answer_tokens: usize,
    /// The maximum number of articles of a report. The others that the search finds are counted.
    pub articles: usize,
}

impl Default for JobSettings {
    fn default() -> Self {
        Self {
            concurrency: 4,
            running: 3,
            stored: 200,
            call_timeout: Duration::from_secs(180),
            answer_tokens: 4000,
            articles: 200,
        }
    }
}
