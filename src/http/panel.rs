//! A payload: as it was made, for any client, and as the panel shows it, for the page.

use axum::{
    Json,
    extract::{
        Path,
        rejection::{JsonRejection, PathRejection},
    },
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};

use super::{
    chat_stream::intent_id,
    disposition::disposition,
    problem::{self, Problem},
};
use crate::{
    app::{self, Caller},
    payloads,
    protocol::{Judged, Payload, Verdict, intent::Judge},
};

/// `GET /api/conversations/{id}/payloads/{id}`: what a tool or the model has made.
pub async fn get(
    caller: Caller,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<Json<Found>, Problem> {
    let (conversation_id, payload_id) = problem::within_conversation(path)?;
    Ok(Json(Found {
        payload: app::payloads::payload(&caller, conversation_id, &payload_id).await?,
        verdict: app::payloads::verdict(&caller, conversation_id, &payload_id).await?,
    }))
}

/// A payload, with what the person has said of it.
#[derive(Serialize)]
pub struct Found {
    #[serde(flatten)]
    payload: Payload,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
}

/// `GET /api/conversations/{id}/payloads/{id}/file`: the same to save, in the form that other programs read.
pub async fn file(
    caller: Caller,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<Response, Problem> {
    let (conversation_id, payload_id) = problem::within_conversation(path)?;
    let file = app::payloads::make(&caller, conversation_id, &payload_id, payloads::file).await?;
    let headers = [
        (header::CONTENT_TYPE, file.media_type.to_owned()),
        (header::CONTENT_DISPOSITION, disposition("attachment", &file.name)),
    ];
    Ok((headers, file.content).into_response())
}

/// What a person thinks of a proposal.
#[derive(Debug, Deserialize)]
pub struct Said {
    verdict: Verdict,
}

/// `POST /api/conversations/{id}/payloads/{id}/verdict`: accepts or rejects a proposal; answers with the verdict that counts.
pub async fn judged(
    caller: Caller,
    path: Result<Path<(String, String)>, PathRejection>,
    headers: HeaderMap,
    said: Result<Json<Said>, JsonRejection>,
) -> Result<Json<Judged>, Problem> {
    let (conversation_id, payload_id) = problem::within_conversation(path)?;
    let Json(Said { verdict }) = said?;
    let intent = Judge {
        intent_id: intent_id(&headers)?,
        conversation_id,
        payload_id: payload_id.clone(),
        verdict,
    };
    let verdict = app::payloads::judge(&caller, intent).await?;
    Ok(Json(Judged { payload_id, verdict }))
}
