//! `/api/shared-projects` and `/api/projects/{project_id}/readers`: projects that are shared for reading.

use axum::{
    Json,
    extract::{Path, rejection::PathRejection},
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    problem::{self, Problem},
    request::QueryParameters,
    shared::file_response,
};
use crate::app::{Caller, not_found, shared_projects};
use parlor_protocol::{ProjectId, ProjectReaders, SharedProjectContent};

/// `GET /api/projects/{project_id}/readers`
pub async fn readers(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<ProjectReaders>, Problem> {
    let id = problem::parse_id(path)?;
    Ok(Json(shared_projects::readers(&caller, id).await?))
}

/// `PUT /api/projects/{project_id}/readers/{name}`
pub async fn add_reader(
    caller: Caller,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<Json<ProjectReaders>, Problem> {
    let (id, name) = parse_reader(path)?;
    Ok(Json(shared_projects::add_readers(&caller, id, &[name]).await?))
}

/// `DELETE /api/projects/{project_id}/readers/{name}`
pub async fn remove_reader(
    caller: Caller,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<StatusCode, Problem> {
    let (id, name) = parse_reader(path)?;
    shared_projects::remove_reader(&caller, id, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn parse_reader(path: Result<Path<(String, String)>, PathRejection>) -> Result<(ProjectId, String), Problem> {
    let Path((id, name)) = path.map_err(|_| not_found())?;
    Ok((problem::parse_id(Ok(Path(id)))?, name))
}

/// The page of the conversations.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ContentQuery {
    /// `next` of the previous page.
    cursor: Option<String>,
}

/// `GET /api/shared-projects/{project_id}`
pub async fn get(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    query: Result<QueryParameters<ContentQuery>, Problem>,
) -> Result<Json<SharedProjectContent>, Problem> {
    let id = problem::parse_id(path)?;
    let QueryParameters(ContentQuery { cursor }) = query?;
    Ok(Json(
        shared_projects::content(&caller, id, cursor.as_deref()).await?,
    ))
}

/// `DELETE /api/shared-projects/{project_id}`
pub async fn leave(caller: Caller, path: Result<Path<String>, PathRejection>) -> Result<StatusCode, Problem> {
    shared_projects::leave(&caller, problem::parse_id(path)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /api/shared-projects/{project_id}/files/{file_id}`: a file as readers of a share get it.
pub async fn file(
    caller: Caller,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<Response, Problem> {
    let (id, file_id) = problem::parse_ids(path)?;
    let stored = shared_projects::file(&caller, id, file_id).await?;
    let mut response = file_response(&caller.app, &stored).await?;
    // The right to read it may end.
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
