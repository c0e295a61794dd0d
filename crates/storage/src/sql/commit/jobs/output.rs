//! The output of jobs: steps, model calls and the end.

use crate::sql::database::{Connection, query, query_scalar};

use super::super::{super::daily_usage::add_usage, Batch, ChangeError};
use crate::{
    ChangeRejection, Outcome, RecordedModelCall,
    jobs::{JobOutput, StoredJob},
};
use parlor_protocol::{JobId, RunError, RunStatus, Timestamp, TokenTotals, UserId, columns::COLUMNS};

/// The number of model calls whose records are kept of a job.
const MAX_CALLS_PER_JOB: usize = 5_000;

/// Starts a step, for the first time or again. One with a result is not changed.
const START_STEP: &str = "INSERT INTO job_steps (job_id, key, user_id, number, kind, version, input, started_at) \
     SELECT $1, $2, $3, 1 + coalesce(max(number), 0), $4, $5, $6, $7 FROM job_steps WHERE job_id = $1 \
     ON CONFLICT (job_id, key) DO UPDATE SET attempts = job_steps.attempts + 1, started_at = excluded.started_at, \
         kind = excluded.kind, version = excluded.version, input = excluded.input \
     WHERE job_steps.output IS NULL AND job_steps.error IS NULL";

/// Stores a call or its response, and deletes the oldest calls of its job.
const RECORD_CALL: &str = "INSERT INTO job_calls (job_id, id, user_id, step, request, response) VALUES ($1, $2, $3, $4, $5, $6) \
         ON CONFLICT (job_id, id) DO UPDATE SET request = excluded.request, response = excluded.response; \
     DELETE FROM job_calls WHERE user_id = $3 AND job_id = $1 AND id <= \
         (SELECT id FROM job_calls WHERE job_id = $1 ORDER BY id DESC LIMIT 1 OFFSET $7)";

impl Batch<'_> {
    /// Stores output of a job that its owner still has.
    pub(super) async fn store_job_output(
        &mut self,
        connection: &mut Connection,
        mut job: StoredJob,
        output: &JobOutput,
    ) -> Result<Outcome, ChangeError> {
        match output {
            JobOutput::RecordCall { step, call } => {
                return record_call(connection, &job, step, call).await;
            }
            JobOutput::CountCalls { totals } => {
                self.count_calls(&mut *connection, &mut job, totals).await?;
            }
            // The calls of steps in progress may be counted after a pause, but nothing is begun or ended.
            _ if job.job.status != RunStatus::Running => Err(ChangeRejection::JobEnded)?,
            JobOutput::StartStep {
                key,
                kind,
                version,
                input,
            } => {
                require_enabled(&mut *connection, job.user_id).await?;
                start_step(&mut *connection, &job, key, (kind, *version), input, self.at).await?;
                if job.job.waits_for.is_none() {
                    // No list shows a step in progress.
                    return Ok(Outcome::Done);
                }
                job.job.waits_for = None;
            }
            JobOutput::FinishStep {
                key,
                result,
                totals,
                total,
                left_ms,
            } => {
                finish_step(&mut *connection, (job.user_id, job.job.id), key, result, self.at).await?;
                self.count_calls(&mut *connection, &mut job, totals).await?;
                let progress = &mut job.job.progress;
                progress.done += 1;
                progress.total = progress.total.max(*total).max(progress.done);
                progress.left_ms = *left_ms;
                job.resumptions = 0;
            }
            JobOutput::Pause { error, waits_for } => {
                job.job.status = RunStatus::Waiting;
                job.job.unseen = job.job.kind != COLUMNS;
                job.job.error = Some(error.clone());
                job.job.waits_for.clone_from(waits_for);
                job.job.progress.left_ms = None;
            }
            JobOutput::End {
                status,
                error,
                result,
            } => {
                job.job.status = *status;
                job.job.unseen = job.job.kind != COLUMNS;
                job.job.error.clone_from(error);
                job.job.waits_for = None;
                job.job.progress.left_ms = None;
                job.job.ended_at = Some(self.at);
                job.result.clone_from(result);
            }
        }
        self.update_job(connection, &job).await?;
        Ok(Outcome::Done)
    }

    /// Counts model calls in their job and in the usage of the day.
    async fn count_calls(
        &mut self,
        connection: &mut Connection,
        job: &mut StoredJob,
        totals: &TokenTotals,
    ) -> Result<(), ChangeError> {
        if !totals.is_empty() {
            job.job.totals = job.job.totals.plus(*totals);
            add_usage(connection, job.user_id, totals, self.at).await?;
        }
        Ok(())
    }
}

/// Rejects a step of a disabled account. Without accounts there is no row for the user.
async fn require_enabled(connection: &mut Connection, user_id: UserId) -> Result<(), ChangeError> {
    let is_disabled: bool =
        query_scalar("SELECT EXISTS (SELECT 1 FROM accounts WHERE user_id = $1 AND disabled <> 0)")
            .bind_value(user_id)
            .fetch_one(connection)
            .await?;
    if is_disabled {
        Err(ChangeRejection::AccountDisabled)?;
    }
    Ok(())
}

async fn start_step(
    connection: &mut Connection,
    job: &StoredJob,
    key: &str,
    (kind, version): (&str, u32),
    input: &str,
    at: Timestamp,
) -> Result<(), ChangeError> {
    let started = query(START_STEP)
        .bind_value(job.job.id)
        .bind(key)
        .bind_value(job.user_id)
        .bind(kind)
        .bind(i64::from(version))
        .bind(input)
        .bind_value(at)
        .execute(connection)
        .await?;
    if started.rows_affected() == 0 {
        Err(ChangeRejection::NotFound)?;
    }
    Ok(())
}

async fn finish_step(
    connection: &mut Connection,
    (user_id, job_id): (UserId, JobId),
    key: &str,
    result: &Result<String, RunError>,
    at: Timestamp,
) -> Result<(), ChangeError> {
    let error = result.as_ref().err().map(serde_json::to_string).transpose()?;
    let finished = query(
        "UPDATE job_steps SET output = $4, error = $5, ended_at = $6 WHERE user_id = $1 AND job_id = $2 AND key = $3 \
         AND output IS NULL AND error IS NULL",
    )
    .bind_value(user_id)
    .bind_value(job_id)
    .bind(key)
    .bind(result.as_ref().ok().map(String::as_str))
    .bind(&error)
    .bind_value(at)
    .execute(connection)
    .await?;
    if finished.rows_affected() == 0 {
        Err(ChangeRejection::NotFound)?;
    }
    Ok(())
}

async fn record_call(
    connection: &mut Connection,
    job: &StoredJob,
    step: &str,
    call: &RecordedModelCall,
) -> Result<Outcome, ChangeError> {
    let Some(request) = &call.request else {
        query("UPDATE job_calls SET response = $1 WHERE user_id = $2 AND job_id = $3 AND id = $4")
            .bind(&call.response)
            .bind_value(job.user_id)
            .bind_value(job.job.id)
            .bind_value(call.id)
            .execute(connection)
            .await?;
        return Ok(Outcome::Done);
    };
    query(RECORD_CALL)
        .bind_value(job.job.id)
        .bind_value(call.id)
        .bind_value(job.user_id)
        .bind(step)
        .bind(request)
        .bind(&call.response)
        .bind_value(MAX_CALLS_PER_JOB)
        .execute(connection)
        .await?;
    Ok(Outcome::Done)
}
