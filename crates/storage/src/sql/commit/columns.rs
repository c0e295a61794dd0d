//! Changes to columns.

use std::collections::HashMap;

use super::{
    super::{id, json, text},
    Batch, ChangeError,
    personal::ensure_user,
};
use crate::{
    ChangeRejection, Outcome,
    columns::{CELL_STEPS, ColumnChange},
    damage::skip_damaged,
    sql::database::{Connection, query, query_scalar},
};
use parlor_protocol::{
    ColumnId, JobId, Timestamp, UserId,
    columns::{Column, ColumnSource, ColumnsInput, Correction},
};

/// Deletes what ended jobs have of the steps whose keys are between `$2` and `$3`. A running job still stores results of them.
const DELETE_CELLS: [&str; 2] = [
    "DELETE FROM job_steps WHERE user_id = $1 AND key >= $2 AND key < $3 \
         AND job_id IN (SELECT id FROM jobs WHERE user_id = $1 AND status <> 'running')",
    "DELETE FROM job_calls WHERE user_id = $1 AND step >= $2 AND step < $3 \
         AND job_id IN (SELECT id FROM jobs WHERE user_id = $1 AND status <> 'running')",
];

/// Deletes the cells between `$2` and `$3` of jobs of an input (`$4`) that can be continued. Those of complete ones answer the former
/// question, which the person may ask again.
const DELETE_STALE_CELLS: &str = "DELETE FROM job_steps WHERE user_id = $1 AND key >= $2 AND key < $3 \
     AND job_id IN (SELECT id FROM jobs WHERE user_id = $1 AND kind = 'columns' AND input = $4 AND status NOT IN ('running', 'complete'))";

/// Deletes the columns, as they were, of all jobs of an input (`$2`) that do not run: they may have what was changed since, and a job
/// that is continued reads them again.
const DELETE_DEFINITIONS: &str = "DELETE FROM job_steps WHERE user_id = $1 AND key = 'columns' \
     AND job_id IN (SELECT id FROM jobs WHERE user_id = $1 AND kind = 'columns' AND input = $2 AND status <> 'running')";

/// Deletes the records of calls between `$2` and `$3` that may have been told a correction, made at `$4`.
const DELETE_CALLS_WITH_CORRECTION: &str = "DELETE FROM job_calls WHERE user_id = $1 AND step >= $2 AND step < $3 \
     AND job_id IN (SELECT id FROM jobs WHERE user_id = $1 AND (ended_at IS NULL OR ended_at >= $4))";

/// The maximum number of sources of a user that have columns.
const MAX_SOURCES: usize = 200;

