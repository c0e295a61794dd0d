//! The deletion of an account: with everything of its user, or after a hand-over to another one.
//!
//! It has three steps: the account is disabled and the deletion noted, its runs and jobs are stopped, and everything is handed over and
//! deleted at once. A crash in between leaves the note, with which the next start continues.

use crate::app::AppState;
use parlor_base::crash_point;
use parlor_protocol::{ApiError, ErrorCode, UserId};
use parlor_storage::{
    accounts::{AccountChange, PendingDeletion},
    audit::Actor,
};

/// The number of times that the runs of a user are stopped. A disabled account starts none, but a request that came before may.
const MAX_STOPS: usize = 10;

/// The reason why an account is not deleted.
pub struct DeletionError {
    pub error: ApiError,
    /// The deletion has begun: the account is disabled, and the next start goes on.
    pub has_begun: bool,
}

/// Deletes an account. An heir gets the conversations, the files and the library of its user.
///
/// # Errors
///
/// If it is the last administrator, if there is no such heir, if it is given up meanwhile, or if storage fails.
pub async fn delete_user(
    app: &AppState,
    by: &Actor,
    user_id: UserId,
    heir: Option<UserId>,
) -> Result<(), DeletionError> {
    let (app, by) = (app.clone(), by.clone());
    // In a task of its own: the caller may go away, and what has begun is to end.
    let deleting = tokio::spawn(async move {
        let begin = AccountChange::BeginDeletion { user_id, heir };
        let begun = app.accounts.submit_by(&by, begin).await;
        begun.map_err(|error| DeletionError {
            error,
            has_begun: false,
        })?;
        crash_point!("deletion::begun");
        finish(&app, &by, user_id, heir).await.map_err(|error| {
            tracing::error!(user = %user_id, error = error.message, "an account is disabled and not deleted yet");
            DeletionError {
                // Otherwise it was given up.
                has_begun: error.code != ErrorCode::NotFound,
                error,
            }
        })
    });
    deleting.await.map_err(|_| DeletionError {
        error: ApiError::new(
            ErrorCode::Internal,
            "The deletion broke off. Parlor’s log says why.",
        ),
        has_begun: true,
    })?
}

/// Ends the deletions that an earlier process has begun.
pub async fn resume(app: AppState) {
    let pending = match app.storage.pending_deletions().await {
        Ok(pending) => pending,
        Err(error) => {
            tracing::error!(%error, "deletions of accounts that have begun can't be ended before the next start");
            return;
        }
    };
    for deletion in pending {
        let PendingDeletion {
            user_id,
            heir,
            actor,
            address,
        } = deletion;
        let by = Actor {
            user_id: actor,
            address,
            signs_in_by: app.accounts.sign_in_way(),
        };
        match finish(&app, &by, user_id, heir).await {
            Ok(()) => {
                tracing::info!(user = %user_id, "ended the deletion of an account that the last process had begun")
            }
            Err(error) => tracing::error!(
                user = %user_id,
                error = error.message,
                "an account stays disabled and undeleted; an administrator can delete it again"
            ),
        }
    }
}

async fn finish(app: &AppState, by: &Actor, user_id: UserId, heir: Option<UserId>) -> Result<(), ApiError> {
    let mut stops = 0;
    loop {
        for run in app.storage.active_runs(user_id).await? {
            app.runs.stop(user_id, run).await?;
        }
        for job in app.storage.jobs(user_id).await?.jobs {
            // One that waits says what concerns this account alone.
            if !job.status.is_terminal() {
                match app.jobs.stop(user_id, job.id).await {
                    Err(error) if error.code != ErrorCode::NotFound => return Err(error),
                    _ => {}
                }
            }
        }
        crash_point!("deletion::stopped");
        let delete = AccountChange::Delete { user_id, heir };
        match app.accounts.submit_by(by, delete).await {
            Err(error) if error.code == ErrorCode::RunActive && stops < MAX_STOPS => stops += 1,
            ended => {
                // An heir's questions restore them.
                app.runs.end_sessions(user_id);
                app.endpoints.forget_deleted().await;
                return ended;
            }
        }
    }
}
