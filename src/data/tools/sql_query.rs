//! `sql_query`: runs one statement that reads, and shows its rows.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    super::{Data, texts},
    SqlForm,
};
use crate::{
    databases::{Cell, Database, FILES, QueryResult, ResultColumn},
    files::has_tables,
    python::{self, ColumnType, Frame},
    text::single_line,
    tools::{FinishedCall, NewPayload, ReplayedCall, Tool, ToolContext, ToolError, ToolResult},
};

/// The maximum length of a table's title, in characters.
const MAX_TITLE_CHARS: usize = 70;

pub struct SqlQuery {
    pub data: Data,
    /// The databases that it may query.
    pub(super) form: SqlForm,
}

#[derive(Deserialize, JsonSchema)]
pub struct SqlQueryInput {
    /// One SELECT statement in the database's dialect. Select and aggregate only what the question needs.
    pub query: String,
    /// The name of a data frame of the Python session that gets the rows.
    df_name: Option<String>,
    /// The database.
    pub database: Option<String>,
}

impl Tool for SqlQuery {
    type Input = SqlQueryInput;

    const NAME: &'static str = "sql_query";
    const DESCRIPTION: &'static str = "Runs one SQL query that reads (SELECT, WITH) and returns its first rows, the number of rows and the types. The \
         person sees all rows in a table. Look up tables and columns first. If it returns an error, correct the query and try again.";
    const LABEL: &'static str = "Running SQL query...";
    const DONE: &'static str = "Ran SQL query";
    const IS_IDEMPOTENT: bool = true;

    fn timeout(&self) -> Duration {
        // Waiting for a place, the query, and the rows; then the data frame.
        self.data.0.settings.query_timeout * 2 + Self::TIMEOUT + self.data.0.python.call_timeout()
    }

    fn detail(&self, input: &SqlQueryInput) -> Option<String> {
        Some(input.query.clone())
    }

    fn uses_session(&self, input: &SqlQueryInput) -> bool {
        input.frame_name().is_some()
    }

    fn is_replayed(&self, finished: &FinishedCall) -> bool {
        // A query that failed has made no data frame.
        !finished.has_failed
    }

    async fn run(&self, input: SqlQueryInput, call: ToolContext) -> Result<ToolResult, ToolError> {
        let data = &self.data;
        let frame_name = input.frame_name();
        if let Some(name) = frame_name {
            check_frame(data, name)?;
        }
        let database = self.database(&input, &call).await?;
        let result = database.query(&input.query).await.map_err(ToolError::new)?;
        let text = output_text(&result, frame_name, data.0.settings.model_rows);
        let table = match frame_name {
            None => table_data(&input.query, result),
            Some(name) => {
                let (table, frame) = frame_data(&input.query, result)?;
                data.0.python.load_frame(&call, name, &frame).await?;
                table
            }
        };
        Ok(ToolResult {
            text,
            payload: Some(NewPayload {
                kind: "table".into(),
                data: table,
            }),
            ..ToolResult::default()
        })
    }

    async fn replay(
        &self,
        input: SqlQueryInput,
        finished: FinishedCall,
        call: ToolContext,
    ) -> Result<ReplayedCall, ToolError> {
        let data = &self.data;
        let Some(name) = input.frame_name() else {
            return Ok(ReplayedCall::default());
        };
        let mut difference = None;
        let frame = match self.stored_frame(&finished, &call).await? {
            Some(frame) => frame,
            // The table was too large to be stored, or is gone.
            None => {
                let result = self.query_again(&input, &call).await?;
                let text = output_text(&result, Some(name), data.0.settings.model_rows);
                if !is_beginning(&finished.output, &text) {
                    difference = Some(format!(
                        "The rows of {name} were not stored, so its query ran again, and what it shows has changed."
                    ));
                }
                frame_data(&input.query, result)?.1
            }
        };
        data.0.python.load_frame(&call, name, &frame).await?;
        Ok(ReplayedCall { difference })
    }
}

impl SqlQueryInput {
    /// Returns the name of the data frame; `None` if there is to be none.
    pub fn frame_name(&self) -> Option<&str> {
        self.df_name.as_deref().filter(|name| !name.is_empty())
    }
}

impl SqlQuery {
    /// Returns the database of a call.
    async fn database(&self, input: &SqlQueryInput, call: &ToolContext) -> Result<Database, ToolError> {
        let name = input.database.as_deref().filter(|name| !name.is_empty());
        if self.form == SqlForm::Files || name == Some(FILES) {
            return Ok(self.data.file_database(call).await?);
        }
        if self.form == SqlForm::Both && name.is_none() && call.files.iter().any(has_tables) {
            return Err(self.data.database_missing().into());
        }
        Ok(self.data.database(name)?.clone())
    }

