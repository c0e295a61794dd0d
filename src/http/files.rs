//! Files of users and of tools: their upload, their contents.
//!
//! They come from outside and are served from the origin of Parlor's own pages. Browsers therefore show only
//! images and sounds, of types that cannot contain scripts. They save everything else.

use std::io::SeekFrom;

use axum::{
    Json,
    body::Body,
    extract::{Path, rejection::PathRejection},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncSeekExt};
use tokio_util::io::ReaderStream;

use super::{
    content_disposition::content_disposition,
    problem::{self, Problem, bad_request},
    request::QueryParameters,
};
use crate::app::{
    Caller,
    file_list::{self, FileQuery},
    files, not_found,
};
use parlor_files::FileOwner;
use parlor_protocol::{
    ApiError, Attachment, AttachmentId, ConversationId, FileList, FileSort, attachment::AttachmentDisplay,
};
use parlor_storage::StorageError;

/// In its own tab, a file has no scripts, no forms and no origin. The styles are those that browsers use to
/// show an image.
pub const FILE_CSP: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'";

/// The file of an id never changes.
pub const CACHE_CONTROL_IMMUTABLE: &str = "private, max-age=31536000, immutable";

/// The size of the chunks in which a file is read.
pub const READ_BYTES: usize = 64 << 10;

/// The destination of an upload.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct UploadQuery {
    /// The file's name.
    #[serde(default)]
    name: String,
    /// The conversation in which the file will be sent. It need not exist. Without it, a new one; the response has its id.
    conversation_id: Option<ConversationId>,
}

/// An uploaded file. Name it in `files` of a message in the same conversation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UploadedFile {
    #[serde(flatten)]
    file: Attachment,
    conversation_id: ConversationId,
}

/// `POST /api/files`: stores the body as a file.
pub async fn upload(
    caller: Caller,
    query: Result<QueryParameters<UploadQuery>, Problem>,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<UploadedFile>), Problem> {
    let QueryParameters(UploadQuery {
        name,
        conversation_id,
    }) = query?;
    let conversation_id = conversation_id.unwrap_or_default();
    let owner = FileOwner::Conversation(conversation_id);
    let file = files::upload(&caller, owner, &name, content_length(&headers), body).await?;
    let uploaded = UploadedFile {
        file,
        conversation_id,
    };
    Ok((StatusCode::CREATED, Json(uploaded)))
}

/// Returns the size of a request's body, if it names it.
pub fn content_length(headers: &HeaderMap) -> Option<u64> {
    let length = headers.get(header::CONTENT_LENGTH)?;
    length.to_str().ok()?.parse().ok()
}

/// The files that are listed.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ListQuery {
    /// Words that the name has, in any order, without case and accents. Without them, all files.
    #[serde(default)]
    q: String,
    /// The order; `newest` if missing.
    #[serde(default)]
    order: FileSort,
    /// `next` of the previous page, with the same words and order.
    cursor: Option<String>,
    /// The maximum number of files, at most 200; 50 if missing.
    #[schemars(range(min = 1))]
    limit: Option<usize>,
}

/// `GET /api/files`: all files of the user.
pub async fn list(
    caller: Caller,
    query: Result<QueryParameters<ListQuery>, Problem>,
) -> Result<Json<FileList>, Problem> {
    let QueryParameters(ListQuery {
        q,
        order,
        cursor,
        limit,
    }) = query?;
    if limit == Some(0) {
        return Err(bad_request("A limit is a whole number of at least 1."));
    }
    let query = FileQuery {
        query: q,
        sort: order,
        after: cursor,
        limit,
    };
    Ok(Json(file_list::list(&caller, query).await?))
}

/// The extent of a deletion.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct DeletionQuery {
    /// `true`: also a file that messages, answers or projects have, wherever it is used. They then name it with the problem
    /// `deleted`. `false` (default): only a file that nothing has.
    #[serde(default)]
    everywhere: bool,
}

