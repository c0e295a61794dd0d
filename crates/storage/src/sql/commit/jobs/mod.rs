//! Changes to jobs. Each writes the whole job into its user's log, except what no list shows.

mod output;

use crate::sql::database::{Connection, query, query_scalar};

use super::{super::jobs, Batch, ChangeError, columns::require_source, personal::ensure_user};
use crate::{
    ChangeRejection, Outcome,
    jobs::{Fence, JobChange, JobLimits, NewJob, StoredJob},
    schedules::ScheduledStart,
};
use parlor_protocol::{
    ConversationId, Dollars, JobId, RawJson, RunStatus, TokenTotals, UserEvent, UserId,
    columns::{COLUMNS, ColumnsInput},
    job::{Job, JobProgress, JobUpdate},
};

impl Batch<'_> {
    pub(super) async fn change_job(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        change: &JobChange,
    ) -> Result<Outcome, ChangeError> {
        match change {
            JobChange::Start {
                job,
                limits,
                scheduled,
            } => {
                self.start_job(connection, user_id, job, *limits, scheduled.as_ref())
                    .await
            }
            JobChange::Continue {
                job_id,
                cost_limit,
                running,
            } => {
                self.continue_job(connection, (user_id, *job_id), *cost_limit, *running)
                    .await
            }
            JobChange::Stop { job_id } => self.stop_job(connection, user_id, *job_id).await,
            JobChange::Recover { job_id, fence } => {
                let mut job = stored_job(connection, user_id, *job_id).await?;
                if job.job.status != RunStatus::Running {
                    Err(ChangeRejection::JobEnded)?;
                }
                if job.owner == self.owner && job.fence == fence.next() {
                    // Its answer was lost.
                    return Ok(Outcome::JobTaken {
                        fence: job.fence,
                        again: false,
                    });
                }
                if job.owner == self.owner || job.fence != *fence {
                    Err(ChangeRejection::JobActive)?;
                }
                job.resumptions += 1;
                self.take_job(connection, &mut job).await
            }
            JobChange::Output {
                job_id,
                fence,
                output,
            } => {
                let job = stored_job(connection, user_id, *job_id).await?;
                if job.fence != *fence {
                    Err(ChangeRejection::FenceLost)?;
                }
                self.store_job_output(connection, job, output).await
            }
            JobChange::MarkSeen { job_id } => self.mark_job_seen(connection, user_id, *job_id).await,
            JobChange::Delete { job_id } => self.delete_job(connection, user_id, *job_id).await,
        }
    }

    async fn start_job(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        new: &NewJob,
        limits: JobLimits,
        scheduled: Option<&ScheduledStart>,
    ) -> Result<Outcome, ChangeError> {
        if let Some(known) = jobs::job(&mut *connection, user_id, new.id).await? {
            return match known.fingerprint == new.fingerprint {
                true => Ok(Outcome::JobTaken {
                    fence: known.fence,
                    again: true,
                }),
                false => Err(ChangeRejection::IntentReused)?,
            };
        }
        ensure_user(connection, user_id).await?;
        let stored: i64 = query_scalar("SELECT count(*) FROM jobs WHERE user_id = $1")
            .bind_value(user_id)
            .fetch_one(&mut *connection)
            .await?;
        if usize::try_from(stored).is_ok_and(|stored| stored >= limits.stored) {
            Err(ChangeRejection::JobsFull)?;
        }
        check_running(&mut *connection, user_id, limits.running).await?;
        if new.kind == COLUMNS {
            require_alone(&mut *connection, user_id, &new.input).await?;
            if let Ok(input) = serde_json::from_str::<ColumnsInput>(&new.input) {
                require_source(&mut *connection, user_id, &input.source).await?;
            }
        }
        if let Some(scheduled) = scheduled {
            self.begin_scheduled(connection, user_id, new.id.0, scheduled)
                .await?;
        }
        let job = StoredJob {
            user_id,
            job: Job {
                id: new.id,
                kind: new.kind.clone(),
                title: new.title.clone(),
                status: RunStatus::Running,
                model: new.model.clone(),
                progress: JobProgress::default(),
                totals: TokenTotals::default(),
                cost_limit: new.cost_limit,
                error: None,
                waits_for: None,
                unseen: false,
                created_at: self.at,
                ended_at: None,
            },
            version: new.version,
            input: new.input.clone(),
            result: None,
            fingerprint: new.fingerprint.clone(),
            resumptions: 0,
            owner: self.owner,
            fence: Fence(1),
        };
        // The client chooses the id, which is unique over all users.
        let added = query(
            "INSERT INTO jobs (id, user_id, kind, version, title, input, fingerprint, model, status, totals, created_at, owner, fence) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'running', $9, $10, $11, $12) ON CONFLICT (id) DO NOTHING",
        )
        .bind_value(job.job.id)
        .bind_value(user_id)
        .bind(&job.job.kind)
        .bind(i64::from(job.version))
        .bind(&job.job.title)
        .bind(&job.input)
        .bind(&job.fingerprint)
        .bind(&job.job.model)
        .bind(serde_json::to_string(&job.job.totals)?)
        .bind_value(job.job.created_at)
        .bind_value(job.owner)
        .bind_value(job.fence.0)
        .execute(&mut *connection)
        .await?;
        if added.rows_affected() == 0 {
            Err(ChangeRejection::NotFound)?;
        }
        self.update_job(connection, &job).await?;
        Ok(Outcome::JobTaken {
            fence: job.fence,
            again: false,
        })
    }

    async fn continue_job(
        &mut self,
        connection: &mut Connection,
        (user_id, job_id): (UserId, JobId),
        cost_limit: Option<Dollars>,
        running: usize,
    ) -> Result<Outcome, ChangeError> {
        let mut job = stored_job(connection, user_id, job_id).await?;
        match job.job.status {
            RunStatus::Running => Err(ChangeRejection::JobActive)?,
            RunStatus::Complete => Err(ChangeRejection::JobEnded)?,
            RunStatus::Waiting | RunStatus::Stopped | RunStatus::Failed | RunStatus::Interrupted => {}
        }
        check_running(&mut *connection, user_id, running).await?;
        if job.job.kind == COLUMNS {
            require_alone(&mut *connection, user_id, &job.input).await?;
        }
        job.job.cost_limit = cost_limit.or(job.job.cost_limit);
        job.resumptions = 0;
        self.take_job(connection, &mut job).await
    }

    /// Ends a job that was stopped. Whoever has it can store nothing afterwards.
    async fn stop_job(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        job_id: JobId,
    ) -> Result<Outcome, ChangeError> {
        let mut job = stored_job(connection, user_id, job_id).await?;
        if job.job.status.is_terminal() {
            Err(ChangeRejection::JobEnded)?;
        }
        job.fence = job.fence.next();
        job.job.status = RunStatus::Stopped;
        job.job.unseen = false;
        job.job.error = None;
        job.job.waits_for = None;
        job.job.progress.left_ms = None;
        job.job.ended_at = Some(self.at);
        self.update_job(connection, &job).await?;
        Ok(Outcome::Done)
    }

    /// Notes that the user has looked at a job.
    async fn mark_job_seen(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        job_id: JobId,
    ) -> Result<Outcome, ChangeError> {
        let mut job = stored_job(connection, user_id, job_id).await?;
        if !job.job.unseen {
            return Ok(Outcome::Unchanged);
        }
        job.job.unseen = false;
        query("UPDATE jobs SET unseen = 0 WHERE user_id = $1 AND id = $2")
            .bind_value(user_id)
            .bind_value(job_id)
            .execute(&mut *connection)
            .await?;
        self.log_job(connection, user_id, &JobUpdate::Changed(job.job))
            .await?;
        Ok(Outcome::Done)
    }

    /// Makes this process the owner, whose output counts. The step that the job waited for stays named until its next change.
    async fn take_job(
        &mut self,
        connection: &mut Connection,
        job: &mut StoredJob,
    ) -> Result<Outcome, ChangeError> {
        job.owner = self.owner;
        job.fence = job.fence.next();
        job.job.status = RunStatus::Running;
        job.job.unseen = false;
        job.job.error = None;
        job.job.ended_at = None;
        job.job.progress.left_ms = None;
        self.update_job(connection, job).await?;
        Ok(Outcome::JobTaken {
            fence: job.fence,
            again: false,
        })
    }

    /// Stores the columns of a job that change, and logs it.
    async fn update_job(&mut self, connection: &mut Connection, job: &StoredJob) -> Result<(), ChangeError> {
        let Job {
            id,
            status,
            progress,
            totals,
            cost_limit,
            error,
            waits_for,
            unseen,
            ended_at,
            ..
        } = &job.job;
        let error = error.as_ref().map(serde_json::to_string).transpose()?;
        query(
            "UPDATE jobs SET status = $3, done = $4, total = $5, left_ms = $6, totals = $7, cost_limit = $8, error = $9, \
             waits_for = $10, result = $11, resumptions = $12, ended_at = $13, owner = $14, fence = $15, \
             unseen = $16 WHERE user_id = $1 AND id = $2",
        )
        .bind_value(job.user_id)
        .bind_value(id)
        .bind_value(status)
        .bind_value(progress.done)
        .bind_value(progress.total)
        .bind_value(progress.left_ms)
        .bind(serde_json::to_string(totals)?)
        .bind_value(cost_limit.map(|limit| limit.0))
        .bind(&error)
        .bind(waits_for)
        .bind(&job.result)
        .bind_value(job.resumptions)
        .bind_value(*ended_at)
        .bind_value(job.owner)
        .bind_value(job.fence.0)
        .bind(i64::from(*unseen))
        .execute(&mut *connection)
        .await?;
        self.count_scheduled_cost(connection, job).await?;
        self.log_job(connection, job.user_id, &JobUpdate::Changed(job.job.clone()))
            .await
    }

    /// Counts the cost of a job for the schedule that has started it, if one has, and reports its end to the page of schedules.
    async fn count_scheduled_cost(
        &mut self,
        connection: &mut Connection,
        job: &StoredJob,
    ) -> Result<(), ChangeError> {
        let counted = query("UPDATE schedule_runs SET cost = $3 WHERE user_id = $1 AND run_id = $2")
            .bind_value(job.user_id)
            .bind_value(job.job.id)
            .bind_value(job.job.totals.cost.0)
            .execute(&mut *connection)
            .await?;
        if counted.rows_affected() > 0 && job.job.status != RunStatus::Running {
            self.log_settings_changed(connection, job.user_id).await?;
        }
        Ok(())
    }

    async fn log_job(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        update: &JobUpdate,
    ) -> Result<(), ChangeError> {
        let change = RawJson::parse_or_quote(&serde_json::to_string(update)?);
        let changed = UserEvent::JobChanged { change };
        self.log_event(connection, user_id, ConversationId::NONE, None, changed)
            .await?;
        Ok(())
    }

    /// Sets the number of finished steps of a job that does not run, some of which were deleted.
    pub(super) async fn recount_job(
        &mut self,
        connection: &mut Connection,
        (user_id, job_id): (UserId, JobId),
        done: usize,
    ) -> Result<(), ChangeError> {
        let mut job = stored_job(&mut *connection, user_id, job_id).await?;
        if job.job.progress.done != done {
            job.job.progress.done = done;
            self.update_job(connection, &job).await?;
        }
        Ok(())
    }

    /// Deletes a job with its steps and calls. Its events are emptied.
    pub(super) async fn delete_job(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        job_id: JobId,
    ) -> Result<Outcome, ChangeError> {
        let deleted = query("DELETE FROM jobs WHERE user_id = $1 AND id = $2")
            .bind_value(user_id)
            .bind_value(job_id)
            .execute(&mut *connection)
            .await?;
        if deleted.rows_affected() > 0 {
            let place = ("$.change.changed.id", &*job_id.to_string());
            let is_of_job = |event: &UserEvent| match event {
                UserEvent::JobChanged { change } => {
                    matches!(serde_json::from_str(change.as_str()), Ok(JobUpdate::Changed(job)) if job.id == job_id)
                }
                _ => false,
            };
            self.erase_logged_changes(connection, user_id, place, is_of_job)
                .await?;
            self.log_job(connection, user_id, &JobUpdate::Deleted(job_id))
                .await?;
        }
        Ok(Outcome::DataDeleted)
    }
}

