//! The files of messages by the ids that METADATA give them.

use super::ToolError;
use parlor_protocol::{MessageId, UserId};
use parlor_storage::{Storage, StoredFile};

/// Finds a file of a message in the user's own conversations.
///
/// # Errors
///
/// The message for the model: there is no such file, or storage fails.
pub async fn find_message_file(
    storage: &dyn Storage,
    user_id: UserId,
    message_id: &str,
    file_index: usize,
) -> Result<StoredFile, ToolError> {
    // Some models give the whole id.
    let (message_id, file_index) = match message_id.trim().split_once(':') {
        Some((message_id, index)) => (message_id, index.parse().unwrap_or(file_index)),
        None => (message_id.trim(), file_index),
    };
    let no_file = || {
        ToolError(format!(
            "There is no file {message_id}:{file_index}. Use an id of METADATA."
        ))
    };
    let unavailable = |error| {
        tracing::error!(%error, "a file of a message can't be read");
        ToolError::unavailable()
    };
    let id: MessageId = message_id.parse().map_err(|_| no_file())?;
    let found = storage.message(user_id, id).await.map_err(unavailable)?;
    let (_, message) = found.ok_or_else(no_file)?;
    let id = message.files().get(file_index).map(|file| file.id);
    let stored = storage.file(user_id, id.ok_or_else(no_file)?).await;
    stored.map_err(unavailable)?.ok_or_else(no_file)
}
