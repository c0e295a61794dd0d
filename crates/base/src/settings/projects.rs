//! Settings of projects.

use serde::Deserialize;

/// Conversations that belong together (docs/projects.md).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProjectSettings {
    /// The number of projects of a user.
    pub per_user: usize,
    /// The instructions of one project.
    pub instructions_bytes: usize,
}

impl Default for ProjectSettings {
    fn default() -> Self {
        Self {
            per_user: 100,
            instructions_bytes: 16 << 10,
        }
    }
}