impl Batch<'_> {
    pub(super) async fn change_columns(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        change: &ColumnChange,
    ) -> Result<Outcome, ChangeError> {
        match change {
            ColumnChange::Save {
                source,
                column,
                limit,
            } => {
                self.save_column(connection, user_id, (source, column), *limit)
                    .await
            }
            ColumnChange::Delete { id } => self.delete_column(connection, user_id, *id).await,
            ColumnChange::Correct { correction, limit } => {
                self.correct_cell(connection, user_id, correction, *limit).await
            }
            ColumnChange::TakeBack { column_id, row } => {
                self.erase_correction(&mut *connection, user_id, (*column_id, row))
                    .await?;
                let deleted = query(
                    "DELETE FROM corrected_cells WHERE user_id = $1 AND column_id = $2 AND row_key = $3",
                )
                .bind_value(user_id)
                .bind_value(column_id)
                .bind(row)
                .execute(&mut *connection)
                .await?;
                if deleted.rows_affected() > 0 {
                    self.log_settings_changed(connection, user_id).await?;
                }
                Ok(Outcome::DataDeleted)
            }
        }
    }

    /// Saves a column. The client chooses the id, which is unique over all users: another user's column is not found.
    async fn save_column(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        (source, column): (&ColumnSource, &Column),
        limit: usize,
    ) -> Result<Outcome, ChangeError> {
        ensure_user(&mut *connection, user_id).await?;
        require_source(&mut *connection, user_id, source).await?;
        let row = query(
            "SELECT count(*) AS count, (SELECT count(DISTINCT source) FROM row_columns WHERE user_id = $1) AS sources, EXISTS (SELECT 1 FROM row_columns WHERE user_id = $1 AND id = $3) AS known \
             FROM row_columns WHERE user_id = $1 AND source = $2",
        )
        .bind_value(user_id)
        .bind(source.to_string())
        .bind_value(column.id)
        .fetch_one(&mut *connection)
        .await?;
        let (count, is_known): (i64, bool) = (row.try_get("count")?, row.try_get("known")?);
        let sources: i64 = row.try_get("sources")?;
        if !is_known && usize::try_from(count).is_ok_and(|count| count >= limit) {
            Err(ChangeRejection::ColumnsFull)?;
        }
        if count == 0 && usize::try_from(sources).is_ok_and(|sources| sources >= MAX_SOURCES) {
            Err(ChangeRejection::ColumnSourcesFull)?;
        }
        let asks_otherwise = match is_known {
            true => asks_otherwise(&mut *connection, user_id, column).await?,
            false => false,
        };
        let saved = query(
            "INSERT INTO row_columns (id, user_id, source, definition) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (id) DO UPDATE SET definition = $4 WHERE row_columns.user_id = $2 AND row_columns.source = $3",
        )
        .bind_value(column.id)
        .bind_value(user_id)
        .bind(source.to_string())
        .bind(serde_json::to_string(column)?)
        .execute(&mut *connection)
        .await?;
        if saved.rows_affected() == 0 {
            Err(ChangeRejection::NotFound)?;
        }
        if asks_otherwise {
            let (first, end) = cells_of(column.id);
            query(DELETE_STALE_CELLS)
                .bind_value(user_id)
                .bind(first)
                .bind(end)
                .bind(job_input(source)?)
                .execute(&mut *connection)
                .await?;
        }
        self.forget_definitions(&mut *connection, user_id, source).await?;
        self.log_settings_changed(connection, user_id).await?;
        // The former question counts as deleted data.
        Ok(if is_known {
            Outcome::DataDeleted
        } else {
            Outcome::Done
        })
    }

    /// Deletes a column. Deleting a missing one has no effect.
    async fn delete_column(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        id: ColumnId,
    ) -> Result<Outcome, ChangeError> {
        let deleted = query("DELETE FROM row_columns WHERE user_id = $1 AND id = $2 RETURNING source")
            .bind_value(user_id)
            .bind_value(id)
            .fetch_optional(&mut *connection)
            .await?;
        if let Some(deleted) = deleted {
            for statement in DELETE_CELLS {
                let (first, end) = cells_of(id);
                query(statement)
                    .bind_value(user_id)
                    .bind(first)
                    .bind(end)
                    .execute(&mut *connection)
                    .await?;
            }
            // A damaged source has no jobs.
            if let Ok(source) = text(&deleted, "source")?.parse() {
                self.forget_definitions(&mut *connection, user_id, &source)
                    .await?;
            }
            self.log_settings_changed(connection, user_id).await?;
        }
        Ok(Outcome::DataDeleted)
    }

    async fn correct_cell(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        correction: &Correction,
        limit: usize,
    ) -> Result<Outcome, ChangeError> {
        let row = query(
            "SELECT count(x.row_key) AS count, coalesce(sum(CASE WHEN x.row_key = $3 THEN 1 ELSE 0 END), 0) AS known, \
             count(DISTINCT c.id) AS columns \
             FROM row_columns c LEFT JOIN corrected_cells x ON x.user_id = c.user_id AND x.column_id = c.id \
             WHERE c.user_id = $1 AND c.id = $2",
        )
        .bind_value(user_id)
        .bind_value(correction.column_id)
        .bind(&correction.row)
        .fetch_one(&mut *connection)
        .await?;
        let count: i64 = row.try_get("count")?;
        if row.try_get::<i64>("columns")? == 0 {
            Err(ChangeRejection::NotFound)?;
        }
        if row.try_get::<i64>("known")? == 0 && usize::try_from(count).is_ok_and(|count| count >= limit) {
            Err(ChangeRejection::CorrectionsFull)?;
        }
        self.erase_correction(&mut *connection, user_id, (correction.column_id, &correction.row))
            .await?;
        query(
            "INSERT INTO corrected_cells (column_id, row_key, user_id, value, corrected_at) VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT (column_id, row_key) DO UPDATE SET value = $4, corrected_at = $5 WHERE corrected_cells.user_id = $3",
        )
        .bind_value(correction.column_id)
        .bind(&correction.row)
        .bind_value(user_id)
        .bind(&correction.value)
        .bind_value(correction.corrected_at)
        .execute(&mut *connection)
        .await?;
        self.log_settings_changed(connection, user_id).await?;
        // The answer before counts as deleted data.
        Ok(Outcome::DataDeleted)
    }

    /// Erases what jobs have of a correction that is taken back or replaced.
    async fn erase_correction(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        (column_id, row): (ColumnId, &str),
    ) -> Result<(), ChangeError> {
        let known = query(
            "SELECT c.source, x.corrected_at FROM corrected_cells x \
             JOIN row_columns c ON c.user_id = x.user_id AND c.id = x.column_id \
             WHERE x.user_id = $1 AND x.column_id = $2 AND x.row_key = $3",
        )
        .bind_value(user_id)
        .bind_value(column_id)
        .bind(row)
        .fetch_optional(&mut *connection)
        .await?;
        let Some(known) = known else { return Ok(()) };
        let (first, end) = cells_of(column_id);
        query(DELETE_CALLS_WITH_CORRECTION)
            .bind_value(user_id)
            .bind(first)
            .bind(end)
            .bind_value(Timestamp(known.try_get("corrected_at").unwrap_or_default()))
            .execute(&mut *connection)
            .await?;
        // Earlier versions of the plan had corrections in this step.
        if let Ok(source) = text(&known, "source")?.parse() {
            self.forget_definitions(connection, user_id, &source).await?;
        }
        Ok(())
    }

    /// Has the jobs of a source that can be continued read its columns again, and erases them in complete ones.
    async fn forget_definitions(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        source: &ColumnSource,
    ) -> Result<(), ChangeError> {
        let input = job_input(source)?;
        query(DELETE_DEFINITIONS)
            .bind_value(user_id)
            .bind(&input)
            .execute(&mut *connection)
            .await?;
        let unfinished = query(
            "SELECT j.id, (SELECT count(*) FROM job_steps s WHERE s.job_id = j.id AND (s.output IS NOT NULL OR s.error IS NOT NULL)) AS done \
             FROM jobs j WHERE j.user_id = $1 AND j.kind = 'columns' AND j.input = $2 AND j.status NOT IN ('running', 'complete')",
        )
        .bind_value(user_id)
        .bind(&input)
        .fetch_all(&mut *connection)
        .await?;
        for row in &unfinished {
            let Some(job_id) = skip_damaged("jobs", "of columns", id::<JobId>(row, "id"))? else {
                continue;
            };
            let done = usize::try_from(row.try_get::<i64>("done")?).unwrap_or_default();
            self.recount_job(&mut *connection, (user_id, job_id), done)
                .await?;
        }
        Ok(())
    }

    /// Deletes the columns whose rows were deleted, with the jobs that quote them. Without a user, those of files of all users.
    pub(super) async fn delete_lost_columns(
        &mut self,
        connection: &mut Connection,
        user_id: Option<UserId>,
    ) -> Result<(), ChangeError> {
        if let Some(user_id) = user_id {
            return self.delete_lost_columns_of(connection, user_id).await;
        }
        let rows = query("SELECT DISTINCT user_id FROM row_columns WHERE source LIKE 'file:%'")
            .fetch_all(&mut *connection)
            .await?;
        for row in &rows {
            if let Some(user_id) = skip_damaged("row_columns", "of files", id(row, "user_id"))? {
                self.delete_lost_columns_of(&mut *connection, user_id).await?;
            }
        }
        Ok(())
    }

    async fn delete_lost_columns_of(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
    ) -> Result<(), ChangeError> {
        let with_columns =
            query("SELECT DISTINCT source FROM row_columns WHERE user_id = $1 AND source <> 'articles'")
                .bind_value(user_id)
                .fetch_all(&mut *connection)
                .await?;
        let with_jobs = query("SELECT id, input FROM jobs WHERE user_id = $1 AND kind = 'columns'")
            .bind_value(user_id)
            .fetch_all(&mut *connection)
            .await?;
        let mut jobs: HashMap<ColumnSource, Vec<JobId>> = HashMap::new();
        for row in &with_columns {
            let source = skip_damaged("row_columns", "of tables", text(row, "source"))?;
            if let Some(Ok(source)) = source.map(|source| source.parse()) {
                jobs.entry(source).or_default();
            }
        }
        for row in &with_jobs {
            let input = skip_damaged("jobs", "of columns", text(row, "input"))?;
            let input = input.and_then(|input| serde_json::from_str::<ColumnsInput>(&input).ok());
            if let Some(input) = input
                && let Some(job_id) = skip_damaged("jobs", "of columns", id::<JobId>(row, "id"))?
            {
                jobs.entry(input.source).or_default().push(job_id);
            }
        }
        for (source, jobs) in jobs {
            if has_source(&mut *connection, user_id, &source).await? {
                continue;
            }
            let deleted = query("DELETE FROM row_columns WHERE user_id = $1 AND source = $2")
                .bind_value(user_id)
                .bind(source.to_string())
                .execute(&mut *connection)
                .await?;
            if deleted.rows_affected() > 0 {
                self.log_settings_changed(&mut *connection, user_id).await?;
            }
            for job_id in jobs {
                self.delete_job(&mut *connection, user_id, job_id).await?;
            }
        }
        Ok(())
    }
}

