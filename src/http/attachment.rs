//! Files returned by tools.
//!
//! They come from outside and are served from the origin of Parlor's own pages. Browsers therefore show only
//! images and sounds, of types that cannot contain scripts. They save everything else.

use axum::{
    body::Bytes,
    extract::{Path, rejection::PathRejection},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};

use super::{
    content_disposition::content_disposition,
    problem::{self, Problem},
};
use crate::{
    app::{Caller, not_found},
    protocol::{Attachment, AttachmentId, attachment::AttachmentDisplay},
    storage::StoredAttachment,
};

/// In its own tab, a file has no scripts, no forms and no origin. The styles are those that browsers use to
/// show an image.
const ATTACHMENT_CSP: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'";

/// The file of an id never changes.
const CACHE_CONTROL_IMMUTABLE: &str = "private, max-age=31536000, immutable";

/// `GET /api/attachments/{id}`: the contents of a file.
pub async fn get(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let id: AttachmentId = problem::parse_id(path)?;
    let stored = caller.app.storage.attachment(caller.user_id, id).await?;
    let StoredAttachment { attachment, data } = stored.ok_or_else(not_found)?;
    let tag = format!("\"{id}\"");
    let is_known = |known: &HeaderValue| known.to_str().is_ok_and(|known| known.contains(&tag));
    let mut response = if headers.get(header::IF_NONE_MATCH).is_some_and(is_known) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        file_response(&attachment, data, headers.get(header::RANGE))
    };
    let fixed_headers = [
        (header::ETAG, &*tag),
        (header::CACHE_CONTROL, CACHE_CONTROL_IMMUTABLE),
        (header::CONTENT_SECURITY_POLICY, ATTACHMENT_CSP),
        (header::ACCEPT_RANGES, "bytes"),
    ];
    for (name, value) in fixed_headers {
        if let Ok(value) = HeaderValue::from_str(value) {
            response.headers_mut().insert(name, value);
        }
    }
    Ok(response)
}

fn file_response(attachment: &Attachment, data: Bytes, range: Option<&HeaderValue>) -> Response {
    let is_saved = AttachmentDisplay::for_media_type(&attachment.media_type) == AttachmentDisplay::Download;
    let (media_type, how) = if is_saved {
        ("application/octet-stream", "attachment")
    } else {
        (&*attachment.media_type, "inline")
    };
    let headers = [
        (header::CONTENT_TYPE, media_type.to_owned()),
        (
            header::CONTENT_DISPOSITION,
            content_disposition(how, &attachment.name),
        ),
    ];
    // Some browsers play a sound only if they can request it in parts.
    let length = data.len();
    match range.and_then(|range| parse_range(range.to_str().ok()?, length)) {
        Some((from, to)) => {
            let range = [(header::CONTENT_RANGE, format!("bytes {from}-{}/{length}", to - 1))];
            (StatusCode::PARTIAL_CONTENT, headers, range, data.slice(from..to)).into_response()
        }
        None => (headers, data).into_response(),
    }
}

/// Parses the single range of a request. Returns `None` for several ranges and for ranges outside the file;
/// the response then has the whole file.
fn parse_range(range: &str, length: usize) -> Option<(usize, usize)> {
    let (from, to) = range.strip_prefix("bytes=")?.split_once('-')?;
    let (from, to) = if from.is_empty() {
        (length.saturating_sub(to.parse().ok()?), length)
    } else {
        let last: usize = if to.is_empty() { length } else { to.parse().ok()? };
        (from.parse().ok()?, last.saturating_add(1).min(length))
    };
    (from < to).then_some((from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_lies_within_the_file() {
        for (range, expected) in [
            ("bytes=0-", Some((0, 10))),
            ("bytes=2-4", Some((2, 5))),
            ("bytes=2-400", Some((2, 10))),
            ("bytes=-3", Some((7, 10))),
            ("bytes=-300", Some((0, 10))),
            ("bytes=0-18446744073709551615", Some((0, 10))),
            ("bytes=10-", None),
            ("bytes=4-2", None),
            ("bytes=-0", None),
            ("bytes=0-1,3-4", None),
            ("lines=0-", None),
            ("bytes=", None),
        ] {
            assert_eq!(parse_range(range, 10), expected, "{range}");
        }
        assert_eq!(parse_range("bytes=0-", 0), None);
    }
}
