//! Parlor over HTTP: the routes, the public contract for any client, and access control.
//!
//! Handlers are short and only translate. The work is done in `app` and below it.

use aide::axum::{
    ApiRouter,
    routing::{delete_with, get_with, patch_with, post_with, put_with},
};
use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware,
    routing::{any, get, post},
};
use tower_http::compression::{
    CompressionLayer,
    predicate::{NotForContentType, Predicate, SizeAbove},
};

use self::openapi::{
    column_operations, endpoint_operations, job_operations, operations, own_key_operations,
    project_operations, schedule_operations,
};
use crate::app::AppState;

mod accounts;
mod authentication;
mod batch;
mod caller;
mod charts;
mod chat_stream;
mod client;
mod columns;
mod connections;
mod content_disposition;
mod conversations;
mod cors;
#[cfg(debug_assertions)]
mod design;
mod diagnostics;
mod document;
mod endpoints;
mod error_response;
mod event_stream;
mod files;
mod form;
mod framed_page;
mod health;
mod interaction;
mod jobs;
mod measure;
mod messages;
mod metrics;
mod notebook;
mod nul;
pub mod openapi;
mod origin;
mod own_keys;
mod page;
mod parameters;
mod payloads;
mod problem;
mod projects;
mod request;
mod rpc;
mod run_projection;
mod run_result;
mod run_stream;
mod schedules;
mod search;
mod security;
mod shared;
mod shared_projects;
mod texts;
mod tool_markers;
mod upload;

pub use self::{
    connections::{fill_date_cache, serve},
    metrics::own_router as metrics_router,
};

