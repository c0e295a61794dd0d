//! `/api/projects`: conversations that belong together.

use axum::{
    Json,
    body::Body,
    extract::{Path, rejection::PathRejection},
    http::{HeaderMap, StatusCode},
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    files::content_length,
    problem::{self, Problem},
    request::{JsonBody, QueryParameters},
};
use crate::app::{Caller, projects};
use parlor_protocol::{
    Attachment, AttachmentId, ListedProject, Project, ProjectConversations, ProjectFiles, ProjectList,
};

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

/// `GET /api/projects/{project_id}/files`
pub async fn list_files(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<ProjectFiles>, Problem> {
    Ok(Json(projects::files(&caller, problem::parse_id(path)?).await?))
}

/// The name of an upload.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct FileNameQuery {
    /// The file's name. It gets a number if another file of the project has it.
    #[serde(default)]
    name: String,
    /// An id of your choice for the file, a UUID. The same upload again, as after a lost response, then stores nothing.
    id: Option<AttachmentId>,
}

/// `POST /api/projects/{project_id}/files`: stores the body as a file.
pub async fn add_file(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    query: Result<QueryParameters<FileNameQuery>, Problem>,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<Attachment>), Problem> {
    let id = problem::parse_id(path)?;
    let QueryParameters(FileNameQuery { name, id: file_id }) = query?;
    let file = projects::add_file(&caller, (id, file_id), &name, content_length(&headers), body).await?;
    Ok((StatusCode::CREATED, Json(file)))
}

/// `DELETE /api/projects/{project_id}/files/{file_id}`
pub async fn delete_file(
    caller: Caller,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<StatusCode, Problem> {
    let (project_id, file_id) = problem::parse_ids(path)?;
    projects::delete_file(&caller, project_id, file_id).await?;
    Ok(StatusCode::NO_CONTENT)
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
