//! Charts of Plotly: the script that draws them, and their stored pictures. The script is the one of the package in the Python of the
//! sessions, so that both have the same version.

use std::time::UNIX_EPOCH;

use axum::{
    body::Body,
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use tokio_util::io::ReaderStream;

use super::{
    files::{CACHE_CONTROL_IMMUTABLE, FILE_CSP, READ_BYTES},
    problem::{self, Problem},
    texts,
};
use crate::app::{AppState, Caller, files, not_found};
use parlor_storage::StoredFile;

/// The text for a server whose Python has no Plotly.
const NO_SCRIPT: &str = "The Python of this Parlor has no package Plotly, which draws this chart.";

/// `GET /charts/plotly.js`: Plotly's script.
pub async fn script(State(app): State<AppState>, headers: HeaderMap) -> Response {
    let opened = match app.plotly.path().await {
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

/// Returns the picture in place of a chart that has not been drawn yet.
fn placeholder() -> String {
    let text = texts::CHART_NOT_DRAWN;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 800 450\" width=\"800\" height=\"450\">\
         <text x=\"400\" y=\"225\" text-anchor=\"middle\" font-family=\"system-ui, sans-serif\" font-size=\"16\" fill=\"#808080\">\
         {text}</text></svg>"
    )
}

/// `GET /rpc/files/{id}/picture`: the picture of a chart.
pub async fn picture(caller: Caller, path: Result<Path<String>, PathRejection>) -> Result<Response, Problem> {
    let id = problem::parse_id(path)?;
    let stored = caller.app.storage.file(caller.user_id, id).await?;
    picture_response(&caller.app, &stored.ok_or_else(not_found)?).await
}

/// Returns the picture of a chart, or what stands in its place.
pub async fn picture_response(app: &AppState, file: &StoredFile) -> Result<Response, Problem> {
    let picture = files::chart_picture(app, file).await?;
    let policy = [(header::CONTENT_SECURITY_POLICY, FILE_CSP)];
    let headers = |media_type, cache| [(header::CONTENT_TYPE, media_type), (header::CACHE_CONTROL, cache)];
    Ok(match picture {
        Some(picture) => (policy, headers("image/png", CACHE_CONTROL_IMMUTABLE), picture).into_response(),
        None => (policy, headers("image/svg+xml", "no-store"), placeholder()).into_response(),
    })
}

/// `POST /rpc/files/{id}/picture`: stores the picture of a chart, unless there is one.
pub async fn store_picture(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    body: Body,
) -> Result<StatusCode, Problem> {
    files::store_chart_picture(&caller, problem::parse_id(path)?, body).await?;
    Ok(StatusCode::NO_CONTENT)
}
