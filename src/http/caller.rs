//! Extracts the caller of a request under `/api`, which `security` has authenticated.

use std::convert::Infallible;

use aide::OperationInput;
use axum::{extract::FromRequestParts, http::request::Parts};

use crate::{
    app::{AppState, Caller, tokens::Access},
    protocol::UserId,
};

/// Not a part of the request that a client chooses: its token, or none.
impl OperationInput for Caller {}

impl FromRequestParts<AppState> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> Result<Self, Infallible> {
        let access = parts.extensions.get::<Access>().cloned();
        Ok(Self {
            app: app.clone(),
            user_id: access.as_ref().map_or(UserId::LOCAL, |access| access.user_id),
            access,
        })
    }
}
