//! The rows of an attached file with one table, such as a CSV file: columns can be added to them (`crate::columns`).

use super::Data;
use crate::columns::cut;
use parlor_databases::{Database, QueryError, QueryErrorKind, Table, TableFile, TableFiles};
use parlor_files::TableFileError;
use parlor_protocol::{
    ApiError, AttachmentId, ErrorCode, UserId,
    columns::SourceTable,
    panel::{NULL_TEXT, TableColumn},
};
use parlor_storage::not_found;

impl Data {
    /// Returns the name of a user's file with one table.
    pub(crate) async fn single_table_name(
        &self,
        user_id: UserId,
        id: AttachmentId,
    ) -> Result<String, ApiError> {
        Ok(self.open_single_table(user_id, id).await?.name)
    }

    /// Returns the first rows of a user's file with one table: a number of them, whose cells are cut to a number of bytes.
    pub(crate) async fn single_table(
        &self,
        user_id: UserId,
        id: AttachmentId,
        (max_rows, max_cell_bytes): (usize, usize),
    ) -> Result<SourceTable, ApiError> {
        let SingleTable {
            database,
            table,
            name,
        } = self.open_single_table(user_id, id).await?;
        let count = database
            .count_rows(&table)
            .await
            .map_err(|error| not_read(&error))?;
        let mut read = SourceTable {
            title: name,
            ..SourceTable::default()
        };
        while read.rows.len() < max_rows.min(count) {
            // A result in memory has a size of its own.
            let page = database
                .rows(&table, read.rows.len(), max_rows - read.rows.len())
                .await
                .map_err(|error| not_read(&error))?;
            if page.rows.is_empty() {
                break;
            }
            if read.columns.is_empty() {
                let columns = page.columns.iter().enumerate();
                let columns = columns.map(|(index, column)| TableColumn {
                    name: column.name.clone(),
                    numeric: page.is_numeric(index),
                });
                read.columns = columns.collect();
            }
            for row in &page.rows {
                let cells = row.iter().map(|cell| {
                    let mut text = cell.to_text().unwrap_or_else(|| NULL_TEXT.into());
                    cut(&mut text, max_cell_bytes);
                    text
                });
                read.rows.push(cells.collect());
            }
        }
        read.left_out = count.saturating_sub(read.rows.len());
        Ok(read)
    }

    async fn open_single_table(&self, user_id: UserId, id: AttachmentId) -> Result<SingleTable, ApiError> {
        let stored = self.0.files.find(user_id, id).await?.ok_or_else(not_found)?;
        let path = match self.0.files.table_database(&stored).await {
            Ok(path) => path,
            Err(TableFileError::NoTables) => return Err(not_single()),
            Err(error) => {
                tracing::warn!(%error, %id, "the table of a file can't be read");
                let message = format!("The table of this file can’t be read: {error}.");
                return Err(ApiError::new(ErrorCode::BadRequest, message));
            }
        };
        let name = stored.attachment.name;
        let database = self.0.file_databases.open(TableFiles {
            files: vec![TableFile {
                name: name.clone(),
                path,
            }],
            missing: Vec::new(),
        });
        let catalogue = database.catalogue().await.map_err(|error| not_read(&error))?;
        let mut tables = catalogue.tables();
        match (tables.next(), tables.next()) {
            (Some(table), None) => {
                let table = table.clone();
                Ok(SingleTable {
                    database,
                    table,
                    name,
                })
            }
            _ => Err(not_single()),
        }
    }
}

/// The table of a file.
struct SingleTable {
    database: Database,
    table: Table,
    /// The name of the file.
    name: String,
}

fn not_single() -> ApiError {
    ApiError::new(
        ErrorCode::BadRequest,
        "Only a file with one table can have columns: a CSV file, or a workbook with one sheet.",
    )
}

fn not_read(error: &QueryError) -> ApiError {
    tracing::warn!(%error, "the rows of a file can't be read");
    let code = match error.kind {
        QueryErrorKind::Busy => ErrorCode::TooManyRequests,
        _ => ErrorCode::Unavailable,
    };
    ApiError::new(
        code,
        "The rows of this file can’t be read just now. Try again later.",
    )
}
