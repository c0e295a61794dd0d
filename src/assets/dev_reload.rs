//! For `make dev` only: open pages ask now and then what is built, and load themselves again when it changes.

use super::Manifest;
use axum::{Router, http::header, routing::get};
use std::{env, time::SystemTime};

const SCRIPT: &str = "\
const version = async () => (await fetch('/dev/version')).text();
const loaded = await version();
for (;;) {
    await new Promise(resolve => setTimeout(resolve, 500));
    // While the server starts again there is nobody to answer.
    if (await version().catch(() => loaded) !== loaded) location.reload();
}
";

/// The address of a module script that pages include, if this server was started by `make dev`.
pub fn script() -> Option<&'static str> {
    env::var_os("PARLOR_DEV_RELOAD").map(|_| "/dev/reload.js")
}

pub(super) fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let Some(script) = script() else {
        return Router::new();
    };
    let started = SystemTime::now();
    let script_type = [(header::CONTENT_TYPE, "text/javascript; charset=utf-8")];
    Router::new()
        .route(script, get(async move || (script_type, SCRIPT)))
        .route(
            "/dev/version",
            get(async move || format!("{started:?} {:?}", Manifest::current())),
        )
}
