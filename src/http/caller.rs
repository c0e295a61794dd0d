//! Extracts the caller of a request, which `security` has authenticated.

use aide::OperationInput;
use axum::{extract::FromRequestParts, http::request::Parts};

use super::problem::Problem;
use crate::app::{AppState, Caller, access::Access};

/// Adds nothing to an operation's description: the caller comes from the request's token or session, if any.
impl OperationInput for Caller {}

impl FromRequestParts<AppState> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &AppState) -> Result<Self, Problem> {
        let access = parts.extensions.get::<Access>().cloned();
        Ok(Self::new(app.clone(), access)?)
    }
}