/// The routes of the public contract, with their descriptions.
fn contract_routes() -> ApiRouter<AppState> {
    ApiRouter::new()
        .api_route(
            "/api/attachments/{attachment_id}",
            get_with(files::get, operations::get_attachment),
        )
        .api_route("/api/chat/batch", post_with(batch::start, operations::chat_batch))
        .api_route(
            "/api/chat/stream",
            post_with(chat_stream::start, operations::chat_stream),
        )
        .api_route(
            "/api/conversations",
            get_with(conversations::list, operations::list_conversations),
        )
        .api_route(
            "/api/conversations/{conversation_id}",
            get_with(conversations::get, operations::get_conversation)
                .patch_with(conversations::update, operations::update_conversation)
                .delete_with(conversations::delete, operations::delete_conversation),
        )
        .api_route(
            "/api/conversations/{conversation_id}/messages",
            get_with(conversations::messages, operations::list_messages),
        )
        .api_route(
            "/api/conversations/{conversation_id}/notebook",
            get_with(notebook::get, operations::save_notebook),
        )
        .api_route(
            "/api/conversations/{conversation_id}/parameters",
            get_with(parameters::get, operations::get_parameters)
                .put_with(parameters::put, operations::set_parameters),
        )
        .api_route(
            "/api/conversations/{conversation_id}/payloads/{payload_id}",
            get_with(payloads::get, operations::get_payload),
        )
        .api_route(
            "/api/conversations/{conversation_id}/payloads/{payload_id}/file",
            get_with(payloads::file, operations::save_payload),
        )
        .api_route(
            "/api/conversations/{conversation_id}/payloads/{payload_id}/verdict",
            post_with(payloads::post_verdict, operations::judge_payload),
        )
        .api_route(
            "/api/endpoints",
            get_with(endpoints::list, endpoint_operations::list_endpoints)
                .post_with(endpoints::add, endpoint_operations::add_endpoint),
        )
        .api_route(
            "/api/endpoints/test",
            post_with(endpoints::test, endpoint_operations::test_endpoint),
        )
        .api_route(
            "/api/endpoints/{endpoint_id}",
            patch_with(endpoints::change, endpoint_operations::change_endpoint)
                .delete_with(endpoints::remove, endpoint_operations::remove_endpoint),
        )
        .api_route(
            "/api/events",
            get_with(event_stream::stream_user_log, operations::follow_events),
        )
        .api_route(
            "/api/files",
            get_with(files::list, operations::list_files).post_with(files::upload, operations::upload_file),
        )
        .api_route(
            "/api/files/{file_id}",
            get_with(files::get, operations::get_file).delete_with(files::delete, operations::delete_file),
        )
        .api_route(
            "/api/columns",
            get_with(columns::list, column_operations::list_columns),
        )
        .api_route(
            "/api/columns/estimate",
            get_with(columns::estimate, column_operations::estimate_columns),
        )
        .api_route(
            "/api/columns/rows",
            get_with(columns::rows, column_operations::list_column_rows),
        )
        .api_route(
            "/api/columns/{column_id}",
            put_with(columns::put, column_operations::save_column)
                .delete_with(columns::delete, column_operations::delete_column),
        )
        .api_route(
            "/api/columns/{column_id}/cells/{row}",
            get_with(columns::get_cell, column_operations::get_cell)
                .put_with(columns::correct_cell, column_operations::correct_cell)
                .delete_with(
                    columns::take_back_correction,
                    column_operations::take_back_correction,
                ),
        )
        .api_route(
            "/api/jobs",
            get_with(jobs::list, job_operations::list_jobs).post_with(jobs::start, job_operations::start_job),
        )
        .api_route(
            "/api/jobs/{job_id}",
            get_with(jobs::get, job_operations::get_job)
                .delete_with(jobs::delete, job_operations::delete_job),
        )
        .api_route(
            "/api/jobs/{job_id}/continue",
            post_with(jobs::go_on, job_operations::continue_job),
        )
        .api_route(
            "/api/jobs/{job_id}/diagnostics",
            get_with(jobs::diagnostics, job_operations::get_job_diagnostics),
        )
        .api_route(
            "/api/jobs/{job_id}/export",
            get_with(jobs::export, job_operations::export_report),
        )
        .api_route(
            "/api/jobs/{job_id}/steps",
            get_with(jobs::steps, job_operations::list_job_steps),
        )
        .api_route(
            "/api/jobs/{job_id}/stop",
            post_with(jobs::stop, job_operations::stop_job),
        )
        .api_route(
            "/api/messages/{message_id}",
            get_with(messages::get, operations::get_message)
                .delete_with(messages::delete, operations::delete_message),
        )
        .api_route(
            "/api/messages/{message_id}/branch",
            post_with(conversations::branch, operations::branch_conversation),
        )
        .api_route(
            "/api/messages/{message_id}/diagnostics",
            get_with(diagnostics::get, operations::get_diagnostics),
        )
        .api_route(
            "/api/models",
            get_with(messages::list_models, operations::list_models),
        )
        .api_route(
            "/api/openapi.json",
            get_with(openapi::get, operations::get_open_api),
        )
        .api_route(
            "/api/own-keys",
            get_with(own_keys::list, own_key_operations::list_own_keys)
                .post_with(own_keys::add, own_key_operations::add_own_key),
        )
        .api_route(
            "/api/own-keys/allowed",
            put_with(own_keys::allow, own_key_operations::allow_own_keys),
        )
        .api_route(
            "/api/own-keys/test",
            post_with(own_keys::test, own_key_operations::test_own_key),
        )
        .api_route(
            "/api/own-keys/{key_id}",
            patch_with(own_keys::change, own_key_operations::change_own_key)
                .delete_with(own_keys::remove, own_key_operations::remove_own_key),
        )
        .api_route(
            "/api/projects",
            get_with(projects::list, project_operations::list_projects),
        )
        .api_route(
            "/api/projects/{project_id}",
            get_with(projects::get, project_operations::get_project)
                .put_with(projects::put, project_operations::save_project)
                .delete_with(projects::delete, project_operations::delete_project),
        )
        .api_route(
            "/api/projects/{project_id}/files",
            get_with(projects::list_files, project_operations::list_project_files)
                .post_with(projects::add_file, project_operations::add_project_file),
        )
        .api_route(
            "/api/projects/{project_id}/files/{file_id}",
            delete_with(projects::delete_file, project_operations::delete_project_file),
        )
        .api_route(
            "/api/projects/{project_id}/readers",
            get_with(shared_projects::readers, project_operations::list_project_readers),
        )
        .api_route(
            "/api/projects/{project_id}/readers/{name}",
            put_with(
                shared_projects::add_reader,
                project_operations::add_project_reader,
            )
            .delete_with(
                shared_projects::remove_reader,
                project_operations::remove_project_reader,
            ),
        )
        .api_route(
            "/api/runs/{message_id}",
            get_with(messages::get_run, operations::get_run),
        )
        .api_route(
            "/api/runs/{message_id}/approvals",
            post_with(messages::answer_approval, operations::answer_approval),
        )
        .api_route(
            "/api/runs/{message_id}/continue",
            post_with(run_stream::continue_run, operations::continue_run),
        )
        .api_route(
            "/api/runs/{message_id}/events",
            get_with(run_stream::resume, operations::follow_run),
        )
        .api_route(
            "/api/runs/{message_id}/regenerate",
            post_with(run_stream::regenerate, operations::regenerate_run),
        )
        .api_route(
            "/api/runs/{message_id}/stop",
            post_with(messages::stop_run, operations::stop_run),
        )
        .api_route(
            "/api/schedules",
            get_with(schedules::list, schedule_operations::list_schedules),
        )
        .api_route(
            "/api/schedules/{schedule_id}",
            get_with(schedules::get, schedule_operations::get_schedule)
                .put_with(schedules::put, schedule_operations::save_schedule)
                .delete_with(schedules::delete, schedule_operations::delete_schedule),
        )
        .api_route(
            "/api/schedules/{schedule_id}/run",
            post_with(schedules::run, schedule_operations::run_schedule),
        )
        .api_route("/api/search", get_with(search::get, operations::search))
        .api_route(
            "/api/shared-projects/{project_id}",
            get_with(shared_projects::get, project_operations::get_shared_project)
                .delete_with(shared_projects::leave, project_operations::leave_shared_project),
        )
        .api_route(
            "/api/shared-projects/{project_id}/files/{file_id}",
            get_with(shared_projects::file, project_operations::get_shared_project_file),
        )
}

