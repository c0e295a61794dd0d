//! Parlor over HTTP: the routes, the public contract for any client, and access control.
//!
//! Handlers are short and only translate. The work is done in `app` and below it.

use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware,
    routing::{MethodRouter, any, get, post},
};
use tower_http::compression::{
    CompressionLayer,
    predicate::{NotForContentType, Predicate, SizeAbove},
};

use crate::app::AppState;

mod attachment;
mod batch;
mod caller;
mod chat_stream;
mod connections;
mod content_disposition;
mod conversations;
mod cors;
mod diagnostics;
mod error_response;
mod event_stream;
mod form;
mod interaction;
mod messages;
pub mod openapi;
mod origin;
mod page;
mod parameters;
mod payloads;
mod problem;
mod rpc;
mod run_result;
mod security;
mod tool_markers;
mod upload;

pub use self::connections::serve;

/// The routes of the public contract. `docs/openapi.json` describes each.
fn contract_routes() -> Vec<(&'static str, MethodRouter<AppState>)> {
    vec![
        ("/api/attachments/{attachment_id}", get(attachment::get)),
        ("/api/chat/batch", post(batch::start)),
        ("/api/chat/stream", post(chat_stream::start)),
        ("/api/conversations", get(conversations::list)),
        (
            "/api/conversations/{conversation_id}",
            get(conversations::get)
                .patch(conversations::rename)
                .delete(conversations::delete),
        ),
        (
            "/api/conversations/{conversation_id}/messages",
            get(conversations::messages),
        ),
        (
            "/api/conversations/{conversation_id}/parameters",
            get(parameters::get).put(parameters::put),
        ),
        (
            "/api/conversations/{conversation_id}/payloads/{payload_id}",
            get(payloads::get),
        ),
        (
            "/api/conversations/{conversation_id}/payloads/{payload_id}/file",
            get(payloads::file),
        ),
        (
            "/api/conversations/{conversation_id}/payloads/{payload_id}/verdict",
            post(payloads::post_verdict),
        ),
        ("/api/events", get(event_stream::stream_user_log)),
        ("/api/messages/{message_id}", get(messages::get)),
        ("/api/messages/{message_id}/diagnostics", get(diagnostics::get)),
        ("/api/models", get(messages::list_models)),
        ("/api/openapi.json", get(openapi::get)),
        ("/api/runs/{message_id}", get(messages::get_run)),
        (
            "/api/runs/{message_id}/approvals",
            post(messages::answer_approval),
        ),
        ("/api/runs/{message_id}/continue", post(chat_stream::continue_run)),
        ("/api/runs/{message_id}/events", get(chat_stream::resume)),
        ("/api/runs/{message_id}/regenerate", post(chat_stream::regenerate)),
        ("/api/runs/{message_id}/stop", post(messages::stop_run)),
    ]
}

/// Builds the router of all routes.
pub fn router(app: AppState) -> Router {
    let page = page::routes(&app);
    // A compressor would delay the events of a stream until its buffer is full.
    // Images and sounds are compressed already, and ranges refer to the uncompressed file.
    let worth_it = SizeAbove::new(1024)
        .and(NotForContentType::new("text/event-stream"))
        .and(NotForContentType::IMAGES)
        .and(NotForContentType::new("audio/"))
        .and(NotForContentType::new("application/octet-stream"));
    let compression = CompressionLayer::new().compress_when(worth_it);
    contract_routes()
        .into_iter()
        .fold(Router::new(), |router, (path, methods)| {
            router.route(path, methods)
        })
        .route("/api", any(error_response::unknown_address))
        .route("/api/", any(error_response::unknown_address))
        .route("/api/{*unknown}", any(error_response::unknown_address))
        .route("/v1", any(error_response::unknown_address))
        .route("/v1/", any(error_response::unknown_address))
        .route("/v1/{*unknown}", any(error_response::unknown_address))
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/send", post(form::send))
        .merge(page)
        .method_not_allowed_fallback(error_response::method_not_allowed)
        .layer(DefaultBodyLimit::max(app.settings.limits.request_bytes))
        .layer(compression)
        .layer(middleware::from_fn_with_state(app.clone(), security::guard))
        .with_state(app)
}
