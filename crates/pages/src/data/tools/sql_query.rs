//! `sql_query`: runs one statement that reads, and shows its rows.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    super::{Data, rows::FetchedRows, texts},
    SqlForm,
    open_items::complete_database,
};
use parlor_base::text::single_line;
use parlor_databases::{Cell, CellKind, Database, FILES, QueryResult};
use parlor_files::UncommittedFile;
use parlor_protocol::tool_kind;
use parlor_python as python;
use parlor_python::{ColumnType, ValueKind};
use parlor_tools::{
    FinishedCall, NewPayload, OpenItems, ReplayedCall, Tool, ToolContext, ToolError, ToolKind, ToolResult,
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

    const KIND: ToolKind = tool_kind::SQL_QUERY;
    const DESCRIPTION: &'static str = "Runs one SQL query that reads (SELECT, WITH) and returns its first rows, the number of rows and the types. The \
         person sees all rows in a table. Look up tables and columns first. If it returns an error, correct the query and try again.";
    const LABEL: &'static str = "Running SQL query...";
    const DONE: &'static str = "Ran SQL query";
    const IS_IDEMPOTENT: bool = true;

    fn timeout(&self) -> Duration {
        // Waiting for a place, the query, and the rows; then the data frame.
        self.data.0.settings.query_timeout * 2 + Self::TIMEOUT + self.data.0.python.call_timeout()
    }

    fn complete(&self, input: &mut SqlQueryInput, open: OpenItems<'_>) -> Result<(), String> {
        // A data frame is made again without the page. With files, the database could be another one than the open table's.
        if self.form == SqlForm::Configured && input.frame_name().is_none() {
            complete_database(&mut input.database, open);
        }
        Ok(())
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
        let fetched = data.fetch(&database, &input.query, &call).await?;
        let text = output_text(&fetched.result, frame_name, data.0.settings.model_rows);
        let table = table_data(&input.query, &fetched);
        if let Some(name) = frame_name {
            let rows = fetched.file.as_ref().map(UncommittedFile::path);
            data.load_frame(&call, name, &table, rows).await?;
        }
        fetched.store(&call).await?;
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
        if let Some((table, rows)) = data.stored_table(&finished, &call).await? {
            data.load_frame(&call, name, &table, rows).await?;
        } else {
            // The table could not be stored, or is gone.
            let fetched = self.query_again(&input, &call).await?;
            let text = output_text(&fetched.result, Some(name), data.0.settings.model_rows);
            if !is_beginning(&finished.output, &text) {
                difference = Some(format!(
                    "The rows of {name} were not stored, so its query ran again, and what it shows has changed."
                ));
            }
            let rows = fetched.file.as_ref().map(UncommittedFile::path);
            data.load_frame(&call, name, &table_data(&input.query, &fetched), rows)
                .await?;
        }
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
        if self.form == SqlForm::Both && name.is_none() && self.data.has_file_tables(call).await {
            return Err(self.data.database_missing().into());
        }
        Ok(self.data.database(name)?.clone())
    }

    /// Runs the query of a finished call again.
    async fn query_again(&self, input: &SqlQueryInput, call: &ToolContext) -> Result<FetchedRows, ToolError> {
        let query = async |database: Database| self.data.fetch(&database, &input.query, call).await;
        let result = match self.database(input, call).await {
            Ok(database) => query(database).await,
            Err(error) => Err(error),
        };
        // The call may have come from a form of the tool that queries files only.
        let may_be_of_files = input.database.as_deref().is_none_or(str::is_empty);
        match result {
            Err(_) if may_be_of_files && self.data.has_file_tables(call).await => {
                query(self.data.file_database(call).await?).await
            }
            result => result,
        }
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

/// Returns a result as the data of a `table` payload.
fn table_data(query: &str, fetched: &FetchedRows) -> Value {
    let FetchedRows { result, file } = fetched;
    let indices = || 0..result.columns.len();
    let numeric: Vec<bool> = indices().map(|index| result.is_numeric(index)).collect();
    let types: Vec<ColumnType> = indices().map(|index| column_type(result, index)).collect();
    let columns: Vec<&str> = result.columns.iter().map(|column| column.name.as_str()).collect();
    let rows: Vec<Vec<Value>> = result
        .rows
        .iter()
        .map(|row| row.iter().map(Cell::to_json).collect())
        .collect();
    let mut table = json!({
        "title": single_line(query, MAX_TITLE_CHARS),
        "columns": columns,
        "numeric": numeric,
        "types": types,
        "rows": rows,
        "is_cut": result.cut_by.is_some(),
    });
    if let Some(file) = file {
        table["stored"] = json!({ "file": file.id(), "rows": result.row_count });
    }
    table
}

/// Returns the type of a column in a data frame.
fn column_type(result: &QueryResult, index: usize) -> ColumnType {
    let kind = |kind| match kind {
        CellKind::Boolean => ValueKind::Boolean,
        CellKind::Integer => ValueKind::Integer,
        CellKind::Real => ValueKind::Real,
        CellKind::Infinite | CellKind::InfiniteText => ValueKind::Special,
        CellKind::Decimal | CellKind::Text | CellKind::Binary => ValueKind::Text,
    };
    let kinds: Vec<ValueKind> = result.kinds(index).all().map(kind).collect();
    let column = result.columns.get(index);
    ColumnType::new(column.map_or("", |column| &column.data_type), &kinds)
}
