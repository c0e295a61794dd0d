//! Requests to the server.

use std::pin::{Pin, pin};

use futures::future::{Either, select};

use super::{Connection, reconnect::ConnectionEvent};
use crate::{browser, state::texts};
use parlor_protocol::{ApiError, ErrorCode};

/// The time limit for a response. After it the request counts as failed because the server is unreachable.
const REQUEST_TIMEOUT_MS: f64 = 20_000.0;
/// The time limit for requests for which the server asks another service first, perhaps twice.
const UPSTREAM_REQUEST_TIMEOUT_MS: f64 = 90_000.0;

impl Connection {
    /// Sends a request, with the usual time limit.
    ///
    /// Any response shows that the server is reachable: a pending reconnect need not wait any longer.
    pub fn call<'a, T>(
        self,
        request: impl Future<Output = Result<T, ApiError>> + 'a,
    ) -> impl Future<Output = Result<T, ApiError>> {
        self.call_within(REQUEST_TIMEOUT_MS, Box::pin(request))
    }

    /// Sends a request for which the server asks another service, with a longer time limit.
    pub fn call_upstream<'a, T>(
        self,
        request: impl Future<Output = Result<T, ApiError>> + 'a,
    ) -> impl Future<Output = Result<T, ApiError>> {
        self.call_within(UPSTREAM_REQUEST_TIMEOUT_MS, Box::pin(request))
    }

    /// The request is boxed, so that this is compiled once for each result, not for each request.
    async fn call_within<T>(
        self,
        patience_ms: f64,
        request: Pin<Box<dyn Future<Output = Result<T, ApiError>> + '_>>,
    ) -> Result<T, ApiError> {
        check_user()?;
        let outcome = match select(request, pin!(browser::sleep(patience_ms))).await {
            Either::Left((outcome, _)) => outcome,
            Either::Right(_) => Err(ApiError::unreachable()),
        };
        report_signed_out(&outcome);
        if !matches!(&outcome, Err(error) if error.code == ErrorCode::Unreachable) {
            self.step(ConnectionEvent::Online);
        }
        outcome
    }
}

/// Fails if another user has signed in, whose session would take a request, and shows that.
pub fn check_user() -> Result<(), ApiError> {
    if browser::has_other_user() {
        browser::set_signed_out(true);
        let message = texts::OTHER_USER;
        return Err(ApiError::new(ErrorCode::SignedOut, message));
    }
    Ok(())
}

/// Shows that the session has ended, if a response says so.
pub fn report_signed_out<T>(outcome: &Result<T, ApiError>) {
    if matches!(outcome, Err(error) if error.code == ErrorCode::SignedOut) {
        browser::set_signed_out(true);
    }
}

/// The text for a failed load. Loading changes nothing, so the text need not say what was done.
pub fn load_error_text(error: &ApiError) -> String {
    match error.code {
        ErrorCode::Unreachable => texts::SERVER_UNREACHABLE.into(),
        _ => error.message.clone(),
    }
}
