//! The model's tools for databases, one file each.

mod sql_query;
mod subject_overview;
mod table_docs;
mod view_column_values;

use std::sync::Arc;

use serde_json::Value;

use self::{
    sql_query::SqlQuery, subject_overview::SubjectOverview, table_docs::TableDocs,
    view_column_values::ViewColumnValues,
};
use super::Data;
use crate::{
    model::ToolSpec,
    tools::{AnyTool, Tool, any_tool_with},
};

/// The names of all tools.
pub(super) static NAMES: [&str; 4] = [
    SubjectOverview::NAME,
    TableDocs::NAME,
    ViewColumnValues::NAME,
    SqlQuery::NAME,
];

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
        any_tool_with(SqlQuery(data.clone()), adapt),
    ]
}

/// Adapts a tool's description to the databases: it names them, and with a single one there is no field for
/// it. Nor is there one for a data frame, which needs a Python session.
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
    let mut absent = vec!["df_name"];
    if databases.len() == 1 {
        absent.push("database");
    }
    if let Some(Value::Object(fields)) = spec.input_schema.get_mut("properties") {
        fields.retain(|name, _| !absent.contains(&&**name));
    }
}
