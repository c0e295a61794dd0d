//! The script that draws charts of Plotly: the one of the package in the Python of the sessions, so that both have the same version.

use std::time::UNIX_EPOCH;

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use tokio_util::io::ReaderStream;

use super::files::READ_BYTES;
use crate::app::AppState;

/// The text for a server whose Python has no Plotly.
const NO_SCRIPT: &str = "The Python of this Parlor has no package Plotly, which draws this chart.";

/// `GET /charts/plotly.js`: Plotly's script.
pub async fn script(State(app): State<AppState>, headers: HeaderMap) -> Response {
    let opened = match app.plotly.path() {
        Some(path) => tokio::fs::File::open(path).await.ok(),
        None => None,
    };
    let Some(file) = opened else {
        return (StatusCode::NOT_FOUND, NO_SCRIPT).into_response();
    };
    let Ok(metadata) = file.metadata().await else {
        return (StatusCode::NOT_FOUND, NO_SCRIPT).into_response();
    };
    let changed = metadata
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let changed = changed.unwrap_or_default().as_nanos();
    // Weak, as the response may be compressed.
    let tag = format!("W/\"{changed:x}-{:x}\"", metadata.len());
    let is_known = |known: &HeaderValue| known.to_str().is_ok_and(|known| known.contains(&tag));
    let kept = [
        (header::ETAG, tag.clone()),
        // An update of the package replaces it.
        (header::CACHE_CONTROL, "private, no-cache".into()),
    ];
    if headers.get(header::IF_NONE_MATCH).is_some_and(is_known) {
        return (StatusCode::NOT_MODIFIED, kept).into_response();
    }
    let content_type = [(header::CONTENT_TYPE, "text/javascript; charset=utf-8")];
    let stream = ReaderStream::with_capacity(file, READ_BYTES);
    (kept, content_type, Body::from_stream(stream)).into_response()
}
