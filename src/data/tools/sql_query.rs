//! `sql_query`: runs one statement that reads, and shows its rows.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::{Data, texts};
use crate::{
    databases::{Cell, QueryResult},
    text::single_line,
    tools::{NewPayload, Tool, ToolContext, ToolError, ToolResult},
};

/// The maximum length of a table's title, in characters.
const MAX_TITLE_CHARS: usize = 70;

pub struct SqlQuery(pub Data);

#[derive(Deserialize, JsonSchema)]
pub struct SqlQueryInput {
    /// One SELECT statement in the database's dialect. Select and aggregate only what the question needs.
    query: String,
    /// The name of a data frame of the Python session that gets the rows.
    df_name: Option<String>,
    /// The database.
    database: Option<String>,
}

impl Tool for SqlQuery {
    type Input = SqlQueryInput;

    const NAME: &'static str = "sql_query";
    const DESCRIPTION: &'static str = "Runs one SQL query that reads (SELECT, WITH) and returns its first rows, the number of rows and the types. The \
         person sees all rows in a table. Look up tables and columns first. If it returns an error, correct the query and try again.";
    const LABEL: &'static str = "Running SQL query...";
    const DONE: &'static str = "Ran SQL query";
    const IS_IDEMPOTENT: bool = true;

    fn timeout(&self) -> std::time::Duration {
        // Waiting for a place, the query, and the rows.
        self.0.0.settings.query_timeout * 2 + Self::TIMEOUT
    }

    fn detail(&self, input: &SqlQueryInput) -> Option<String> {
        Some(input.query.clone())
    }

    async fn run(&self, input: SqlQueryInput, _call: ToolContext) -> Result<ToolResult, ToolError> {
        if input.df_name.is_some_and(|name| !name.is_empty()) {
            return Err(ToolError::new(
                "There is no Python session here, so there are no data frames. Call sql_query again without df_name.",
            ));
        }
        let settings = &self.0.0.settings;
        let database = self.0.database(input.database.as_deref())?;
        let result = database.query(&input.query).await.map_err(ToolError::new)?;
        let shown = result.rows.len().min(settings.model_rows);
        let text = format!(
            "{}\n\n{}",
            texts::rows_table(&result, shown),
            texts::result_note(&result, shown)
        );
        Ok(ToolResult {
            text,
            payload: Some(NewPayload {
                kind: "table".into(),
                data: table_data(&input.query, result),
            }),
            ..ToolResult::default()
        })
    }
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
