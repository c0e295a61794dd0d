//! Uploads of files, shared by the page and the public API.

use axum::body::{Body, to_bytes};
use bytes::Bytes;
use futures::StreamExt;

use super::{AppState, Caller, not_found};
use parlor_files::{FileOwner, MAX_CHART_PICTURE_BYTES, PrepareError, UploadHead, is_chart};
use parlor_protocol::{ApiError, Attachment, AttachmentId, ErrorCode, FilePreview};
use parlor_storage::{Change, FileChange, StorageError, StoredFile};

/// The part of a refused upload that is read all the same, in bytes.
const MAX_DISCARDED_BYTES: usize = 4 << 20;

/// Stores a file of a message that will be sent, or of a project. `length` is its size, if the request names it.
pub async fn upload(
    caller: &Caller,
    owner: FileOwner,
    name: &str,
    length: Option<u64>,
    body: Body,
) -> Result<Attachment, ApiError> {
    let head = UploadHead {
        user_id: caller.user_id,
        owner,
        name,
        length,
    };
    let mut chunks = body.into_data_stream();
    let uploaded = caller.app.files.upload(head, &mut chunks).await;
    if uploaded.is_err() {
        // Most clients read the response only after they have sent everything.
        let mut discarded = 0;
        while let Some(Ok(chunk)) = chunks.next().await
            && discarded < MAX_DISCARDED_BYTES
        {
            discarded += chunk.len();
        }
    }
    Ok(uploaded?)
}

/// Checks that there is room for a file of this size.
pub async fn check_room(caller: &Caller, bytes: u64) -> Result<(), ApiError> {
    Ok(caller.app.files.check_room(caller.user_id, bytes).await?)
}

/// Makes a file of a message an upload too, for another message of its conversation.
pub async fn copy(caller: &Caller, id: AttachmentId) -> Result<Attachment, ApiError> {
    let (user_id, copy) = (caller.user_id, AttachmentId::new());
    let change = Change::File(FileChange::CopyFile { user_id, id, copy });
    caller.app.journal.submit(change).await?;
    let stored = caller.app.storage.file(user_id, copy).await?;
    let stored = stored.ok_or_else(|| ApiError::new(ErrorCode::NotFound, "There is no such file."))?;
    Ok(stored.attachment)
}

/// Deletes an uploaded file that no message has.
pub async fn delete(caller: &Caller, id: AttachmentId) -> Result<(), ApiError> {
    let user_id = caller.user_id;
    let change = Change::File(FileChange::DeleteUpload { user_id, id });
    caller.app.journal.submit(change).await?;
    Ok(())
}

/// Returns the text or the tables of a document.
pub async fn preview(caller: &Caller, id: AttachmentId) -> Result<FilePreview, ApiError> {
    let stored = caller.app.storage.file(caller.user_id, id).await?;
    let stored = stored.ok_or_else(not_found)?;
    let read = caller.app.files.read_preview(&stored).await.map_err(|error| {
        tracing::error!(%error, %id, "the text of a file can't be read");
        ApiError::from(StorageError::from(error).kind())
    })?;
    read.ok_or_else(not_found)
}

/// Stores the picture of a chart that the page has drawn, unless there is one.
pub async fn store_chart_picture(caller: &Caller, id: AttachmentId, body: Body) -> Result<(), ApiError> {
    let stored = caller.app.storage.file(caller.user_id, id).await?;
    let stored = stored.ok_or_else(not_found)?;
    check_chart(&stored)?;
    let data = to_bytes(body, MAX_CHART_PICTURE_BYTES).await.map_err(|_| {
        let message = format!(
            "The picture has more than {MAX_CHART_PICTURE_BYTES} bytes, or was cut off. Nothing was stored."
        );
        ApiError::new(ErrorCode::TooLarge, message)
    })?;
    let kept = caller.app.files.store_chart_picture(&stored, data).await;
    kept.map_err(|error| match error {
        PrepareError::Io(error) => {
            tracing::error!(%error, %id, "the picture of a chart can't be stored");
            StorageError::from(error).kind().into()
        }
        error => {
            let message = format!("The picture can't be used: {error}. Nothing was stored.");
            ApiError::new(ErrorCode::BadRequest, message)
        }
    })
}

/// Returns the picture of a chart, a PNG. `None` if it has not been drawn yet.
pub async fn chart_picture(app: &AppState, file: &StoredFile) -> Result<Option<Bytes>, ApiError> {
    check_chart(file)?;
    app.files.read_chart_picture(file).await.map_err(|error| {
        tracing::error!(%error, id = %file.attachment.id, "the picture of a chart can't be read");
        StorageError::from(error).kind().into()
    })
}

fn check_chart(file: &StoredFile) -> Result<(), ApiError> {
    match is_chart(&file.attachment) {
        true => Ok(()),
        false => Err(ApiError::new(
            ErrorCode::BadRequest,
            "This file is no chart, so it has no picture.",
        )),
    }
}
