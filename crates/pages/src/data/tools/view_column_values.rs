//! `view_column_values`: the values of a column, the most frequent first.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::{Data, DataError, find_column, find_table, texts},
    open_items::complete_table,
};
use parlor_protocol::tool_kind;
use parlor_tools::{OpenItems, Tool, ToolContext, ToolError, ToolKind, ToolResult};

/// The number of values without a limit, and the highest limit.
const DEFAULT_VALUES: usize = 30;
const MAX_VALUES: usize = 200;

pub struct ViewColumnValues(pub Data);

#[derive(Deserialize, JsonSchema)]
pub struct ViewColumnValuesInput {
    /// The table's name. Leave it out for the open table.
    #[serde(default)]
    table: String,
    /// The column's name.
    column: String,
    /// A part of the values that are looked for, in any case.
    search: Option<String>,
    /// The number of values: 30 unless given, 200 at most.
    limit: Option<usize>,
    /// The database.
    database: Option<String>,
}

impl Tool for ViewColumnValues {
    type Input = ViewColumnValuesInput;

    const KIND: ToolKind = tool_kind::VIEW_COLUMN_VALUES;
    const DESCRIPTION: &'static str = "Lists the different values of a column with the number of rows of each, the most frequent first. Use it to find how a \
         name or a category is written before you filter by it.";
    const LABEL: &'static str = "Checking column values...";
    const DONE: &'static str = "Checked column values";
    const IS_IDEMPOTENT: bool = true;

    fn complete(&self, input: &mut ViewColumnValuesInput, open: OpenItems<'_>) -> Result<(), String> {
        complete_table(&mut input.table, &mut input.database, open)
    }

    fn detail(&self, input: &ViewColumnValuesInput) -> Option<String> {
        let search = input.search.as_deref().filter(|search| !search.is_empty());
        let search = search.map_or(String::new(), |search| format!(": {search}"));
        Some(format!("{}.{}{search}", input.table, input.column))
    }

    async fn run(&self, input: ViewColumnValuesInput, _call: ToolContext) -> Result<ToolResult, ToolError> {
        let database = self.0.database(input.database.as_deref())?;
        let catalogue = database.catalogue().await.map_err(DataError::from)?;
        let table = find_table(database, &catalogue, &input.table)?;
        let column = find_column(table, &input.column)?;
        let limit = input.limit.unwrap_or(DEFAULT_VALUES).clamp(1, MAX_VALUES);
        let search = input.search.as_deref().filter(|search| !search.is_empty());
        // One more shows that there are more.
        let mut values = database
            .values(table, column, search, limit + 1)
            .await
            .map_err(DataError::from)?;
        let has_more = values.rows.len() > limit;
        values.rows.truncate(limit);
        if values.rows.is_empty() {
            return Ok("No value was found.".to_owned().into());
        }
        let table = texts::rows_table(&values, limit);
        let more = if has_more {
            "\n\nThere are more values: search for a part of one."
        } else {
            ""
        };
        Ok(format!("{table}{more}").into())
    }
}
