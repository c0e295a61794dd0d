//! Uploads of files, shared by the page and the public API.

use axum::body::Body;

use super::Caller;
use crate::{
    files::UploadError,
    protocol::{ApiError, Attachment, AttachmentId, ConversationId},
    storage::Change,
};

/// Stores a file for a message that will be sent in a conversation. `length` is its size, if the request names it.
pub async fn upload(
    caller: &Caller,
    conversation_id: ConversationId,
    name: &str,
    length: Option<u64>,
    body: Body,
) -> Result<Attachment, ApiError> {
    let files = &caller.app.files;
    let limit = files.settings().max_bytes;
    if length.is_some_and(|length| length > limit as u64) {
        return Err(UploadError::TooLarge { limit }.into());
    }
    let key = (caller.user_id, conversation_id);
    Ok(files.upload(key, name, body.into_data_stream()).await?)
}

/// Deletes an uploaded file that no message has.
pub async fn delete(caller: &Caller, id: AttachmentId) -> Result<(), ApiError> {
    let user_id = caller.user_id;
    let change = Change::DeleteUpload { user_id, id };
    caller.app.journal.submit(change).await?;
    Ok(())
}
