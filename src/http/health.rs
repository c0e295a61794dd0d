//! The checks of orchestrators and proxies: alive, and ready. Everybody may ask, so the answers tell nothing of users or settings.

use axum::{
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};

use crate::app::AppState;

/// The path of the check that the server runs.
pub const ALIVE_PATH: &str = "/healthz";

/// The path of the check that the server can serve.
pub const READY_PATH: &str = "/readyz";

/// Returns true for the paths that are open to everybody, whatever a request has.
pub fn is_health_path(path: &str) -> bool {
    path == ALIVE_PATH || path == READY_PATH
}

/// Answers that the server runs.
pub async fn alive() -> &'static str {
    "ok\n"
}

/// Answers that the server can serve, or 503 with the reasons why it can't.
pub async fn ready(State(app): State<AppState>) -> Response {
    let problems = app.readiness.problems().await;
    let (status, text) = match problems.is_empty() {
        true => (StatusCode::OK, "ready\n".to_owned()),
        false => {
            let reasons: Vec<_> = problems.iter().map(ToString::to_string).collect();
            let text = format!("not ready: {}\n", reasons.join("; "));
            (StatusCode::SERVICE_UNAVAILABLE, text)
        }
    };
    (status, [(header::CACHE_CONTROL, "no-store")], text).into_response()
}
