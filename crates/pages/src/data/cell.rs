//! A finished query as a cell of a notebook.
//!
//! The cell reads the rows with pandas, as a person would write it: whoever knows Python understands it, later cells have their
//! data frame, and it runs again once there is a connection. A magic such as `%%sql` would need an extension, and a cell of
//! another language another kernel.

use serde::Deserialize;
use serde_json::Value;

use super::{
    texts::{self, NULL, cell_text},
    tools::{SqlQuery, SqlQueryInput},
};
use parlor_base::text::single_line;
use parlor_protocol::{Payload, ToolCall};
use parlor_python::is_valid_name;
use parlor_tools::{FinishedCall, Tool};

/// The maximum length of a database's name in a comment, in characters.
const MAX_DATABASE_CHARS: usize = 80;

/// The maximum number of rows in a notebook, and their maximum size in bytes.
const MAX_ROWS: usize = 200;
const MAX_ROWS_BYTES: usize = 64 << 10;

/// A finished call of `sql_query`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryCell {
    /// Python code that runs the query.
    pub code: String,
    /// The output for the model: the first rows; of a query that failed, the error.
    pub output: String,
    pub has_failed: bool,
    /// The payload with all rows, if they were stored.
    pub payload_id: Option<String>,
}

impl QueryCell {
    /// The code before the first query.
    pub const SETUP: &'static str = "\
# The SQL queries below ran in Parlor. To run them again, connect to the database, for example with SQLAlchemy:
# import sqlalchemy
# connection = sqlalchemy.create_engine(\"…\").connect()
import pandas as pd";

    /// Returns a call as a cell; `None` for calls of other tools, and for one that has not ended by itself.
    pub fn from_call(call: &ToolCall) -> Option<Self> {
        if call.tool != SqlQuery::NAME {
            return None;
        }
        let input: SqlQueryInput = serde_json::from_str(call.input.as_str()).ok()?;
        let FinishedCall {
            has_failed,
            mut output,
            payload_id,
        } = FinishedCall::from_call(call)?;
        if let Some(payload) = &call.payload {
            output = output.replacen(&payload.model_note(), "", 1);
        }
        Some(Self {
            code: code(&input),
            output,
            has_failed,
            payload_id,
        })
    }
}

/// Returns Python code that runs a query.
fn code(input: &SqlQueryInput) -> String {
    let database = input.database.as_deref().unwrap_or_default();
    let of_database = match single_line(database, MAX_DATABASE_CHARS) {
        name if name.is_empty() => String::new(),
        name => format!(" of the database {name}"),
    };
    let assigned = match input.frame_name().filter(|name| is_valid_name(name)) {
        Some(name) => format!("{name} = "),
        None => String::new(),
    };
    // In such a string, only these have a meaning.
    let query = input
        .query
        .trim()
        .replace('\\', "\\\\")
        .replace("\"\"\"", "\\\"\\\"\\\"");
    format!("# SQL query{of_database}\n{assigned}pd.read_sql(\"\"\"\n{query}\n\"\"\", connection)")
}

/// The data of a `table` payload that a query has made.
#[derive(Deserialize)]
struct StoredRows {
    columns: Vec<String>,
    #[serde(default)]
    numeric: Vec<bool>,
    rows: Vec<Vec<Value>>,
    #[serde(default)]
    is_cut: bool,
    #[serde(default)]
    stored: Option<StoredCount>,
}

/// All rows of a table, if they are in a file.
#[derive(Deserialize)]
struct StoredCount {
    rows: usize,
}

