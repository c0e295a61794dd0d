//! The model's tools for databases, one file each.

mod session_choice;
mod sql_query;
mod subject_overview;
mod table_docs;
mod view_column_values;

use std::sync::Arc;

use serde_json::Value;

pub(super) use self::sql_query::{SqlQuery, SqlQueryInput};
use self::{
    session_choice::SessionChoice, subject_overview::SubjectOverview, table_docs::TableDocs,
    view_column_values::ViewColumnValues,
};
use super::Data;
use crate::{
    model::ToolSpec,
    python::JupyterNotebook,
    tools::{AnyTool, Tool, any_tool_with},
};

/// The names of the tools that show what is in the databases.
pub(super) static DATABASE_NAMES: [&str; 4] = [
    SubjectOverview::NAME,
    TableDocs::NAME,
    ViewColumnValues::NAME,
    SqlQuery::NAME,
];

/// The names of all tools of the page.
pub(super) static NAMES: [&str; 5] = [
    SubjectOverview::NAME,
    TableDocs::NAME,
    ViewColumnValues::NAME,
    SqlQuery::NAME,
    // Offered where there is a Python.
    JupyterNotebook::NAME,
];

/// The use of the data frame, for the model.
const FRAME_HINT: &str = " Give df_name to compute with the rows in jupyter_notebook, or to plot them.";

/// Returns all tools; none if no database is configured.
pub(super) fn all_tools(data: &Data) -> Vec<Arc<dyn AnyTool>> {
    if data.0.databases.all().is_empty() {
        return Vec::new();
    }
    let adapt = |spec: &mut ToolSpec| adapt_spec(data, spec);
    vec![
        any_tool_with(SubjectOverview(data.clone()), adapt),
        any_tool_with(TableDocs(data.clone()), adapt),
        any_tool_with(ViewColumnValues(data.clone()), adapt),
        Arc::new(SessionChoice {
            python: data.0.python.clone(),
            with_session: any_tool_with(SqlQuery(data.clone()), |spec| {
                adapt_spec(data, spec);
                spec.description.push_str(FRAME_HINT);
            }),
            without: any_tool_with(SqlQuery(data.clone()), |spec| {
                adapt_spec(data, spec);
                remove_fields(spec, &["df_name"]);
            }),
        }),
    ]
}

/// Adapts a tool's description to the databases: it names them, and with a single one there is no field for
/// it.
fn adapt_spec(data: &Data, spec: &mut ToolSpec) {
    let databases = data.0.databases.all();
    let names: Vec<String> = databases
        .iter()
        .map(|database| format!("{} ({})", database.name(), database.dialect().name()))
        .collect();
    let word = if databases.len() == 1 {
        "database"
    } else {
        "databases"
    };
    spec.description
        .push_str(&format!(" The {word}: {}.", names.join(", ")));
    if databases.len() == 1 {
        remove_fields(spec, &["database"]);
    }
}

/// Removes fields from a tool's input.
fn remove_fields(spec: &mut ToolSpec, absent: &[&str]) {
    if let Some(Value::Object(fields)) = spec.input_schema.get_mut("properties") {
        fields.retain(|name, _| !absent.contains(&&**name));
    }
}
