//! Queries about schedules.

use async_trait::async_trait;

use super::{SqlStorage, id, json, optional_id, optional_text, read_undamaged_rows, text};
use crate::{
    StorageError,
    damage::skip_damaged,
    schedules::{DueSchedule, ScheduleStorage},
    sql::database::{Row, query, query_scalar},
};
use parlor_protocol::{Dollars, ListedSchedule, ScheduleId, ScheduledRun, Timestamp, UserId};

/// `select!("…")`: the query for schedules with this condition, and their costs since `$1`.
macro_rules! select {
    ($condition:literal) => {
        concat!(
            "SELECT s.id, s.user_id, s.definition, s.next_at, s.notice, l.planned_at, l.started_at, r.conversation_id, r.status, \
             j.id AS report_id, j.status AS report_status, \
             (SELECT CAST(coalesce(sum(c.cost), 0) AS BIGINT) FROM schedule_runs c \
                 WHERE c.user_id = s.user_id AND c.schedule_id = s.id AND c.started_at >= $1) \
                 AS month_cost \
             FROM schedules s LEFT JOIN schedule_runs l ON l.user_id = s.user_id AND l.schedule_id = s.id AND l.planned_at = \
                 (SELECT p.planned_at FROM schedule_runs p WHERE p.user_id = s.user_id AND p.schedule_id = s.id \
                  ORDER BY p.started_at DESC, p.planned_at DESC LIMIT 1) \
             LEFT JOIN runs r ON r.id = l.run_id AND r.user_id = s.user_id \
             LEFT JOIN jobs j ON j.id = l.run_id AND j.user_id = s.user_id WHERE ",
            $condition
        )
    };
}

const OF_USER: &str = select!("s.user_id = $2 ORDER BY s.id");
const ONE: &str = select!("s.user_id = $2 AND s.id = $3");
const DUE: &str = select!(
    "s.next_at <= $2 AND NOT EXISTS (SELECT 1 FROM accounts a WHERE a.user_id = s.user_id AND a.disabled <> 0) \
     ORDER BY s.next_at, s.id LIMIT $3"
);

#[async_trait]
impl ScheduleStorage for SqlStorage {
    async fn schedules(
        &self,
        user_id: UserId,
        month: Timestamp,
    ) -> Result<Vec<ListedSchedule>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let rows = query(OF_USER)
            .bind_value(month)
            .bind_value(user_id)
            .fetch_all(&mut connection)
            .await?;
        read_undamaged_rows("schedules", "id", &rows, read_schedule)
    }

    async fn schedule(
        &self,
        user_id: UserId,
        id: ScheduleId,
        month: Timestamp,
    ) -> Result<Option<ListedSchedule>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let row = query(ONE)
            .bind_value(month)
            .bind_value(user_id)
            .bind_value(id)
            .fetch_optional(&mut connection)
            .await?;
        let read = read_undamaged_rows("schedules", "id", row.as_slice(), read_schedule)?;
        Ok(read.into_iter().next())
    }

    async fn has_schedules(&self, user_id: UserId) -> Result<bool, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let exists = query_scalar("SELECT EXISTS (SELECT 1 FROM schedules WHERE user_id = $1)")
            .bind_value(user_id)
            .fetch_one(&mut connection)
            .await?;
        Ok(exists)
    }

    async fn due_schedules(
        &self,
        now: Timestamp,
        month: Timestamp,
        limit: usize,
    ) -> Result<Vec<DueSchedule>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let rows = query(DUE)
            .bind_value(month)
            .bind_value(now)
            .bind(i64::try_from(limit).unwrap_or(i64::MAX))
            .fetch_all(&mut connection)
            .await?;
        read_undamaged_rows("schedules", "id", &rows, |row| {
            Ok(DueSchedule {
                user_id: id(row, "user_id")?,
                listed: read_schedule(row)?,
            })
        })
    }
}

fn read_schedule(row: &Row) -> Result<ListedSchedule, StorageError> {
    let id: ScheduleId = id(row, "id")?;
    Ok(ListedSchedule {
        id,
        schedule: json(row, "definition")?,
        next_at: time(row, "next_at")?,
        last: skip_damaged("schedule_runs", id, read_last(row))?.flatten(),
        month_cost: Dollars(u64::try_from(row.try_get::<i64>("month_cost")?).unwrap_or_default()),
        notice: Some(text(row, "notice")?).filter(|notice| !notice.is_empty()),
    })
}

/// Reads the last run. One whose answer can't be read counts as deleted.
fn read_last(row: &Row) -> Result<Option<ScheduledRun>, StorageError> {
    let (Some(planned_at), Some(started_at)) = (time(row, "planned_at")?, time(row, "started_at")?) else {
        return Ok(None);
    };
    let status = match optional_text(row, "status")? {
        Some(status) => Some(status),
        None => optional_text(row, "report_status")?,
    };
    Ok(Some(ScheduledRun {
        planned_at,
        started_at,
        conversation_id: optional_id(row, "conversation_id")?,
        report_id: optional_id(row, "report_id")?,
        status: status.and_then(|status| serde_json::from_value(status.into()).ok()),
    }))
}

fn time(row: &Row, column: &str) -> Result<Option<Timestamp>, StorageError> {
    Ok(row.try_get::<Option<i64>>(column)?.map(Timestamp))
}
