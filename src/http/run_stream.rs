//! The stream of a run, for clients without the page. The run continues without a reader, and
//! `GET /api/runs/{id}/events?after=N` resumes the stream.

use axum::{
    extract::{Path, rejection::PathRejection},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    event_stream,
    problem::{self, Problem, bad_request},
    request::{QueryParameters, parse_intent_id},
    run_projection::RunProjection,
    tool_markers::ToolMarkers,
};
use crate::app::{Caller, fingerprint, not_found, turns};
use parlor_journal::hub::{Follower, Topic};
use parlor_protocol::{
    MessageId, Position,
    intent::{ContinueRun, Regenerate},
};
use parlor_storage::{RunKey, StoredRun};

/// The options of a new answer's stream.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ContinuationQuery {
    /// Includes diagnostics in the final payload.
    #[schemars(with = "Option<bool>")]
    diagnostics: Option<String>,
}

/// The requested part of a run's stream.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct RunStreamQuery {
    /// Only events after this position.
    #[schemars(with = "Option<Position>")]
    after: Option<String>,
    /// Includes diagnostics in the final payload.
    #[schemars(with = "Option<bool>")]
    diagnostics: Option<String>,
}

/// Continues an answer that was stopped, failed, was interrupted or was cut short, and streams it.
pub async fn continue_run(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    query: Result<QueryParameters<ContinuationQuery>, Problem>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (run, diagnostics) = load_named_run(&caller, path, query).await?;
    let intent = ContinueRun {
        intent_id: parse_intent_id(&headers)?,
        conversation_id: run.conversation_id,
        message_id: run.message_id,
    };
    let fingerprint = fingerprint(&intent)?;
    let started = caller
        .app
        .runs
        .continue_run(caller.user_id, intent, fingerprint)
        .await?;
    stream(caller, started.assistant_message_id, Position(0), diagnostics).await
}

/// Regenerates an answer, and streams it.
pub async fn regenerate(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    query: Result<QueryParameters<ContinuationQuery>, Problem>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (run, diagnostics) = load_named_run(&caller, path, query).await?;
    let intent = Regenerate {
        intent_id: parse_intent_id(&headers)?,
        conversation_id: run.conversation_id,
        message_id: run.message_id,
        model: None,
    };
    let fingerprint = fingerprint(&intent)?;
    let started = turns::regenerate(&caller, intent, fingerprint).await?;
    stream(caller, started.assistant_message_id, Position(0), diagnostics).await
}

/// Loads the run that the URL names. Also returns true if its diagnostics are requested.
async fn load_named_run(
    caller: &Caller,
    path: Result<Path<String>, PathRejection>,
    query: Result<QueryParameters<ContinuationQuery>, Problem>,
) -> Result<(RunKey, bool), Problem> {
    let message_id = problem::parse_message_id(path)?;
    let diagnostics = wants_diagnostics(query?.0.diagnostics.as_deref())?;
    let run = caller.app.storage.run(caller.user_id, message_id).await?;
    let key = run.ok_or_else(not_found)?.key;
    caller.require_not_deleted(key.conversation_id).await?;
    Ok((key, diagnostics))
}

/// Returns true if the final payload includes diagnostics: `?diagnostics=true`.
fn wants_diagnostics(value: Option<&str>) -> Result<bool, Problem> {
    match value {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(bad_request("diagnostics is either true or false.")),
    }
}

/// Streams the events of a run after a position.
pub async fn resume(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    query: Result<QueryParameters<RunStreamQuery>, Problem>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let run = problem::parse_message_id(path)?;
    let QueryParameters(query) = query?;
    let after = event_stream::parse_position(query.after.as_deref(), &headers)?.unwrap_or_default();
    stream(
        caller,
        run,
        after,
        wants_diagnostics(query.diagnostics.as_deref())?,
    )
    .await
}

/// Streams the events of a run after a position, to its end.
pub async fn stream(
    caller: Caller,
    run: MessageId,
    after: Position,
    diagnostics: bool,
) -> Result<Response, Problem> {
    let Caller { app, user_id, access } = &caller;
    let user_id = *user_id;
    let StoredRun {
        key,
        status,
        first_position,
        last_position,
    } = app
        .storage
        .run(user_id, run)
        .await?
        .ok_or_else(|| Problem(not_found()))?;
    caller.require_not_deleted(key.conversation_id).await?;
    // A reader that reconnects may have seen some of the events from before the run was continued.
    let after = if after == Position(0) {
        Position(first_position.0.saturating_sub(1))
    } else {
        after
    };
    if last_position.is_some_and(|last| after >= last) {
        // An EventSource that reconnects after the end. By its standard, this status tells it not to
        // reconnect.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    // Events that the reader has seen are read again, to compute the markers that follow.
    let begin = Position(first_position.0.saturating_sub(1)).min(after);
    let follower = Follower::new(
        app.hub.clone(),
        app.storage.clone(),
        Topic::Run(user_id, run),
        begin,
    );
    let (app, access) = (app.clone(), access.clone());
    let one_run = RunProjection {
        caller,
        run: key,
        after,
        markers: ToolMarkers::default(),
        diagnostics,
        has_ended: status.is_terminal(),
        was_ended: false,
    };
    Ok(event_stream::respond(follower, &app, access, one_run))
}
