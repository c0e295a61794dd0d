//! `GET /api/openapi.json`: the public contract for programs. `docs/http.md` documents it for people, and
//! `docs/openapi.json` is a copy (`make openapi`).
//!
//! aide derives it from the routes, the handlers' types and schemars' schemas, with doc comments as
//! descriptions. utoipa 6 was weighed: its `ToSchema` has one schema for both directions and takes every
//! `Option` for a field that may be missing, so each field of a response that is always present would need an
//! attribute. schemars derives the two directions apart, and tool inputs use it already.
//!
//! Tests check that document and server agree: here for events, and in `tests/server` for every response
//! there.

pub(super) mod column_operations;
pub(super) mod endpoint_operations;
pub(super) mod generator;
pub(super) mod job_operations;
pub(super) mod operations;
pub(super) mod own_key_operations;
mod parts;
pub(super) mod project_operations;
pub(super) mod schedule_operations;
mod schemas;
mod simplify;

use std::sync::LazyLock;

use axum::{
    Router,
    http::header,
    response::{IntoResponse, Response},
};

use crate::app::AppState;

/// Returns the routes of the public contract.
pub(super) fn routes() -> Router<AppState> {
    generator::without_document(super::contract_routes)
}

/// Returns the OpenAPI document, as JSON, which is made at the first request for it.
pub fn document() -> &'static str {
    static DOCUMENT: LazyLock<String> = LazyLock::new(|| {
        let document = generator::describe(super::contract_routes);
        serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
    });
    &DOCUMENT
}

/// `GET /api/openapi.json`
pub async fn get() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], document()).into_response()
}

#[cfg(test)]
mod tests;