/// Returns the first stored rows of a query as a Markdown table, with the number of all rows below; `None` if the payload has
/// no such rows.
pub fn rows_as_markdown(payload: &Payload) -> Option<String> {
    let stored: StoredRows = serde_json::from_str(payload.data.as_str()).ok()?;
    let columns = stored.columns.len();
    let mut table = row(stored.columns.iter().map(|name| cell_text(name)));
    let is_numeric = |index: usize| stored.numeric.get(index) == Some(&true);
    let rules = (0..columns).map(|index| if is_numeric(index) { "---:" } else { "---" }.to_owned());
    table.push_str(&row(rules));
    let mut shown = 0;
    for cells in stored.rows.iter().take(MAX_ROWS) {
        let cells = row(cells.iter().take(columns).map(value_text));
        if table.len() + cells.len() > MAX_ROWS_BYTES {
            break;
        }
        table.push_str(&cells);
        shown += 1;
    }
    let count = stored.stored.as_ref().map_or(stored.rows.len(), |all| all.rows);
    let more_than = if stored.is_cut { "more than " } else { "" };
    let counted = match count {
        1 if !stored.is_cut => "1 row".to_owned(),
        _ => format!("{more_than}{count} rows"),
    };
    let note = match shown < count {
        true => format!("The first {shown} of {counted}"),
        false => counted,
    };
    Some(format!("{table}\n{note}"))
}

fn row(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

fn value_text(value: &Value) -> String {
    match value {
        Value::Null => NULL.into(),
        Value::String(text) => texts::value_text(text),
        other => cell_text(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use parlor_protocol::{RawJson, ToolStatus};

    fn cell(arguments: &Value, status: ToolStatus) -> Option<QueryCell> {
        QueryCell::from_call(&ToolCall {
            input: RawJson::parse_or_quote(&arguments.to_string()),
            output: Some("| n |\n| --- |\n| 1 |".into()),
            ..ToolCall::for_test("sql_query", status)
        })
    }

    #[test]
    fn query_is_read_into_its_frame() {
        let code = |arguments: Value| cell(&arguments, ToolStatus::Complete).unwrap().code;
        assert_eq!(
            code(json!({ "query": "SELECT *\nFROM jobs ", "df_name": "jobs", "database": "town\nhall" })),
            "# SQL query of the database town hall\njobs = pd.read_sql(\"\"\"\nSELECT *\nFROM jobs\n\"\"\", connection)"
        );
        assert_eq!(
            code(json!({ "query": "SELECT 1", "df_name": "a b" })),
            "# SQL query\npd.read_sql(\"\"\"\nSELECT 1\n\"\"\", connection)"
        );
        // Nothing in a query ends the string.
        assert!(
            code(json!({ "query": r#"SELECT '\' || """" AS "x""# }))
                .ends_with("\nSELECT '\\\\' || \\\"\\\"\\\"\" AS \"x\"\n\"\"\", connection)")
        );
        assert_eq!(cell(&json!({ "query": "SELECT 1" }), ToolStatus::Denied), None);
        assert_eq!(cell(&json!([]), ToolStatus::Complete), None);
    }

    fn markdown(data: &Value) -> Option<String> {
        rows_as_markdown(&Payload {
            payload_id: "p1".into(),
            kind: "table".into(),
            summary: String::new(),
            data: RawJson::parse_or_quote(&data.to_string()),
        })
    }

    #[test]
    fn stored_rows_are_a_table() {
        let data = json!({ "columns": ["n", "a|b"], "numeric": [true, false], "rows": [[1.5, "x\ny"], [null, true], ["", "NULL"]] });
        assert_eq!(
            markdown(&data).unwrap(),
            "| n | a\\|b |\n| ---: | --- |\n| 1.5 | x y |\n| NULL | true |\n| '' | 'NULL' |\n\n3 rows"
        );
        assert_eq!(markdown(&json!([1])), None);
    }

    #[test]
    fn many_rows_are_cut_with_a_note() {
        let rows = |text: &str| json!({ "columns": ["n"], "rows": vec![[text]; 1000], "is_cut": true });
        let table = markdown(&rows("x")).unwrap();
        assert!(
            table.ends_with("\n\nThe first 200 of more than 1000 rows"),
            "{table}"
        );
        let mut in_file = rows("x");
        in_file["stored"] = json!({ "file": "f", "rows": 5000 });
        assert!(
            markdown(&in_file)
                .unwrap()
                .ends_with("\n\nThe first 200 of more than 5000 rows")
        );
        let wide =
            markdown(&json!({ "columns": vec!["n"; 300], "rows": vec![vec!["x".repeat(190); 300]; 3] }));
        assert!(wide.unwrap().ends_with("\n\nThe first 1 of 3 rows"));
    }
}