/// Returns a job of a user for a change.
async fn stored_job(
    connection: &mut Connection,
    user_id: UserId,
    job_id: JobId,
) -> Result<StoredJob, ChangeError> {
    let found = jobs::job(connection, user_id, job_id).await?;
    Ok(found.ok_or(ChangeRejection::NotFound)?)
}

/// Rejects a further job that fills the columns of the same rows while one is running.
async fn require_alone(connection: &mut Connection, user_id: UserId, input: &str) -> Result<(), ChangeError> {
    let is_running: bool = query_scalar(
        "SELECT EXISTS (SELECT 1 FROM jobs WHERE user_id = $1 AND status = 'running' AND kind = $2 AND input = $3)",
    )
    .bind_value(user_id)
    .bind(COLUMNS)
    .bind(input)
    .fetch_one(connection)
    .await?;
    match is_running {
        true => Err(ChangeRejection::JobActive)?,
        false => Ok(()),
    }
}

/// Rejects a further running job beyond the limit.
async fn check_running(
    connection: &mut Connection,
    user_id: UserId,
    limit: usize,
) -> Result<(), ChangeError> {
    let running: i64 = query_scalar("SELECT count(*) FROM jobs WHERE user_id = $1 AND status = 'running'")
        .bind_value(user_id)
        .fetch_one(connection)
        .await?;
    if usize::try_from(running).is_ok_and(|running| running >= limit) {
        Err(ChangeRejection::TooManyJobs)?;
    }
    Ok(())
}
