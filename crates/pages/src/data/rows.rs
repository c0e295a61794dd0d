//! Results with many rows: a file of their call, of which the `table` payload has the first rows.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

use super::Data;
use parlor_databases::{Database, QueryResult, RowFile, StoredRows};
use parlor_files::UncommittedFile;
use parlor_protocol::{AttachmentId, Payload, UserId, panel::MAX_TABLE_CELLS};
use parlor_python::{ColumnType, Frame, StoredFrame};
use parlor_storage::{RunKey, StorageError};
use parlor_tools::{FinishedCall, ToolContext, ToolError};

/// The size of a file of rows as a multiple of that of its values, at most but for rows of tiny values.
const MAX_FILE_FACTOR: u64 = 2;

/// The rows of a query.
pub struct FetchedRows {
    pub result: QueryResult,
    /// The file with all rows, if only the first ones are in the result.
    pub file: Option<UncommittedFile>,
}

impl FetchedRows {
    /// Stores the file as one of the call's message. The payload that names it is stored later.
    pub async fn store(self, call: &ToolContext) -> Result<(), ToolError> {
        let run = RunKey {
            user_id: call.user_id,
            conversation_id: call.conversation_id,
            message_id: call.run,
        };
        if let Some(file) = self.file {
            file.commit_for_run(run).await.map_err(|error| {
                // The conversation was deleted meanwhile, or storage failed.
                tracing::warn!(%error, "the rows of a query are not kept");
                not_stored()
            })?;
        }
        Ok(())
    }
}

/// A table whose rows are in a file, from its payload.
#[derive(Debug, PartialEq, Deserialize)]
pub struct StoredTable {
    #[serde(default)]
    pub title: String,
    pub columns: Vec<String>,
    #[serde(default)]
    pub numeric: Vec<bool>,
    #[serde(default)]
    types: Vec<ColumnType>,
    stored: StoredFile,
}

#[derive(Debug, PartialEq, Deserialize)]
struct StoredFile {
    file: AttachmentId,
}

impl StoredTable {
    /// Reads the data of a payload; `None` if all of the table is in it, or it is none.
    pub fn from_payload(payload: &Payload) -> Option<Self> {
        let is_table = payload.kind == "table";
        is_table.then(|| serde_json::from_str(payload.data.as_str()).ok())?
    }
}

impl Data {
    /// Runs a query of a call. The file of many rows is not stored yet.
    pub(super) async fn fetch(
        &self,
        database: &Database,
        query: &str,
        call: &ToolContext,
    ) -> Result<FetchedRows, ToolError> {
        let free = self.free_bytes(call).await?;
        let begun = self.0.files.begin_rows(call.user_id, call.conversation_id).await;
        let rows = begun.map_err(|error| {
            tracing::error!(%error, "a file for the rows of a query can't be written");
            not_stored()
        })?;
        let file = RowFile {
            path: rows.path(),
            max_cells: MAX_TABLE_CELLS,
            max_json_bytes: self.0.payload_bytes,
            max_bytes: usize::try_from(free / MAX_FILE_FACTOR).unwrap_or(usize::MAX),
        };
        let result = database.query_into(query, file).await.map_err(ToolError::new)?;
        let file = match result.is_in_file {
            true => Some(rows.finish().await.map_err(|error| {
                tracing::error!(%error, "the rows of a query can't be brought to the disk");
                not_stored()
            })?),
            false => None,
        };
        // Other calls may have stored something meanwhile.
        if let Some(file) = &file
            && file.bytes() as u64 > self.free_bytes(call).await?
        {
            return Err(ToolError::new(
                "There is no room for so many rows (setting files.user_bytes). Select fewer, or aggregate; the person can \
                 delete files and conversations.",
            ));
        }
        Ok(FetchedRows { result, file })
    }

    async fn free_bytes(&self, call: &ToolContext) -> Result<u64, ToolError> {
        self.0.files.free_bytes(call.user_id).await.map_err(|error| {
            tracing::error!(%error, "the size of a user's files can't be read");
            not_stored()
        })
    }

