//! The state of a run, and the error with which it may end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// A task on the server works on the run.
    Running,
    /// The run waits for the user's approval. It has no task and no time limit.
    Waiting,
    /// The model finished its answer.
    Complete,
    /// The user stopped the run.
    Stopped,
    /// The model server, or Parlor, reported an error.
    Failed,
    /// The run was cut off: the connection broke, or Parlor itself ended, during the run.
    Interrupted,
}

/// The reason why a run did not complete, with texts for the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunError {
    /// Stable and machine-readable, such as `key_refused`.
    pub code: String,
    /// A text for people: what happened, naming the endpoint.
    pub message: String,
    /// Advice, naming the setting; missing when trying again is the only one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hint: String,
}

impl RunStatus {
    /// Returns true if the run has ended. This is the only definition of a run's end.
    pub fn is_terminal(self) -> bool {
        !matches!(self, Self::Running | Self::Waiting)
    }

    /// Returns true if the user who was not looking is notified of this end. Their own stop is not news to them.
    pub fn is_notifiable(self) -> bool {
        self.is_terminal() && self != Self::Stopped
    }

    /// The name on the wire and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Complete => "complete",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }
}
