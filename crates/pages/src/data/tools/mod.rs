//! The model's tools for databases, one file each.

mod open_items;
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
use parlor_databases::FILES;
use parlor_model::ToolSpec;
use parlor_python::JupyterNotebook;
use parlor_tools::{AnyTool, Tool, any_tool_with};

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
const FRAME_HINT: &str = " Give df_name to compute with the rows in Python, or to plot them.";

/// The names of the tables of files, for the model.
const FILES_HINT: &str = " files has the tables of the files that the person attached. A table is named like its file, in lower case without \
     the ending, with _ for all but letters and digits: sales_2024 for “Sales 2024.csv”. Of a workbook with several sheets, \
     each is one: book_sheet1.";

/// The forms of `sql_query` by the databases that it queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SqlForm {
    /// The databases of the settings.
    Configured,
    /// The tables of attached files.
    Files,
    Both,
}

impl SqlForm {
    /// The name by which pages and conversations ask for it.
    fn offer_name(self) -> &'static str {
        match self {
            Self::Configured => SqlQuery::NAME,
            Self::Files => "sql_query of files",
            Self::Both => "sql_query of all",
        }
    }

    fn queries_files(self) -> bool {
        self != Self::Configured
    }
}

/// Returns the named tools with the form of `sql_query` that also queries the tables of attached files.
pub fn with_file_tables(mut named: Vec<&'static str>) -> Vec<&'static str> {
    match named.iter_mut().find(|name| **name == SqlQuery::NAME) {
        Some(name) => *name = SqlForm::Both.offer_name(),
        None => named.push(SqlForm::Files.offer_name()),
    }
    named
}

/// Returns the tools of the page *Data*, and the forms of `sql_query` for conversations with files.
pub(super) fn page_tools(data: &Data) -> Vec<Arc<dyn AnyTool>> {
    let files = sql_query(data, SqlForm::Files);
    match data.0.databases.all().is_empty() {
        true => vec![files],
        false => {
            let mut tools = database_tools(data, SqlForm::Configured);
            tools.extend([sql_query(data, SqlForm::Both), files]);
            tools
        }
    }
}

/// Returns the tools for all pages; none if no database is configured. Their form is the same with and without files.
pub(super) fn global_tools(data: &Data) -> Vec<Arc<dyn AnyTool>> {
    match data.0.databases.all().is_empty() {
        true => Vec::new(),
        false => database_tools(data, SqlForm::Both),
    }
}

fn database_tools(data: &Data, form: SqlForm) -> Vec<Arc<dyn AnyTool>> {
    let adapt = |spec: &mut ToolSpec| adapt_spec(data, SqlForm::Configured, spec);
    vec![
        any_tool_with(SubjectOverview(data.clone()), adapt),
        any_tool_with(TableDocs(data.clone()), adapt),
        any_tool_with(ViewColumnValues(data.clone()), adapt),
        sql_query(data, form),
    ]
}

fn sql_query(data: &Data, form: SqlForm) -> Arc<dyn AnyTool> {
    let tool = || SqlQuery {
        data: data.clone(),
        form,
    };
    Arc::new(SessionChoice {
        offer_name: form.offer_name(),
        python: data.0.python.clone(),
        with_session: any_tool_with(tool(), |spec| {
            adapt_spec(data, form, spec);
            spec.description.push_str(FRAME_HINT);
        }),
        without: any_tool_with(tool(), |spec| {
            adapt_spec(data, form, spec);
            remove_fields(spec, &["df_name"]);
        }),
    })
}

/// Adapts a tool's description to the databases: it names them, and with a single one there is no field for
/// it.
fn adapt_spec(data: &Data, form: SqlForm, spec: &mut ToolSpec) {
    let mut names: Vec<String> = Vec::new();
    if form != SqlForm::Files {
        let databases = data.0.databases.all().iter();
        names
            .extend(databases.map(|database| format!("{} ({})", database.name(), database.dialect().name())));
    }
    if form.queries_files() {
        names.push(format!("{FILES} (SQLite)"));
    }
    let word = if names.len() == 1 { "database" } else { "databases" };
    spec.description
        .push_str(&format!(" The {word}: {}.", names.join(", ")));
    if form.queries_files() {
        spec.description.push_str(FILES_HINT);
    }
    if names.len() == 1 {
        remove_fields(spec, &["database"]);
    }
}

/// Removes fields from a tool's input.
fn remove_fields(spec: &mut ToolSpec, absent: &[&str]) {
    if let Some(Value::Object(fields)) = spec.input_schema.get_mut("properties") {
        fields.retain(|name, _| !absent.contains(&&**name));
    }
}
