//! The trimming of the log.

use crate::app::AppState;
use parlor_base::clock;
use parlor_protocol::Timestamp;

/// Trims the log periodically, for as long as the server runs.
pub(super) async fn trim_log_periodically(app: AppState) {
    let log = app.settings.log.clone();
    let keep_ms = i64::try_from(log.keep.as_millis()).unwrap_or(i64::MAX);
    let mut ticks = tokio::time::interval(log.trim_interval);
    loop {
        ticks.tick().await;
        let before = Timestamp(clock::now().0.saturating_sub(keep_ms));
        match app.storage.trim_log(before, log.keep_events).await {
            Ok(0) => {}
            Ok(removed) => tracing::debug!(removed, "trimmed the log"),
            Err(error) => tracing::error!(%error, "could not trim the log"),
        }
        if let Err(error) = app.accounts.trim_audit_log().await {
            tracing::error!(error = error.message, "could not trim the audit log");
        }
    }
}
