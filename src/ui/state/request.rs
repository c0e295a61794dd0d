//! Asking the server.

use std::pin::pin;

use futures::future::{Either, select};

use super::{Live, reconnect::ConnectionEvent};
use crate::{
    protocol::{ApiError, ErrorCode},
    ui::browser,
};

/// How long an answer may take. Then the request is given up, as if the server could not be reached.
const REQUEST_TIMEOUT_MS: f64 = 20_000.0;
/// The same for what the server has to ask elsewhere first, and may ask twice.
const UPSTREAM_REQUEST_TIMEOUT_MS: f64 = 90_000.0;

impl Live {
    /// Asks the server, for as long as an answer can be hoped for.
    ///
    /// Whatever it answers, it is there: a link that waits to try again need not wait any longer.
    pub async fn call<T>(self, request: impl Future<Output = Result<T, ApiError>>) -> Result<T, ApiError> {
        self.call_within(REQUEST_TIMEOUT_MS, request).await
    }

    /// The same for what the server has to ask elsewhere.
    pub async fn call_upstream<T>(
        self,
        request: impl Future<Output = Result<T, ApiError>>,
    ) -> Result<T, ApiError> {
        self.call_within(UPSTREAM_REQUEST_TIMEOUT_MS, request).await
    }

    async fn call_within<T>(
        self,
        patience_ms: f64,
        request: impl Future<Output = Result<T, ApiError>>,
    ) -> Result<T, ApiError> {
        let outcome = match select(pin!(request), pin!(browser::sleep(patience_ms))).await {
            Either::Left((outcome, _)) => outcome,
            Either::Right(_) => Err(ApiError::unreachable()),
        };
        if !matches!(&outcome, Err(error) if error.code == ErrorCode::Unreachable) {
            self.step_connection(ConnectionEvent::Online);
        }
        outcome
    }
}