/// Builds the router of all routes.
pub fn router(app: AppState) -> Router {
    let page = page::routes(&app);
    #[cfg(debug_assertions)]
    let page = page.merge(design::routes());
    // A compressor would delay the events of a stream until its buffer is full.
    // Images and sounds are compressed already, and ranges refer to the uncompressed file.
    let worth_it = SizeAbove::new(1024)
        .and(NotForContentType::new("text/event-stream"))
        .and(NotForContentType::IMAGES)
        .and(NotForContentType::new("audio/"))
        .and(NotForContentType::new("application/octet-stream"));
    let compression = CompressionLayer::new().compress_when(worth_it);
    openapi::routes()
        .route("/api", any(error_response::unknown_path))
        .route("/api/", any(error_response::unknown_path))
        .route("/api/{*unknown}", any(error_response::unknown_path))
        .route("/v1", any(error_response::unknown_path))
        .route("/v1/", any(error_response::unknown_path))
        .route("/v1/{*unknown}", any(error_response::unknown_path))
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/send", post(form::send))
        .route(framed_page::PATH, post(framed_page::show))
        .route("/charts/plotly.js", get(charts::script))
        .merge(page)
        .merge(accounts::routes(&app))
        .merge(shared::routes())
        .merge(metrics::routes(&app))
        .method_not_allowed_fallback(error_response::method_not_allowed)
        .layer(DefaultBodyLimit::max(app.settings.limits.request_bytes))
        .layer(compression)
        .layer(middleware::from_fn_with_state(app.clone(), shared::add_headers))
        .layer(middleware::from_fn_with_state(app.clone(), security::guard))
        .layer(middleware::from_fn(cors::expose_response))
        .layer(middleware::from_fn_with_state(app.clone(), measure::measure))
        .with_state(app)
}
