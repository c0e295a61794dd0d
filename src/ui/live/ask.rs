//! Asking the server.

use std::pin::pin;

use futures::future::{Either, select};

use super::{Live, link::Input};
use crate::{
    protocol::{ApiError, ErrorCode},
    ui::browser,
};

/// How long an answer may take. Then the request is given up, as if the server could not be reached.
const PATIENCE_MS: f64 = 20_000.0;
/// The same for what the server has to ask elsewhere first, and may ask twice.
const PATIENCE_ELSEWHERE_MS: f64 = 90_000.0;

impl Live {
    /// Asks the server, for as long as an answer can be hoped for.
    ///
    /// Whatever it answers, it is there: a link that waits to try again need not wait any longer.
    pub async fn ask<T>(self, request: impl Future<Output = Result<T, ApiError>>) -> Result<T, ApiError> {
        self.ask_for(PATIENCE_MS, request).await
    }

    /// The same for what the server has to ask elsewhere.
    pub async fn ask_elsewhere<T>(
        self,
        request: impl Future<Output = Result<T, ApiError>>,
    ) -> Result<T, ApiError> {
        self.ask_for(PATIENCE_ELSEWHERE_MS, request).await
    }

    async fn ask_for<T>(
        self,
        patience_ms: f64,
        request: impl Future<Output = Result<T, ApiError>>,
    ) -> Result<T, ApiError> {
        let outcome = match select(pin!(request), pin!(browser::sleep(patience_ms))).await {
            Either::Left((outcome, _)) => outcome,
            Either::Right(_) => Err(ApiError::unreachable()),
        };
        if !matches!(&outcome, Err(error) if error.code == ErrorCode::Unreachable) {
            self.drive(Input::Online);
        }
        outcome
    }
}
