//! `table_docs`: a table with its columns, what they mean, and its first rows.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    super::{Data, DataError, find_table, texts},
    open_items::complete_table,
};
use parlor_protocol::tool_kind;
use parlor_tools::{OpenItems, Tool, ToolContext, ToolError, ToolKind, ToolResult};

/// The number of sample rows shown to the model.
const MAX_ROWS: usize = 3;

pub struct TableDocs(pub Data);

#[derive(Deserialize, JsonSchema)]
pub struct TableDocsInput {
    /// The table's name. Leave it out for the open table.
    #[serde(default)]
    table: String,
    /// The database.
    database: Option<String>,
}

impl Tool for TableDocs {
    type Input = TableDocsInput;

    const KIND: ToolKind = tool_kind::TABLE_DOCS;
    const DESCRIPTION: &'static str = "Describes a table: its columns with types, keys and meaning, and its first rows. Use it before you query the table.";
    const LABEL: &'static str = "Looking up table docs...";
    const DONE: &'static str = "Looked up table docs";
    const IS_IDEMPOTENT: bool = true;

    fn complete(&self, input: &mut TableDocsInput, open: OpenItems<'_>) -> Result<(), String> {
        complete_table(&mut input.table, &mut input.database, open)
    }

    fn detail(&self, input: &TableDocsInput) -> Option<String> {
        Some(input.table.clone())
    }

    async fn run(&self, input: TableDocsInput, _call: ToolContext) -> Result<ToolResult, ToolError> {
        let database = self.0.database(input.database.as_deref())?;
        let catalogue = database.catalogue().await.map_err(DataError::from)?;
        let table = find_table(database, &catalogue, &input.table)?;
        // The columns alone are of use too.
        let rows = database.first_rows(table, MAX_ROWS).await.unwrap_or_default();
        Ok(texts::describe_table(table, &rows).into())
    }
}
