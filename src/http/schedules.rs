//! `/api/schedules`: prompts that are sent at planned times.

use axum::{
    Json,
    extract::{Path, rejection::PathRejection},
    http::{HeaderMap, StatusCode},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    problem::{self, Problem},
    request::{JsonBody, parse_intent_id},
};
use crate::app::{Caller, schedules};
use parlor_protocol::{
    ConversationId, JobId, ListedSchedule, MessageId, RunSchedule, Schedule, ScheduleList, ScheduleStarted,
};

/// The answer or the report that a schedule has begun.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct ScheduleStart {
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation_id: Option<ConversationId>,
    /// The message that the schedule has sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_message_id: Option<MessageId>,
    /// The answer, which is also the id of its run.
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<MessageId>,
    /// The job that makes the report, in place of a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    report_id: Option<JobId>,
}

/// `GET /api/schedules`
pub async fn list(caller: Caller) -> Result<Json<ScheduleList>, Problem> {
    Ok(Json(schedules::list(&caller).await?))
}

/// `GET /api/schedules/{schedule_id}`
pub async fn get(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<ListedSchedule>, Problem> {
    Ok(Json(schedules::get(&caller, problem::parse_id(path)?).await?))
}

/// `PUT /api/schedules/{schedule_id}`: saves a new one, or another version of one.
pub async fn put(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    body: Result<JsonBody<Schedule>, Problem>,
) -> Result<Json<ListedSchedule>, Problem> {
    let id = problem::parse_id(path)?;
    let JsonBody(schedule) = body?;
    Ok(Json(schedules::save(&caller, id, schedule).await?))
}

/// `DELETE /api/schedules/{schedule_id}`
pub async fn delete(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<StatusCode, Problem> {
    schedules::delete(&caller, problem::parse_id(path)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /api/schedules/{schedule_id}/run`: sends its prompt or makes its report now.
pub async fn run(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Result<Json<ScheduleStart>, Problem> {
    let intent = RunSchedule {
        intent_id: parse_intent_id(&headers)?,
        schedule_id: problem::parse_id(path)?,
    };
    Ok(Json(match schedules::run(&caller, intent).await? {
        ScheduleStarted::Answer(run) => ScheduleStart {
            conversation_id: Some(run.conversation_id),
            user_message_id: Some(run.user_message_id),
            message_id: Some(run.assistant_message_id),
            report_id: None,
        },
        ScheduleStarted::Report(report_id) => ScheduleStart {
            report_id: Some(report_id),
            ..ScheduleStart::default()
        },
    }))
}
