//! `/api/projects`: conversations that belong together.

use axum::{
    Json,
    extract::{Path, rejection::PathRejection},
    http::StatusCode,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    problem::{self, Problem},
    request::{JsonBody, QueryParameters},
};
use crate::app::{Caller, projects};
use parlor_protocol::{ListedProject, Project, ProjectConversations, ProjectList};

/// `GET /api/projects`
pub async fn list(caller: Caller) -> Result<Json<ProjectList>, Problem> {
    Ok(Json(projects::list(&caller).await?))
}

/// `GET /api/projects/{project_id}`
pub async fn get(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<ListedProject>, Problem> {
    Ok(Json(projects::get(&caller, problem::parse_id(path)?).await?))
}

/// `PUT /api/projects/{project_id}`: saves a new one, or another version of one.
pub async fn put(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    body: Result<JsonBody<Project>, Problem>,
) -> Result<Json<ListedProject>, Problem> {
    let id = problem::parse_id(path)?;
    let JsonBody(project) = body?;
    Ok(Json(projects::save(&caller, id, project).await?))
}

/// The fate of the conversations.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct DeletionQuery {
    /// `keep` (default): they stay, in no project. `delete`: they are deleted.
    #[serde(default)]
    conversations: ProjectConversations,
}

/// `DELETE /api/projects/{project_id}`
pub async fn delete(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    query: Result<QueryParameters<DeletionQuery>, Problem>,
) -> Result<StatusCode, Problem> {
    let id = problem::parse_id(path)?;
    let QueryParameters(DeletionQuery { conversations }) = query?;
    projects::delete(&caller, id, conversations).await?;
    Ok(StatusCode::NO_CONTENT)
}
