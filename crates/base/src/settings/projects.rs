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
    /// The number of files of one project.
    pub files: usize,
    /// The text of a document that is read when it is uploaded. More than 2 MiB are neither searched nor given to models.
    pub text_bytes: usize,
    /// The texts of all files that a model is given whole, if they fit into a quarter of its context window, too. More is
    /// searched by tools.
    pub whole_text_bytes: usize,
    /// The number of memories of one project.
    pub memories: usize,
    /// The number of tools that one project switches off.
    pub disabled_tools: usize,
    /// The number of people who may read one project.
    pub readers: usize,
    /// The number of projects of others that a user may read. Nobody can be given more.
    pub shared_with_user: usize,
}

impl Default for ProjectSettings {
    fn default() -> Self {
        Self {
            per_user: 100,
            instructions_bytes: 16 << 10,
            files: 200,
            text_bytes: 2 << 20,
            whole_text_bytes: 128 << 10,
            memories: 200,
            disabled_tools: 200,
            readers: 50,
            shared_with_user: 200,
        }
    }
}
