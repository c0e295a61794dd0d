//! `/api/jobs`: work with a plan of steps that goes on while nobody looks.

use axum::{
    Json,
    extract::{Path, rejection::PathRejection},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    content_disposition::content_disposition,
    problem::{self, Problem},
    request::{JsonBody, QueryParameters, parse_intent_id},
};
use crate::app::{Caller, fingerprint};
use parlor_protocol::{
    ApiError, Dollars, ErrorCode, JobId, RawJson, RunError, Timestamp,
    job::{Job, JobList},
    report::{REPORT, Report},
};
use parlor_runs::reports::ExportFormat;
use parlor_runs::{diagnostics::StepCall, jobs::JobRequest};
use parlor_storage::jobs::{StoredJob, StoredStep};

/// A new job.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct NewJob {
    /// `report`: a report of a research stream. `columns`: the answers to the questions of columns.
    kind: String,
    /// Of a report: `{"stream_id": …}`. Of columns: `{"source": …}`, what has the rows.
    input: RawJson,
    /// The model of its steps; the default one if missing.
    model: Option<String>,
    /// The cost in US dollars at which it begins no further step.
    cost_limit: Option<Dollars>,
}

/// The decision to continue a job.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "an object")]
pub struct ContinuedJob {
    /// Another cost limit, in US dollars.
    cost_limit: Option<Dollars>,
}

/// A job with its input and its result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct JobDetails {
    #[serde(flatten)]
    job: Job,
    input: RawJson,
    /// The result of a complete job; null before. Of a report: its articles, each with `relevance`, `cells` and their passages, and the
    /// claims of the summary.
    result: Option<RawJson>,
}

impl From<StoredJob> for JobDetails {
    fn from(stored: StoredJob) -> Self {
        Self {
            job: stored.job,
            input: RawJson::parse_or_quote(&stored.input),
            result: stored.result.as_deref().map(RawJson::parse_or_quote),
        }
    }
}

/// A step of a job. Without output and error it is in progress, or its outcome is unknown.
#[derive(Debug, Serialize, JsonSchema)]
pub struct JobStep {
    /// Unique in its job.
    key: String,
    kind: String,
    input: RawJson,
    output: Option<RawJson>,
    error: Option<RunError>,
    /// The number of times that it was started.
    attempts: usize,
    started_at: Timestamp,
    ended_at: Option<Timestamp>,
}

impl From<StoredStep> for JobStep {
    fn from(step: StoredStep) -> Self {
        Self {
            key: step.key,
            kind: step.kind,
            input: RawJson::parse_or_quote(&step.input),
            output: step.output.as_deref().map(RawJson::parse_or_quote),
            error: step.error,
            attempts: step.attempts,
            started_at: step.started_at,
            ended_at: step.ended_at,
        }
    }
}

/// The steps of a job.
#[derive(Debug, Serialize, JsonSchema)]
pub struct JobSteps {
    /// In the order of their first starts.
    steps: Vec<JobStep>,
}

/// The model calls of a job.
#[derive(Debug, Serialize, JsonSchema)]
pub struct JobDiagnostics {
    /// Oldest first. They never contain keys or passwords.
    calls: Vec<StepCall>,
}

/// `GET /api/jobs`
pub async fn list(caller: Caller) -> Result<Json<JobList>, Problem> {
    Ok(Json(caller.app.storage.jobs(caller.user_id).await?))
}

/// `POST /api/jobs`: starts a job, whose id is the idempotency key.
pub async fn start(
    caller: Caller,
    headers: HeaderMap,
    body: Result<JsonBody<NewJob>, Problem>,
) -> Result<(StatusCode, Json<JobDetails>), Problem> {
    let JsonBody(new) = body?;
    let request = JobRequest {
        id: JobId(parse_intent_id(&headers)?.0),
        fingerprint: fingerprint(&new)?,
        kind: new.kind,
        input: new.input,
        model: new.model,
        cost_limit: new.cost_limit,
        scheduled: None,
    };
    let started = caller.app.jobs.start(caller.user_id, request).await?;
    Ok((StatusCode::CREATED, Json(started.into())))
}

/// `GET /api/jobs/{job_id}`
pub async fn get(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<JobDetails>, Problem> {
    let job_id = problem::parse_id(path)?;
    Ok(Json(
        caller.app.jobs.require(caller.user_id, job_id).await?.into(),
    ))
}

/// `DELETE /api/jobs/{job_id}`
pub async fn delete(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<StatusCode, Problem> {
    let job_id = problem::parse_id(path)?;
    caller.app.jobs.delete(caller.user_id, job_id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /api/jobs/{job_id}/stop`
pub async fn stop(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<JobDetails>, Problem> {
    let job_id = problem::parse_id(path)?;
    Ok(Json(caller.app.jobs.stop(caller.user_id, job_id).await?.into()))
}

/// `POST /api/jobs/{job_id}/continue`
pub async fn go_on(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    body: Result<JsonBody<ContinuedJob>, Problem>,
) -> Result<Json<JobDetails>, Problem> {
    let JsonBody(ContinuedJob { cost_limit }) = body?;
    let job_id = problem::parse_id(path)?;
    let continued = caller.app.jobs.go_on(caller.user_id, job_id, cost_limit).await?;
    Ok(Json(continued.into()))
}

/// The file of a report.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ExportParameters {
    /// `markdown` if missing.
    format: Option<ExportFormat>,
}

/// `GET /api/jobs/{job_id}/export`: the report as a file.
pub async fn export(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    parameters: Result<QueryParameters<ExportParameters>, Problem>,
) -> Result<Response, Problem> {
    let job_id = problem::parse_id(path)?;
    let QueryParameters(ExportParameters { format }) = parameters?;
    let stored = caller.app.jobs.require(caller.user_id, job_id).await?;
    let result = stored
        .result
        .filter(|_| stored.job.kind == REPORT)
        .ok_or_else(|| {
            ApiError::new(
                ErrorCode::BadRequest,
                "Only a complete report can be exported. Wait until it is complete, or continue it.",
            )
        })?;
    let report: Report = serde_json::from_str(&result).map_err(ApiError::unreadable)?;
    let format = format.unwrap_or(ExportFormat::Markdown);
    let file = parlor_runs::reports::export(&report, stored.job.created_at, format);
    let headers = [
        (header::CONTENT_TYPE, file.media_type.to_owned()),
        (
            header::CONTENT_DISPOSITION,
            content_disposition("attachment", &file.name),
        ),
    ];
    Ok((headers, file.content).into_response())
}

/// `GET /api/jobs/{job_id}/steps`
pub async fn steps(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<JobSteps>, Problem> {
    let job_id = problem::parse_id(path)?;
    caller.app.jobs.require(caller.user_id, job_id).await?;
    let steps = caller.app.storage.job_steps(caller.user_id, job_id).await?;
    Ok(Json(JobSteps {
        steps: steps.into_iter().map(JobStep::from).collect(),
    }))
}

/// `GET /api/jobs/{job_id}/diagnostics`
pub async fn diagnostics(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<JobDiagnostics>, Problem> {
    let job_id = problem::parse_id(path)?;
    let job = caller.app.jobs.require(caller.user_id, job_id).await?;
    let recorded = caller.app.storage.job_calls(caller.user_id, job_id).await?;
    let calls = StepCall::load(recorded, job.job.status)?;
    Ok(Json(JobDiagnostics { calls }))
}
