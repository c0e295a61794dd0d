//! The limits of a run.

/// Limits of the agent loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentLimits {
    /// The number of model calls of a run that may request tools. The next call has to answer without them.
    pub max_iterations: usize,
    /// True if the model may see metadata before the messages of the history, and may echo them.
    pub has_metadata: bool,
    /// The number of repetitions of a passage in a row that ends the answer. 0 disables the check.
    pub max_repetitions: usize,
}
