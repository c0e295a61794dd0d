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
    chat_stream::parse_intent_id,
    content_disposition::content_disposition,
    problem::{self, Problem},
};
use crate::{
    app::{self, Caller},
    payloads,
    protocol::{Payload, PayloadVerdict, Verdict, intent::JudgePayload},
};

/// `GET /api/conversations/{id}/payloads/{id}`: what a tool or the model has made.
pub async fn get(
    caller: Caller,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<Json<PayloadWithVerdict>, Problem> {
    let (conversation_id, payload_id) = problem::parse_conversation_item(path)?;
    Ok(Json(PayloadWithVerdict {
        payload: app::payloads::load(&caller, conversation_id, &payload_id).await?,
        verdict: app::payloads::load_verdict(&caller, conversation_id, &payload_id).await?,
    }))
}

/// A payload, with what the person has said of it.
#[derive(Serialize)]
pub struct PayloadWithVerdict {
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
    let (conversation_id, payload_id) = problem::parse_conversation_item(path)?;
    let file = app::payloads::convert(&caller, conversation_id, &payload_id, payloads::to_file).await?;
    let headers = [
        (header::CONTENT_TYPE, file.media_type.to_owned()),
        (
            header::CONTENT_DISPOSITION,
            content_disposition("attachment", &file.name),
        ),
    ];
    Ok((headers, file.content).into_response())
}

/// What a person thinks of a proposal.
#[derive(Debug, Deserialize)]
pub struct VerdictRequest {
    verdict: Verdict,
}

/// `POST /api/conversations/{id}/payloads/{id}/verdict`: accepts or rejects a proposal; answers with the verdict that counts.
pub async fn post_verdict(
    caller: Caller,
    path: Result<Path<(String, String)>, PathRejection>,
    headers: HeaderMap,
    said: Result<Json<VerdictRequest>, JsonRejection>,
) -> Result<Json<PayloadVerdict>, Problem> {
    let (conversation_id, payload_id) = problem::parse_conversation_item(path)?;
    let Json(VerdictRequest { verdict }) = said?;
    let intent = JudgePayload {
        intent_id: parse_intent_id(&headers)?,
        conversation_id,
        payload_id: payload_id.clone(),
        verdict,
    };
    let verdict = app::payloads::judge(&caller, intent).await?;
    Ok(Json(PayloadVerdict { payload_id, verdict }))
}
