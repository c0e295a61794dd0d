//! Reads the files of the conversation's project, and searches in their texts. Never in those of other projects.

mod read;
mod search;
#[cfg(test)]
mod tests;

pub use self::{read::ReadProjectFile, search::SearchProjectFiles};
use super::{ToolContext, ToolError};
use parlor_storage::{Storage, StorageError, projects::ProjectInUse};

/// Returns the project of a call's conversation, as it is now.
async fn project_of(storage: &dyn Storage, call: &ToolContext) -> Result<ProjectInUse, ToolError> {
    let found = storage.project_of(call.user_id, call.conversation_id).await;
    found
        .map_err(unavailable)?
        .ok_or_else(|| ToolError::new("The conversation is in no project any more, so there are no files."))
}

fn unavailable(error: StorageError) -> ToolError {
    tracing::error!(%error, "the files of a project can't be read");
    ToolError::unavailable()
}
