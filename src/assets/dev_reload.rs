//! Reloading in `make dev`: open pages poll the build's version and reload when it changes.

use super::Manifest;
use axum::{Router, http::header, routing::get};
use std::{env, time::SystemTime};

const SCRIPT: &str = "\
const version = async () => (await fetch('/dev/version')).text();
const loaded = await version();
for (;;) {
    await new Promise(resolve => setTimeout(resolve, 500));
    // The server does not respond while it restarts.
    if (await version().catch(() => loaded) !== loaded) location.reload();
}
";

/// Returns the URL of a module script for all pages, if this server was started by `make dev`.
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