/// `DELETE /api/files/{id}`: deletes a file that no message has, or one wherever it is used.
pub async fn delete(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    query: Result<QueryParameters<DeletionQuery>, Problem>,
) -> Result<StatusCode, Problem> {
    let id = problem::parse_id(path)?;
    let QueryParameters(DeletionQuery { everywhere }) = query?;
    match everywhere {
        true => file_list::delete_one(&caller, id).await.map_err(ApiError::from)?,
        false => files::delete(&caller, id).await?,
    }
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /api/files/{id}`: the contents of a file.
pub async fn get(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let id: AttachmentId = problem::parse_id(path)?;
    let stored = caller.app.storage.file(caller.user_id, id).await?;
    let stored = stored.ok_or_else(not_found)?;
    let tag = format!("\"{id}\"");
    let is_known = |known: &HeaderValue| known.to_str().is_ok_and(|known| known.contains(&tag));
    let mut response = if headers.get(header::IF_NONE_MATCH).is_some_and(is_known) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let content = caller.app.files.open_content(stored.location).await;
        let content = content.map_err(|error| {
            tracing::error!(%error, %id, "a file can't be opened");
            ApiError::from(StorageError::from(error).kind())
        })?;
        let is_same = headers.get(header::IF_RANGE).is_none_or(|tested| tested == &tag);
        let range = headers.get(header::RANGE).filter(|_| is_same);
        file_response(&stored.attachment, content, range)
            .await
            .map_err(|error| ApiError::from(StorageError::from(error).kind()))?
    };
    let fixed_headers = [
        (header::ETAG, &*tag),
        (header::CACHE_CONTROL, CACHE_CONTROL_IMMUTABLE),
        (header::CONTENT_SECURITY_POLICY, FILE_CSP),
        (header::ACCEPT_RANGES, "bytes"),
    ];
    for (name, value) in fixed_headers {
        if let Ok(value) = HeaderValue::from_str(value) {
            response.headers_mut().insert(name, value);
        }
    }
    Ok(response)
}

async fn file_response(
    file: &Attachment,
    mut content: tokio::fs::File,
    range: Option<&HeaderValue>,
) -> std::io::Result<Response> {
    let display = AttachmentDisplay::for_media_type(&file.media_type);
    let is_saved = matches!(display, AttachmentDisplay::Chart | AttachmentDisplay::Download);
    let (media_type, how) = if is_saved {
        ("application/octet-stream", "attachment")
    } else {
        (&*file.media_type, "inline")
    };
    let length = content.metadata().await?.len();
    // Some browsers play a sound only if they can request it in parts.
    let range = range.map_or(RequestedRange::Whole, |range| {
        range
            .to_str()
            .map_or(RequestedRange::Whole, |range| parse_range(range, length))
    });
    let (from, to) = match range {
        RequestedRange::Whole => (0, length),
        RequestedRange::Part(from, to) => (from, to),
        RequestedRange::Outside => {
            let size = [(header::CONTENT_RANGE, format!("bytes */{length}"))];
            return Ok((StatusCode::RANGE_NOT_SATISFIABLE, size).into_response());
        }
    };
    content.seek(SeekFrom::Start(from)).await?;
    let stream = ReaderStream::with_capacity(content.take(to - from), READ_BYTES);
    let headers = [
        (header::CONTENT_TYPE, media_type.to_owned()),
        (header::CONTENT_LENGTH, (to - from).to_string()),
        (header::CONTENT_DISPOSITION, content_disposition(how, &file.name)),
    ];
    let body = Body::from_stream(stream);
    Ok(match range {
        RequestedRange::Part(..) => {
            let range = [(header::CONTENT_RANGE, format!("bytes {from}-{}/{length}", to - 1))];
            (StatusCode::PARTIAL_CONTENT, headers, range, body).into_response()
        }
        _ => (headers, body).into_response(),
    })
}

/// The part of a file that a request is for.
#[derive(Debug, PartialEq, Eq)]
enum RequestedRange {
    /// The whole file, also for several ranges and for a header that is not a range.
    Whole,
    /// The bytes from the first position to the one before the second.
    Part(u64, u64),
    /// A range without any byte of the file.
    Outside,
}

/// Parses a position in a range, which may be missing. Returns `None` if it is not a number.
fn parse_position(position: &str) -> Option<Option<u64>> {
    if position.is_empty() {
        return Some(None);
    }
    let is_number = position.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| position.parse().ok()).flatten().map(Some)
}

/// Parses the range of a request.
/// Source: [RFC 9110, section 14](https://www.rfc-editor.org/rfc/rfc9110#section-14).
fn parse_range(range: &str, length: u64) -> RequestedRange {
    let positions = || {
        let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
        let (first, last) = (parse_position(first)?, parse_position(last)?);
        match (first, last) {
            (Some(first), Some(last)) if last < first => None,
            (Some(first), Some(last)) => Some((first, last.saturating_add(1).min(length))),
            (Some(first), None) => Some((first, length)),
            (None, Some(count)) => Some((length.saturating_sub(count), length)),
            (None, None) => None,
        }
    };
    match positions() {
        None => RequestedRange::Whole,
        Some((from, to)) if from < to => RequestedRange::Part(from, to),
        Some(_) => RequestedRange::Outside,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_lies_within_the_file() {
        use RequestedRange::{Outside, Part, Whole};
        for (range, expected) in [
            ("bytes=0-", Part(0, 10)),
            ("bytes=2-4", Part(2, 5)),
            ("bytes=2-400", Part(2, 10)),
            ("bytes=-3", Part(7, 10)),
            ("bytes=-300", Part(0, 10)),
            ("bytes=0-18446744073709551615", Part(0, 10)),
            ("bytes=10-", Outside),
            ("bytes=10-20", Outside),
            ("bytes=-0", Outside),
            ("bytes=4-2", Whole),
            ("bytes=0-1,3-4", Whole),
            ("lines=0-", Whole),
            ("bytes=+5-", Whole),
            ("bytes=", Whole),
            ("bytes=-", Whole),
        ] {
            assert_eq!(parse_range(range, 10), expected, "{range}");
        }
        assert_eq!(parse_range("bytes=0-", 0), Outside);
    }
}
