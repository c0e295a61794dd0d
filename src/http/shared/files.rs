//! Files and payloads of a share. Images are those that models get: only pixels, without what else was in the file. Other files
//! are saved, never shown.

use axum::{
    body::Body,
    extract::{Path, rejection::PathRejection},
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use tokio_util::io::ReaderStream;

use super::{ItemPath, Shared};
use crate::{
    app::{AppState, sharing},
    http::{
        charts,
        content_disposition::content_disposition,
        files::{FILE_CSP, READ_BYTES},
        problem::Problem,
    },
};
use parlor_files::is_image;
use parlor_protocol::{ApiError, AttachmentId};
use parlor_storage::{StorageError, StoredFile};

/// `GET /shared/{key}/files/{id}`: a file of a message of the share.
pub async fn file(shared: Shared, path: Result<ItemPath, PathRejection>) -> Result<Response, Problem> {
    let id: Option<AttachmentId> = path.ok().and_then(|Path((_, id))| id.parse().ok());
    let id = id.ok_or_else(sharing::not_shared)?;
    let stored = sharing::file(&shared.app, &shared.share, id).await?;
    Ok(file_response(&shared.app, &stored).await?)
}

/// Returns the response with a file for readers.
pub async fn file_response(app: &AppState, stored: &StoredFile) -> Result<Response, ApiError> {
    let failure = |error: std::io::Error| {
        tracing::error!(%error, id = %stored.attachment.id, "a shared file can't be read");
        ApiError::from(StorageError::from(error).kind())
    };
    let mut response = if is_image(&stored.attachment) {
        let image = app.files.read_prepared_image(stored.location).await;
        // The original has what the camera wrote: it is not shared.
        let image = image.map_err(failure)?.ok_or_else(sharing::not_shared)?;
        let media_type = match image.starts_with(b"\x89PNG") {
            true => "image/png",
            false => "image/jpeg",
        };
        // Without its name: that of a made image is what it was made from. The page has the one that readers may know.
        let headers = [
            (header::CONTENT_TYPE, media_type),
            (header::CONTENT_DISPOSITION, "inline"),
        ];
        (headers, image).into_response()
    } else {
        let content = app.files.open_content(stored.location).await.map_err(failure)?;
        let length = content.metadata().await.map_err(failure)?.len();
        let headers = [
            (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
            (header::CONTENT_LENGTH, length.to_string()),
            (
                header::CONTENT_DISPOSITION,
                content_disposition("attachment", &stored.attachment.name),
            ),
        ];
        let stream = ReaderStream::with_capacity(content, READ_BYTES);
        (headers, Body::from_stream(stream)).into_response()
    };
    response.headers_mut().insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(FILE_CSP),
    );
    Ok(response)
}

/// `GET /shared/{key}/files/{id}/picture`: the picture of a chart of the share.
pub async fn picture(shared: Shared, path: Result<ItemPath, PathRejection>) -> Result<Response, Problem> {
    let id: Option<AttachmentId> = path.ok().and_then(|Path((_, id))| id.parse().ok());
    let id = id.ok_or_else(sharing::not_shared)?;
    let stored = sharing::file(&shared.app, &shared.share, id).await?;
    charts::picture_response(&shared.app, &stored).await
}

/// `GET /shared/{key}/payloads/{id}/file`: a payload as a download.
pub async fn payload(shared: Shared, path: Result<ItemPath, PathRejection>) -> Result<Response, Problem> {
    let Path((_, payload_id)) = path.map_err(|_| sharing::not_shared())?;
    let file = sharing::payload_file(&shared.app, &shared.share, &payload_id).await?;
    let headers = [
        (header::CONTENT_TYPE, file.media_type.to_owned()),
        (
            header::CONTENT_DISPOSITION,
            content_disposition("attachment", &file.name),
        ),
    ];
    Ok((headers, file.content).into_response())
}