    /// Loads a table into the session as a data frame. Its rows are in the file, if there is one.
    pub(super) async fn load_frame(
        &self,
        call: &ToolContext,
        name: &str,
        table: &Value,
        rows: Option<PathBuf>,
    ) -> Result<(), ToolError> {
        let no_frame = |_| ToolError::new("The rows can’t be a data frame. Query without df_name.");
        let python = &self.0.python;
        match rows {
            None => {
                let frame = Frame::deserialize(table).map_err(no_frame)?;
                python.load_frame(call, name, &frame).await
            }
            Some(file) => {
                let StoredTable { columns, types, .. } = StoredTable::deserialize(table).map_err(no_frame)?;
                let frame = StoredFrame { columns, types, file };
                python.load_stored_frame(call, name, &frame).await
            }
        }
    }

    /// Returns the table that a finished call has stored, and the file of its rows; `None` if either is gone.
    pub(super) async fn stored_table(
        &self,
        finished: &FinishedCall,
        call: &ToolContext,
    ) -> Result<Option<(Value, Option<PathBuf>)>, ToolError> {
        let Some(id) = &finished.payload_id else {
            return Ok(None);
        };
        let not_read = |error: StorageError| {
            tracing::error!(%error, "the stored rows of a query can't be read");
            ToolError::new("the stored rows can’t be read just now")
        };
        let payload = self
            .0
            .storage
            .payload(call.user_id, call.conversation_id, id)
            .await;
        let Some(payload) = payload.map_err(not_read)? else {
            return Ok(None);
        };
        let table: Option<Value> = serde_json::from_str(payload.data.as_str()).ok();
        // Earlier versions stored no types without a data frame.
        let Some(table) = table.filter(|table| table["types"].is_array()) else {
            return Ok(None);
        };
        let Some(stored) = StoredTable::from_payload(&payload) else {
            return Ok(Some((table, None)));
        };
        let path = self.0.files.rows_path(call.user_id, stored.stored.file).await;
        Ok(match path.map_err(not_read)? {
            Some(path) if tokio::fs::try_exists(&path).await.unwrap_or(false) => Some((table, Some(path))),
            _ => None,
        })
    }

    /// Loads the rows of a table of the user; `None` if their file is gone.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub async fn load_rows(
        &self,
        user_id: UserId,
        table: &StoredTable,
    ) -> Result<Option<StoredRows>, StorageError> {
        let path = self.0.files.rows_path(user_id, table.stored.file).await?;
        let width = table.columns.len();
        Ok(path.map(|path| self.0.file_databases.rows(path, width)))
    }
}

fn not_stored() -> ToolError {
    ToolError::new("The rows can’t be stored just now, so nothing is shown. Try again later.")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use parlor_protocol::RawJson;

    #[test]
    fn only_a_table_with_a_file_is_stored() {
        let read = |kind: &str, data: &Value| {
            StoredTable::from_payload(&Payload {
                payload_id: "p1".into(),
                kind: kind.into(),
                summary: String::new(),
                data: RawJson::parse_or_quote(&data.to_string()),
            })
        };
        let file = AttachmentId::new();
        let data = json!({ "columns": ["a"], "rows": [[1]], "types": ["integer"], "stored": { "file": file, "rows": 5 } });
        let expected = StoredTable {
            title: String::new(),
            columns: vec!["a".into()],
            numeric: vec![],
            types: vec![ColumnType::Integer],
            stored: StoredFile { file },
        };
        assert_eq!(read("table", &data), Some(expected));
        assert_eq!(read("chart", &data), None);
        for other in [
            json!([]),
            json!({ "columns": ["a"], "rows": [] }),
            json!({ "columns": ["a"], "stored": { "file": "../x" } }),
        ] {
            assert_eq!(read("table", &other), None, "{other}");
        }
    }
}
