//! The ids that a line of the log has if it belongs to a run or a job. The spans have the level of errors, so that they are there
//! whatever the log's filter is.

use tracing::Span;

use parlor_protocol::{JobId, UserId};
use parlor_storage::RunKey;

pub(super) fn of_run(run: RunKey) -> Span {
    tracing::error_span!(
        "run",
        run_id = %run.message_id,
        conversation_id = %run.conversation_id,
        user_id = %run.user_id,
    )
}

pub(super) fn of_job(user_id: UserId, job_id: JobId) -> Span {
    tracing::error_span!("job", %job_id, %user_id)
}
