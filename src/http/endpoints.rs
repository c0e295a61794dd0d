//! `/api/endpoints`: the model servers, for administrators.

use axum::{
    Json,
    extract::{Path, rejection::PathRejection},
    http::StatusCode,
};

use super::{
    problem::{self, Problem},
    request::JsonBody,
};
use crate::app::{self, Caller};
use parlor_protocol::{
    EndpointList, EndpointTest, EndpointTestResult, EndpointUpdate, EndpointView, NewEndpoint,
};

/// `GET /api/endpoints`: all model servers, without their keys.
pub async fn list(caller: Caller) -> Result<Json<EndpointList>, Problem> {
    Ok(Json(app::endpoints::list(&caller).await?))
}

/// `POST /api/endpoints`: adds one.
pub async fn add(
    caller: Caller,
    body: Result<JsonBody<NewEndpoint>, Problem>,
) -> Result<(StatusCode, Json<EndpointView>), Problem> {
    let JsonBody(new) = body?;
    let added = app::endpoints::add(&caller, new).await?;
    Ok((StatusCode::CREATED, Json(added)))
}

/// `PATCH /api/endpoints/{id}`: changes one that was added.
pub async fn change(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    body: Result<JsonBody<EndpointUpdate>, Problem>,
) -> Result<Json<EndpointView>, Problem> {
    let id = problem::parse_id(path)?;
    let JsonBody(update) = body?;
    Ok(Json(app::endpoints::change(&caller, id, update).await?))
}

/// `DELETE /api/endpoints/{id}`: removes one that was added.
pub async fn remove(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<StatusCode, Problem> {
    app::endpoints::remove(&caller, problem::parse_id(path)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /api/endpoints/test`: tests one without adding it.
pub async fn test(
    caller: Caller,
    body: Result<JsonBody<EndpointTest>, Problem>,
) -> Result<Json<EndpointTestResult>, Problem> {
    let JsonBody(test) = body?;
    Ok(Json(app::endpoints::test(&caller, test).await?))
}
