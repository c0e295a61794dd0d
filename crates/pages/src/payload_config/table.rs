//! A table that the model writes.

use schemars::JsonSchema;
use serde_json::Value;

use super::{PayloadConfig, require_viewable, unchanged};
use parlor_tools::schema;

/// Rows of cells.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it stands for its schema")]
struct WrittenTable {
    title: Option<String>,
    /// The columns' names.
    columns: Vec<String>,
    /// Each row has a cell for each column: a text, a number, true, false or null.
    rows: Vec<Vec<Value>>,
}

/// A table with more rows than fit into a text.
pub const TABLE: PayloadConfig = PayloadConfig {
    payload_type: "table",
    marker: "TABLE:",
    instructions: || {
        "More rows than one reads in a text:\n\
                   TABLE: {\"title\": \"Rivers\", \"columns\": [\"Name\", \"km\"], \"rows\": [[\"Nile\", 6650]]}"
            .into()
    },
    progress_text: "Writing a table...",
    parse: |data| require_viewable("table", data),
    schema: schema::for_type::<WrittenTable>,
    revise: None,
    to_model_input: unchanged,
    is_corrected: false,
    base: None,
    proposal: None,
};
