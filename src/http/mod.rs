//! Parlor over HTTP: the routes, the public contract for any client, and who may call.
//!
//! Handlers read as checklists and only translate; what is done is done in `runs`, `journal` and `storage`.

use std::sync::Arc;

use axum::{
    Router,
    extract::{DefaultBodyLimit, FromRef},
    middleware,
    routing::{any, get, post},
};
use leptos::prelude::LeptosOptions;
use tokio_util::sync::CancellationToken;
use tower_http::compression::{
    CompressionLayer,
    predicate::{NotForContentType, Predicate, SizeAbove},
};

use crate::{
    hub::Hub, journal::Journal, providers::Models, runs::Runs, settings::Settings, storage::Storage,
};

mod caller;
mod chat_stream;
mod event_stream;
mod form;
mod messages;
mod page;
mod panel;
mod parameters;
mod payload;
mod problem;
mod rpc_errors;
mod security;

pub use self::{
    caller::{Caller, caller, fingerprint},
    panel::view as panel_view,
    parameters::set as set_parameters,
};

/// What every handler can reach. Clones share everything.
#[derive(Clone)]
pub struct AppState {
    pub settings: Arc<Settings>,
    pub storage: Arc<dyn Storage>,
    pub journal: Journal,
    pub hub: Arc<Hub>,
    pub runs: Runs,
    pub models: Arc<Models>,
    pub leptos: LeptosOptions,
    /// Cancelled when the server goes down: event streams end, so that they don't hold it up.
    pub shutdown: CancellationToken,
}

impl FromRef<AppState> for LeptosOptions {
    fn from_ref(app: &AppState) -> Self {
        app.leptos.clone()
    }
}

/// All that Parlor answers.
pub fn router(app: AppState) -> Router {
    let page = page::routes(&app);
    // Event streams must not be held back to fill a compressor's buffer.
    let compression = CompressionLayer::new()
        .compress_when(SizeAbove::new(1024).and(NotForContentType::new("text/event-stream")));
    Router::new()
        .route("/api/chat/stream", post(chat_stream::start))
        .route(
            "/api/conversations/{conversation_id}/payloads/{payload_id}",
            get(panel::get),
        )
        .route(
            "/api/conversations/{conversation_id}/parameters",
            get(parameters::get).put(parameters::put),
        )
        .route("/api/events", get(event_stream::of_user))
        .route("/api/messages/{message_id}", get(messages::get))
        .route("/api/runs/{message_id}/events", get(chat_stream::resume))
        .route("/api/runs/{message_id}/continue", post(chat_stream::go_on))
        .route("/api/runs/{message_id}/stop", post(messages::stop))
        .route("/api/runs/{message_id}/approvals", post(messages::answer))
        .route("/api", any(problem::unknown_route))
        .route("/api/", any(problem::unknown_route))
        .route("/api/{*unknown}", any(problem::unknown_route))
        .method_not_allowed_fallback(problem::wrong_method)
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/send", post(form::send))
        .merge(page)
        .layer(DefaultBodyLimit::max(app.settings.limits.request_bytes))
        .layer(compression)
        .layer(middleware::from_fn(security::guard))
        .with_state(app)
}