/// The input of the jobs of a source, as they store it.
fn job_input(source: &ColumnSource) -> Result<String, ChangeError> {
    let source = source.clone();
    Ok(serde_json::to_string(&ColumnsInput { source })?)
}

/// Returns the first key of a column's cells, and the one after the last.
fn cells_of(id: ColumnId) -> (String, String) {
    // Zero is the character after the slash.
    (format!("{CELL_STEPS}/{id}/"), format!("{CELL_STEPS}/{id}0"))
}

/// Returns true if a saved column has another question than before.
async fn asks_otherwise(
    connection: &mut Connection,
    user_id: UserId,
    column: &Column,
) -> Result<bool, ChangeError> {
    let before = query("SELECT definition FROM row_columns WHERE user_id = $1 AND id = $2")
        .bind_value(user_id)
        .bind_value(column.id)
        .fetch_optional(connection)
        .await?;
    let before = before.and_then(|row| json::<Column>(&row, "definition").ok());
    Ok(before.is_none_or(|before| before.question != column.question))
}

/// Returns true if a user has the rows of a source.
async fn has_source(
    connection: &mut Connection,
    user_id: UserId,
    source: &ColumnSource,
) -> Result<bool, ChangeError> {
    let exists = match source {
        ColumnSource::Articles => return Ok(true),
        ColumnSource::Payload {
            conversation_id,
            payload_id,
        } => query_scalar(
            "SELECT EXISTS (SELECT 1 FROM payloads WHERE user_id = $1 AND conversation_id = $2 AND id = $3)",
        )
        .bind_value(user_id)
        .bind_value(conversation_id)
        .bind(payload_id),
        ColumnSource::File(id) => {
            query_scalar("SELECT EXISTS (SELECT 1 FROM files WHERE user_id = $1 AND id = $2)")
                .bind_value(user_id)
                .bind_value(id)
        }
    };
    Ok(exists.fetch_one(connection).await?)
}

/// Rejects a change about rows that were deleted meanwhile.
pub(super) async fn require_source(
    connection: &mut Connection,
    user_id: UserId,
    source: &ColumnSource,
) -> Result<(), ChangeError> {
    match has_source(connection, user_id, source).await? {
        true => Ok(()),
        false => Err(ChangeRejection::NotFound)?,
    }
}
