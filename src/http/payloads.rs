//! Payloads: as they were created, for any client, and as the panel shows them, for the page.

use axum::{
    Json,
    body::Body,
    extract::{Path, rejection::PathRejection},
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    content_disposition::content_disposition,
    problem::{self, Problem},
    request::{JsonBody, parse_intent_id},
};
use crate::app::{self, Caller};
use parlor_pages::payloads;
use parlor_protocol::{Payload, PayloadVerdict, Verdict, intent::JudgePayload};

/// `GET /api/conversations/{id}/payloads/{id}`: a payload that a tool or the model has created.
pub async fn get(
    caller: Caller,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<Json<PayloadWithVerdict>, Problem> {
    let (conversation_id, payload_id) = problem::parse_conversation_item(path)?;
    let judged = app::payloads::load_verdict(&caller, conversation_id, &payload_id).await?;
    let (verdict, accepted_fields) = judged
        .map(|judged| (judged.verdict, judged.accepted_fields))
        .unzip();
    Ok(Json(PayloadWithVerdict {
        payload: app::payloads::load(&caller, conversation_id, &payload_id).await?,
        verdict,
        accepted_fields: accepted_fields.unwrap_or_default(),
    }))
}

/// A payload, with the user's verdict if there is one.
#[derive(Serialize, JsonSchema)]
pub struct PayloadWithVerdict {
    #[serde(flatten)]
    payload: Payload,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Verdict>,
    /// The fields of the proposal that were accepted; missing if the verdict is about the whole of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    accepted_fields: Vec<String>,
}

/// `GET /api/conversations/{id}/payloads/{id}/file`: the payload as a download, in a common file format.
pub async fn file(
    caller: Caller,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<Response, Problem> {
    let (conversation_id, payload_id) = problem::parse_conversation_item(path)?;
    let payload = app::payloads::load(&caller, conversation_id, &payload_id).await?;
    if let Some(table) = app::stored_tables::csv(&caller, &payload).await? {
        let headers = [
            (header::CONTENT_TYPE, payloads::CSV_MEDIA_TYPE.to_owned()),
            (
                header::CONTENT_DISPOSITION,
                content_disposition("attachment", &table.name),
            ),
        ];
        return Ok((headers, Body::from_stream(table.lines)).into_response());
    }
    let file = app::payloads::convert_payload(payload, payloads::to_file).await?;
    let headers = [
        (header::CONTENT_TYPE, file.media_type.to_owned()),
        (
            header::CONTENT_DISPOSITION,
            content_disposition("attachment", &file.name),
        ),
    ];
    Ok((headers, file.content).into_response())
}

/// The user's verdict on a proposal.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerdictRequest {
    verdict: Verdict,
    /// The fields that are accepted, if not the whole proposal is: names of fields of its data, or of the items in its list.
    #[serde(default)]
    accepted_fields: Vec<String>,
}

/// `POST /api/conversations/{id}/payloads/{id}/verdict`: accepts or rejects a proposal. Returns the verdict
/// that counts, which is the first one.
pub async fn post_verdict(
    caller: Caller,
    path: Result<Path<(String, String)>, PathRejection>,
    headers: HeaderMap,
    body: Result<JsonBody<VerdictRequest>, Problem>,
) -> Result<Json<PayloadVerdict>, Problem> {
    let (conversation_id, payload_id) = problem::parse_conversation_item(path)?;
    let JsonBody(VerdictRequest {
        verdict,
        accepted_fields,
    }) = body?;
    let intent = JudgePayload {
        intent_id: parse_intent_id(&headers)?,
        conversation_id,
        payload_id,
        verdict,
        accepted_fields,
    };
    Ok(Json(app::payloads::judge(&caller, intent).await?))
}
