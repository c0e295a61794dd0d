//! Asking the server.

use std::pin::pin;

use futures::future::{Either, select};

use super::{Live, link::Input};
use crate::{
    api::{ApiError, error::ErrorCode},
    ui::browser,
};

/// How long an answer may take. Then the request is given up, as if the server could not be reached.
const PATIENCE_MS: f64 = 20_000.0;

impl Live {
    /// Asks the server, for as long as an answer can be hoped for.
    ///
    /// Whatever it answers, it is there: a link that waits to try again need not wait any longer.
    pub async fn ask<T>(self, request: impl Future<Output = Result<T, ApiError>>) -> Result<T, ApiError> {
        let outcome = match select(pin!(request), pin!(browser::sleep(PATIENCE_MS))).await {
            Either::Left((outcome, _)) => outcome,
            Either::Right(_) => Err(ApiError::unreachable()),
        };
        if !matches!(&outcome, Err(error) if error.code == ErrorCode::Unreachable) {
            self.drive(Input::Online);
        }
        outcome
    }
}
