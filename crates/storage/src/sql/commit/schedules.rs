//! Changes to schedules, and the start of a run by one: it commits with the advance to the next planned time, so a planned
//! time starts one run, whenever the server ends.

use super::{Batch, ChangeError, personal::ensure_user, turns::conflict_as_rejection};
use crate::{
    ChangeRejection, Outcome, RunStart,
    schedules::{ScheduleAdvance, ScheduleChange, ScheduledStart},
    sql::{
        database::{Connection, query, query_scalar},
        json,
    },
};
use uuid::Uuid;

use parlor_protocol::{
    Schedule, ScheduleId, Timestamp, UserId,
    intent::{SendMessage, StartedRun},
};

impl Batch<'_> {
    pub(super) async fn change_schedules(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        change: &ScheduleChange,
    ) -> Result<Outcome, ChangeError> {
        match change {
            ScheduleChange::Save {
                id,
                schedule,
                next_at,
                limit,
            } => {
                self.save_schedule(connection, (user_id, *id), schedule, *next_at, *limit)
                    .await
            }
            ScheduleChange::Delete { id } => self.delete_schedule(connection, (user_id, *id)).await,
            ScheduleChange::Skip { advance, is_paused } => {
                advance_schedule(&mut *connection, user_id, advance).await?;
                if *is_paused {
                    pause(&mut *connection, (user_id, advance.id)).await?;
                }
                self.log_settings_changed(connection, user_id).await?;
                Ok(Outcome::Done)
            }
        }
    }

    /// Saves a schedule. The client chooses the id, which is unique over all users: another user's schedule is not found.
    async fn save_schedule(
        &mut self,
        connection: &mut Connection,
        (user_id, id): (UserId, ScheduleId),
        schedule: &Schedule,
        next_at: Option<Timestamp>,
        limit: usize,
    ) -> Result<Outcome, ChangeError> {
        ensure_user(&mut *connection, user_id).await?;
        let row = query(
            "SELECT count(*) AS count, EXISTS (SELECT 1 FROM schedules WHERE user_id = $1 AND id = $2) AS known \
             FROM schedules WHERE user_id = $1",
        )
        .bind_value(user_id)
        .bind_value(id)
        .fetch_one(&mut *connection)
        .await?;
        let (count, is_known): (i64, bool) = (row.try_get("count")?, row.try_get("known")?);
        if !is_known && usize::try_from(count).is_ok_and(|count| count >= limit) {
            Err(ChangeRejection::SchedulesFull)?;
        }
        let saved = query(
            "INSERT INTO schedules (id, user_id, definition, next_at) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (id) DO UPDATE SET definition = $3, next_at = $4, notice = '' WHERE schedules.user_id = $2",
        )
        .bind_value(id)
        .bind_value(user_id)
        .bind(serde_json::to_string(schedule)?)
        .bind_value(next_at)
        .execute(&mut *connection)
        .await?;
        if saved.rows_affected() == 0 {
            Err(ChangeRejection::NotFound)?;
        }
        self.log_settings_changed(connection, user_id).await?;
        // The former prompt counts as deleted data.
        Ok(if is_known {
            Outcome::DataDeleted
        } else {
            Outcome::Done
        })
    }

    /// Deletes a schedule. Its conversations stay. Deleting a missing one has no effect.
    async fn delete_schedule(
        &mut self,
        connection: &mut Connection,
        (user_id, id): (UserId, ScheduleId),
    ) -> Result<Outcome, ChangeError> {
        let deleted = query("DELETE FROM schedules WHERE user_id = $1 AND id = $2")
            .bind_value(user_id)
            .bind_value(id)
            .execute(&mut *connection)
            .await?;
        if deleted.rows_affected() > 0 {
            self.log_settings_changed(connection, user_id).await?;
        }
        Ok(Outcome::DataDeleted)
    }

    /// Starts the run of a schedule. Rejected with `NotFound` if the schedule was deleted or changed meanwhile, or if the planned
    /// time has started a run before.
    pub(super) async fn run_schedule(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        (intent, start): (&SendMessage, &RunStart),
        scheduled: &ScheduledStart,
    ) -> Result<StartedRun, ChangeError> {
        self.begin_scheduled(connection, user_id, start.run.0, scheduled)
            .await?;
        let interaction = Some(intent.interaction.clone());
        self.send_message(connection, user_id, intent, start, interaction)
            .await
    }

    /// Advances a schedule and stores what it has started: an answer, or the job that makes a report. Rejected with `NotFound` if the
    /// schedule was deleted or changed meanwhile, or if the planned time has started something before.
    pub(super) async fn begin_scheduled(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        started: Uuid,
        scheduled: &ScheduledStart,
    ) -> Result<(), ChangeError> {
        match &scheduled.advance {
            Some(advance) => advance_schedule(&mut *connection, user_id, advance).await?,
            None => require_schedule(&mut *connection, (user_id, scheduled.schedule_id)).await?,
        }
        query(
            "INSERT INTO schedule_runs (schedule_id, planned_at, user_id, run_id, started_at) VALUES ($1, $2, $3, $4, $5)",
        )
        .bind_value(scheduled.schedule_id)
        .bind_value(scheduled.planned_at)
        .bind_value(user_id)
        .bind_value(started)
        .bind_value(scheduled.started_at)
        .execute(&mut *connection)
        .await
        .map_err(|error| conflict_as_rejection(error, ChangeRejection::NotFound))?;
        self.log_settings_changed(connection, user_id).await?;
        Ok(())
    }
}

/// Sets the next planned time, unless the schedule was changed meanwhile.
async fn advance_schedule(
    connection: &mut Connection,
    user_id: UserId,
    advance: &ScheduleAdvance,
) -> Result<(), ChangeError> {
    let advanced = query(
        "UPDATE schedules SET next_at = $4, notice = $5 WHERE user_id = $1 AND id = $2 AND next_at = $3",
    )
    .bind_value(user_id)
    .bind_value(advance.id)
    .bind_value(advance.from)
    .bind_value(advance.next_at)
    .bind(&advance.notice)
    .execute(connection)
    .await?;
    if advanced.rows_affected() == 0 {
        Err(ChangeRejection::NotFound)?;
    }
    Ok(())
}

async fn pause(connection: &mut Connection, (user_id, id): (UserId, ScheduleId)) -> Result<(), ChangeError> {
    let row = query("SELECT definition FROM schedules WHERE user_id = $1 AND id = $2")
        .bind_value(user_id)
        .bind_value(id)
        .fetch_one(&mut *connection)
        .await?;
    let schedule = Schedule {
        is_paused: true,
        ..json(&row, "definition")?
    };
    query("UPDATE schedules SET definition = $3, next_at = NULL WHERE user_id = $1 AND id = $2")
        .bind_value(user_id)
        .bind_value(id)
        .bind(serde_json::to_string(&schedule)?)
        .execute(connection)
        .await?;
    Ok(())
}

async fn require_schedule(
    connection: &mut Connection,
    (user_id, id): (UserId, ScheduleId),
) -> Result<(), ChangeError> {
    let exists: bool = query_scalar("SELECT EXISTS (SELECT 1 FROM schedules WHERE user_id = $1 AND id = $2)")
        .bind_value(user_id)
        .bind_value(id)
        .fetch_one(connection)
        .await?;
    if !exists {
        Err(ChangeRejection::NotFound)?;
    }
    Ok(())
}
