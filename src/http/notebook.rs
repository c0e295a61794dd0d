//! A conversation as a notebook.

use axum::{
    extract::{Path, rejection::PathRejection},
    http::header,
    response::{IntoResponse, Response},
};

use super::{
    content_disposition::content_disposition,
    problem::{self, Problem},
};
use crate::app::{Caller, notebook};
use parlor_files::IPYNB;

/// `GET /api/conversations/{id}/notebook`: the shown branch as a download for Jupyter.
pub async fn get(caller: Caller, path: Result<Path<String>, PathRejection>) -> Result<Response, Problem> {
    let file = notebook::export(&caller, problem::parse_conversation_id(path)?).await?;
    let headers = [
        (header::CONTENT_TYPE, IPYNB.to_owned()),
        (
            header::CONTENT_DISPOSITION,
            content_disposition("attachment", &file.name),
        ),
    ];
    Ok((headers, file.content).into_response())
}
