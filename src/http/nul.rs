//! NUL in pages, which HTML parsers drop.

use axum::{
    body::{Body, Bytes},
    extract::Request,
    http::header,
    middleware::Next,
    response::Response,
};
use futures::TryStreamExt;

/// Replaces NUL by the replacement character. HTML parsers drop NUL from a text. If nothing else is in the
/// text, there is no text node to hydrate.
pub async fn replace_nul(request: Request, next: Next) -> Response {
    without_nul(next.run(request).await)
}

/// Replaces NUL in a page.
pub fn without_nul(response: Response) -> Response {
    let content_type = response.headers().get(header::CONTENT_TYPE);
    let is_html = content_type.is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
    if !is_html {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    parts.headers.remove(header::CONTENT_LENGTH);
    let chunks = body.into_data_stream().map_ok(replace_nul_bytes);
    Response::from_parts(parts, Body::from_stream(chunks))
}

fn replace_nul_bytes(chunk: Bytes) -> Bytes {
    if !chunk.contains(&0) {
        return chunk;
    }
    let parts: Vec<_> = chunk.split(|byte| *byte == 0).collect();
    parts.join("\u{fffd}".as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nul_becomes_the_replacement_character() {
        let replaced = replace_nul_bytes(Bytes::from_static(b"\0<p>a\0\0b\0</p>"));
        assert_eq!(replaced, "\u{fffd}<p>a\u{fffd}\u{fffd}b\u{fffd}</p>");
        assert_eq!(replace_nul_bytes(Bytes::from_static(b"<p></p>")), "<p></p>");
    }
}
