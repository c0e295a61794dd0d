//! `GET /api/openapi.json`: the public contract for programs. `docs/http.md` is the one for people.
//!
//! The document is written by hand: what derives one from types would have to be on the types that the browser is compiled
//! with too, does not know those that read and write themselves, and has no words for event streams. Tests see to it that
//! document and server agree: here for addresses and events, and in `tests/server` for every response there.

use axum::{http::header, response::IntoResponse};

/// The document.
pub const DOCUMENT: &str = include_str!("../../docs/openapi.json");

pub async fn get() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], DOCUMENT)
}
