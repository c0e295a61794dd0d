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
    /// The maximum number of columns of the same rows, such as the saved articles.
    pub columns: usize,
    /// The maximum number of rows whose columns are filled. The others are counted.
    pub rows: usize,
    /// The text of a row that the model is asked about, in bytes. The rest is left out.
    pub row_bytes: usize,
    /// The name, the question and the choices of a column, or the correction of a cell, in bytes.
    pub column_bytes: usize,
    /// The maximum number of corrections in a column.
    pub corrections: usize,
    /// The number of corrections that the model is told as examples: the newest of the column.
    pub examples: usize,
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
            columns: 20,
            rows: 5000,
            row_bytes: 16 << 10,
            column_bytes: 4000,
            corrections: 1000,
            examples: 10,
        }
    }
}
