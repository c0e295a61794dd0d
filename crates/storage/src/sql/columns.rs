//! Queries about columns.

use async_trait::async_trait;

use super::{SqlStorage, id, json, read_undamaged_rows, text};
use crate::{
    StorageError,
    columns::ColumnStorage,
    sql::database::{Row, query},
};
use parlor_protocol::{
    ColumnId, Timestamp, UserId,
    columns::{Column, ColumnSource, Correction},
};

#[async_trait]
impl ColumnStorage for SqlStorage {
    async fn columns(&self, user_id: UserId, source: &ColumnSource) -> Result<Vec<Column>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let rows =
            query("SELECT id, definition FROM row_columns WHERE user_id = $1 AND source = $2 ORDER BY id")
                .bind_value(user_id)
                .bind(source.to_string())
                .fetch_all(&mut connection)
                .await?;
        read_undamaged_rows("row_columns", "id", &rows, |row| json(row, "definition"))
    }

    async fn column(
        &self,
        user_id: UserId,
        id: ColumnId,
    ) -> Result<Option<(ColumnSource, Column)>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let row = query("SELECT id, source, definition FROM row_columns WHERE user_id = $1 AND id = $2")
            .bind_value(user_id)
            .bind_value(id)
            .fetch_optional(&mut connection)
            .await?;
        let read = read_undamaged_rows("row_columns", "id", row.as_slice(), |row| {
            let source = text(row, "source")?.parse().ok();
            Ok((source, json(row, "definition")?))
        })?;
        let found = read.into_iter().next();
        Ok(found.and_then(|(source, column)| Some((source?, column))))
    }

    async fn corrections(
        &self,
        user_id: UserId,
        source: &ColumnSource,
    ) -> Result<Vec<Correction>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let rows = query(
            "SELECT x.column_id, x.row_key, x.value, x.corrected_at FROM corrected_cells x \
             JOIN row_columns c ON c.user_id = x.user_id AND c.id = x.column_id \
             WHERE x.user_id = $1 AND c.source = $2 ORDER BY x.corrected_at DESC, x.column_id, x.row_key",
        )
        .bind_value(user_id)
        .bind(source.to_string())
        .fetch_all(&mut connection)
        .await?;
        read_undamaged_rows("corrected_cells", "row_key", &rows, read_correction)
    }
}

fn read_correction(row: &Row) -> Result<Correction, StorageError> {
    Ok(Correction {
        column_id: id(row, "column_id")?,
        row: text(row, "row_key")?,
        value: text(row, "value")?,
        corrected_at: Timestamp(row.try_get("corrected_at")?),
    })
}
