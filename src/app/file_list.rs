//! All files of a user: their list, and their deletion wherever they are used.

use super::Caller;
use parlor_journal::JournalError;
use parlor_protocol::{
    ApiError, AttachmentId, ErrorCode, FileList, FileSort, FilesDeleted, file_list::MAX_DELETED_FILES,
};
use parlor_storage::{Change, ChangeRejection, FileChange, file_list::FileListRequest};

/// The size of a page, in files.
pub const DEFAULT_PAGE: usize = 50;
pub const MAX_PAGE: usize = 200;

/// The maximum length of a query, in bytes. Longer names are not possible.
const MAX_QUERY_BYTES: usize = 1000;

/// The files that are asked for.
#[derive(Debug, Default)]
pub struct FileQuery {
    /// Words of the name; empty for all files.
    pub query: String,
    pub sort: FileSort,
    /// `next` of the previous page.
    pub after: Option<String>,
    /// [`DEFAULT_PAGE`] if missing, at most [`MAX_PAGE`].
    pub limit: Option<usize>,
}

/// Returns a page of the caller's files, with the room that all of them take.
///
/// # Errors
///
/// If `after` is not the end of a page, or storage fails.
pub async fn list(caller: &Caller, query: FileQuery) -> Result<FileList, ApiError> {
    let after = query.after.map(|after| after.parse()).transpose().map_err(|()| {
        let message = "The place in the list is not valid. Begin with the first page.";
        ApiError::new(ErrorCode::BadRequest, message)
    })?;
    let mut words = query.query;
    words.truncate(words.floor_char_boundary(MAX_QUERY_BYTES));
    let request = FileListRequest {
        query: words,
        sort: query.sort,
        after,
        limit: query.limit.unwrap_or(DEFAULT_PAGE).clamp(1, MAX_PAGE),
    };
    let app = &caller.app;
    let page = app.storage.listed_files(caller.user_id, &request).await?;
    let used = app.files.stored_bytes(caller.user_id).await?;
    Ok(FileList {
        files: page.files,
        total: page.total,
        used_bytes: used,
        limit_bytes: app.settings.files.user_bytes as u64,
        next: page.next.map(|next| next.to_string()),
    })
}

/// Deletes files of the caller wherever they are used: messages and answers then say that they are gone. Deleting a missing one is
/// not an error. Returns those that can't be deleted now.
///
/// # Errors
///
/// If there are too many, or storage fails. Some of them may be deleted then.
pub async fn delete(caller: &Caller, ids: Vec<AttachmentId>) -> Result<FilesDeleted, ApiError> {
    if ids.len() > MAX_DELETED_FILES {
        let message = format!(
            "{} files are too many to delete at once. Nothing was deleted; name at most {MAX_DELETED_FILES}.",
            ids.len()
        );
        return Err(ApiError::new(ErrorCode::TooLarge, message));
    }
    let mut kept = Vec::new();
    for id in ids {
        match delete_one(caller, id).await {
            Ok(()) => {}
            Err(JournalError::Rejected(ChangeRejection::FileInUse)) => kept.push(id),
            Err(error) => Err(error)?,
        }
    }
    Ok(FilesDeleted { kept })
}

/// Deletes a file wherever it is used.
pub async fn delete_one(caller: &Caller, id: AttachmentId) -> Result<(), JournalError> {
    let (app, user_id) = (&caller.app, caller.user_id);
    let unavailable = |error: parlor_storage::StorageError| JournalError::Unavailable(error.kind());
    let conversations = app.storage.conversations_with_file(user_id, id).await;
    let conversations = conversations.map_err(unavailable)?;
    let change = Change::File(FileChange::DeleteContent { user_id, id });
    app.journal.submit(change).await?;
    // A session of code has a copy. One that is at work gets a new session with its next call.
    for conversation_id in conversations {
        let found = app.storage.conversation(user_id, conversation_id).await;
        if let Ok(Some(found)) = found
            && found.listed.active_run.is_none()
        {
            app.runs.end_session(conversation_id);
        }
    }
    Ok(())
}
