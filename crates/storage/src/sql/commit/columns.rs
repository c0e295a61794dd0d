//! Changes to columns.

use super::{Batch, ChangeError, personal::ensure_user};
use crate::{
    ChangeRejection, Outcome,
    columns::{CELL_STEPS, ColumnChange},
    sql::database::{Connection, query},
};
use parlor_protocol::{
    ColumnId, UserId,
    columns::{Column, ColumnSource, Correction},
};

/// Deletes what ended jobs have of the steps whose keys are between `$2` and `$3`. A running job still stores results of them.
const DELETE_CELLS: [&str; 2] = [
    "DELETE FROM job_steps WHERE user_id = $1 AND key >= $2 AND key < $3 \
         AND job_id IN (SELECT id FROM jobs WHERE user_id = $1 AND status <> 'running')",
    "DELETE FROM job_calls WHERE user_id = $1 AND step >= $2 AND step < $3 \
         AND job_id IN (SELECT id FROM jobs WHERE user_id = $1 AND status <> 'running')",
];

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
        let row = query(
            "SELECT count(*) AS count, EXISTS (SELECT 1 FROM row_columns WHERE user_id = $1 AND id = $3) AS known \
             FROM row_columns WHERE user_id = $1 AND source = $2",
        )
        .bind_value(user_id)
        .bind(source.to_string())
        .bind_value(column.id)
        .fetch_one(&mut *connection)
        .await?;
        let (count, is_known): (i64, bool) = (row.try_get("count")?, row.try_get("known")?);
        if !is_known && usize::try_from(count).is_ok_and(|count| count >= limit) {
            Err(ChangeRejection::ColumnsFull)?;
        }
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
        let deleted = query("DELETE FROM row_columns WHERE user_id = $1 AND id = $2")
            .bind_value(user_id)
            .bind_value(id)
            .execute(&mut *connection)
            .await?;
        if deleted.rows_affected() > 0 {
            for statement in DELETE_CELLS {
                query(statement)
                    .bind_value(user_id)
                    .bind(format!("{CELL_STEPS}/{id}/"))
                    // The character after the slash.
                    .bind(format!("{CELL_STEPS}/{id}0"))
                    .execute(&mut *connection)
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
}