    /// Runs the query of a finished call again.
    async fn query_again(&self, input: &SqlQueryInput, call: &ToolContext) -> Result<QueryResult, ToolError> {
        let query = async |database: Database| database.query(&input.query).await.map_err(ToolError::new);
        let result = match self.database(input, call).await {
            Ok(database) => query(database).await,
            Err(error) => Err(error),
        };
        // The call may have come from a form of the tool that queries files only.
        let may_be_of_files = input.database.as_deref().is_none_or(str::is_empty);
        match result {
            Err(_) if may_be_of_files && call.files.iter().any(has_tables) => {
                query(self.data.file_database(call).await?).await
            }
            result => result,
        }
    }

    /// Returns the rows that a finished call has stored.
    async fn stored_frame(
        &self,
        finished: &FinishedCall,
        call: &ToolContext,
    ) -> Result<Option<Frame>, ToolError> {
        let Some(id) = &finished.payload_id else {
            return Ok(None);
        };
        let storage = &self.data.0.storage;
        let payload = storage.payload(call.user_id, call.conversation_id, id).await;
        let payload = payload.map_err(|error| {
            tracing::error!(%error, "the stored rows of a query can't be read");
            ToolError::new("the stored rows can’t be read just now")
        })?;
        let table = payload.and_then(|payload| serde_json::from_str(payload.data.as_str()).ok());
        Ok(table.as_ref().and_then(read_frame))
    }
}

/// Checks that a data frame can be made under a name.
fn check_frame(data: &Data, name: &str) -> Result<(), ToolError> {
    if !data.0.python.is_available() {
        return Err(ToolError::new(
            "There is no Python session here, so there are no data frames. Call sql_query again without df_name.",
        ));
    }
    match python::is_valid_name(name) {
        true => Ok(()),
        false => Err(ToolError::new(
            "df_name must be a name of Python, such as jobs_by_year. Nothing was queried.",
        )),
    }
}

/// Returns the first rows of a result with a note, for the model.
fn output_text(result: &QueryResult, frame_name: Option<&str>, model_rows: usize) -> String {
    let shown = result.rows.len().min(model_rows);
    let rows = texts::rows_table(result, shown);
    let note = texts::result_note(result, shown);
    match frame_name {
        Some(name) => format!("Stored as {name}\n\n{rows}\n\n{note}"),
        None => format!("{rows}\n\n{note}"),
    }
}

/// Returns `true` if an output begins with a text, as far as outputs are kept.
fn is_beginning(output: &str, text: &str) -> bool {
    output.starts_with(&text[..text.floor_char_boundary(SqlQuery::OUTPUT_BYTES)])
}

/// Returns a result as the data of a `table` payload, with the types of a data frame, and as the frame.
fn frame_data(query: &str, result: QueryResult) -> Result<(Value, Frame), ToolError> {
    let types = column_types(&result);
    let mut table = table_data(query, result);
    table["types"] = json!(types);
    let frame = read_frame(&table)
        .ok_or_else(|| ToolError::new("The rows can’t be a data frame. Query without df_name."))?;
    Ok((table, frame))
}

/// Returns the types of a data frame's columns.
fn column_types(result: &QueryResult) -> Vec<ColumnType> {
    let columns = result.columns.iter().enumerate();
    let of = |(index, column): (usize, &ResultColumn)| {
        let values: Vec<Value> = result.rows.iter().map(|row| row[index].to_json()).collect();
        ColumnType::new(&column.data_type, values.iter())
    };
    columns.map(of).collect()
}

/// Returns the rows of a stored table with its types.
fn read_frame(table: &Value) -> Option<Frame> {
    serde_json::from_value(table.clone()).ok()
}

/// Returns a result as the data of a `table` payload.
fn table_data(query: &str, result: QueryResult) -> Value {
    let numeric: Vec<bool> = (0..result.columns.len())
        .map(|index| result.is_numeric(index))
        .collect();
    let columns: Vec<&str> = result.columns.iter().map(|column| column.name.as_str()).collect();
    let rows: Vec<Vec<Value>> = result
        .rows
        .iter()
        .map(|row| row.iter().map(Cell::to_json).collect())
        .collect();
    json!({
        "title": single_line(query, MAX_TITLE_CHARS),
        "columns": columns,
        "numeric": numeric,
        "rows": rows,
        "is_cut": result.cut_by.is_some(),
    })
}
