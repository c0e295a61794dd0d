//! `/api/own-keys`: the keys that users bring of their own, if an administrator allows it.

use axum::{
    Json,
    extract::{Path, rejection::PathRejection},
    http::StatusCode,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    problem::{self, Problem},
    request::JsonBody,
};
use crate::app::{Caller, endpoints::own};
use parlor_protocol::{EndpointTestResult, EndpointView, NewOwnKey, OwnKeyList, OwnKeyTest, OwnKeyUpdate};

/// The permission of users to bring keys of their own.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnKeyPermission {
    is_allowed: bool,
}

/// `GET /api/own-keys`: the services that keys may be brought for, and the user's keys.
pub async fn list(caller: Caller) -> Result<Json<OwnKeyList>, Problem> {
    Ok(Json(own::list(&caller).await?))
}

/// `POST /api/own-keys`: adds one.
pub async fn add(
    caller: Caller,
    body: Result<JsonBody<NewOwnKey>, Problem>,
) -> Result<(StatusCode, Json<EndpointView>), Problem> {
    let JsonBody(new) = body?;
    let added = own::add(&caller, new).await?;
    Ok((StatusCode::CREATED, Json(added)))
}

/// `PATCH /api/own-keys/{key_id}`: changes one of the user's.
pub async fn change(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    body: Result<JsonBody<OwnKeyUpdate>, Problem>,
) -> Result<Json<EndpointView>, Problem> {
    let id = problem::parse_id(path)?;
    let JsonBody(update) = body?;
    Ok(Json(own::change(&caller, id, update).await?))
}

/// `DELETE /api/own-keys/{key_id}`: removes one of the user's.
pub async fn remove(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<StatusCode, Problem> {
    own::remove(&caller, problem::parse_id(path)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /api/own-keys/test`: tests one without adding it.
pub async fn test(
    caller: Caller,
    body: Result<JsonBody<OwnKeyTest>, Problem>,
) -> Result<Json<EndpointTestResult>, Problem> {
    let JsonBody(test) = body?;
    Ok(Json(own::test(&caller, test).await?))
}

/// `PUT /api/own-keys/allowed`: allows keys of users' own, or forbids them, for administrators.
pub async fn allow(
    caller: Caller,
    body: Result<JsonBody<OwnKeyPermission>, Problem>,
) -> Result<StatusCode, Problem> {
    let JsonBody(permission) = body?;
    own::allow(&caller, permission.is_allowed).await?;
    Ok(StatusCode::NO_CONTENT)
}
