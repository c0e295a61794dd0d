//! Data: the page on which the assistant queries the databases of the settings.
//!
//! The databases themselves, and all rules of what a query may do, are in `databases`. This module shows
//! their catalogues to the person and to the model.
//!
//! - [`tools`]: the model's tools, one file each; [`texts`]: results and tables as text for the model
//! - [`file_tables`]: the tables of the files of a conversation; [`attached_tables`]: those of all attached files, for the page;
//!   [`rows`]: results with many rows, which are files; [`single_table`]: the rows of a file with one table
//! - [`page`]: the page *Data*; [`context`]: what is open on it, for the model
//! - [`view`]: catalogues and tables for the page; [`cell`]: a finished query for a notebook

mod attached_tables;
mod cell;
mod context;
mod file_tables;
mod page;
mod rows;
mod single_table;
mod texts;
mod tools;
mod view;

use std::sync::Arc;

pub use self::{
    cell::{QueryCell, rows_as_markdown},
    rows::StoredTable,
    tools::with_file_tables,
};
use crate::PageDefinition;
use parlor_base::{settings::DataSettings, text::single_line};
use parlor_databases::{
    Catalogue, Column, Database, Databases, FILES, FileDatabases, QueryError, Table, list_names,
};
pub use parlor_databases::{Cell, QueryErrorKind, RowOrder, RowsPage, RowsRequest, StoredRows};
use parlor_files::Files;
use parlor_python::Python;
use parlor_storage::Storage;
use parlor_tools::{AnyTool, ToolError};

/// The maximum length of a quoted name, in characters.
const MAX_QUOTED_NAME_CHARS: usize = 80;

/// The data of all users: the databases belong to the server. Clones refer to the same ones.
#[derive(Clone)]
pub struct Data(Arc<Inner>);

struct Inner {
    databases: Databases,
    /// The Python whose sessions get results as data frames.
    python: Python,
    files: Files,
    file_databases: FileDatabases,
    /// The storage of results, for restoring them.
    storage: Arc<dyn Storage>,
    settings: DataSettings,
    /// The maximum size of a payload.
    payload_bytes: usize,
    definition: &'static PageDefinition,
}

/// An error about a name, or of a query. The message is for the model and for the person.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    #[error("No database is configured.")]
    NoDatabase,
    #[error("There is no database “{name}”. The databases are: {known}.")]
    UnknownDatabase { name: String, known: String },
    #[error("Name the database: {known}.")]
    DatabaseMissing { known: String },
    #[error("There is no table “{name}” in “{database}”. Its tables are: {known}.")]
    UnknownTable {
        name: String,
        database: String,
        known: String,
    },
    #[error("The table “{table}” has no column “{name}”. Its columns are: {known}.")]
    UnknownColumn {
        name: String,
        table: String,
        known: String,
    },
    #[error("There is no subject “{name}”. The subjects are: {known}.")]
    UnknownSubject { name: String, known: String },
    #[error("No file with tables is attached in this conversation.")]
    NoFile,
    #[error("The tables of “{name}” can’t be queried: {cause}.")]
    UnreadableFile { name: String, cause: String },
    #[error(transparent)]
    Query(#[from] QueryError),
}

impl From<DataError> for ToolError {
    fn from(error: DataError) -> Self {
        Self::new(error)
    }
}

impl Data {
    pub fn new(
        databases: Databases,
        settings: &DataSettings,
        payload_bytes: usize,
        python: Python,
        files: Files,
        storage: Arc<dyn Storage>,
    ) -> Self {
        let definition = page::definition(settings, !databases.all().is_empty());
        Self(Arc::new(Inner {
            databases,
            python,
            files,
            file_databases: FileDatabases::new(settings),
            storage,
            settings: settings.clone(),
            payload_bytes,
            definition,
        }))
    }

    /// Returns the tools that the settings offer everywhere; otherwise none, and the page offers them.
    pub fn tools_for_everywhere(&self) -> Vec<Arc<dyn AnyTool>> {
        if self.0.settings.offer_everywhere {
            tools::global_tools(self)
        } else {
            Vec::new()
        }
    }

    /// Returns the database with a name, or the only one.
    fn database(&self, name: Option<&str>) -> Result<&Database, DataError> {
        let all = self.0.databases.all();
        let known = || list_names(all.iter().map(|database| database.name().to_owned()));
        let name = name.filter(|name| !name.is_empty());
        self.0.databases.get(name).ok_or_else(|| match name {
            _ if all.is_empty() => DataError::NoDatabase,
            Some(name) => DataError::UnknownDatabase {
                name: quote(name),
                known: known(),
            },
            None => DataError::DatabaseMissing { known: known() },
        })
    }

    /// Returns the error of a query that must name its database, since there are files too.
    fn database_missing(&self) -> DataError {
        let all = self.0.databases.all().iter();
        let names = all.map(|database| database.name().to_owned());
        DataError::DatabaseMissing {
            known: list_names(names.chain([FILES.to_owned()])),
        }
    }
}

/// Returns a table of a catalogue by its name.
fn find_table<'a>(database: &Database, catalogue: &'a Catalogue, name: &str) -> Result<&'a Table, DataError> {
    catalogue.table(name).ok_or_else(|| DataError::UnknownTable {
        name: quote(name),
        database: database.name().into(),
        known: list_names(catalogue.tables().map(Table::full_name)),
    })
}

/// Returns a column of a table by its name.
fn find_column<'a>(table: &'a Table, name: &str) -> Result<&'a Column, DataError> {
    table.column(name).ok_or_else(|| DataError::UnknownColumn {
        name: quote(name),
        table: table.full_name(),
        known: list_names(table.columns.iter().map(|column| column.name.clone())),
    })
}

fn quote(name: &str) -> String {
    single_line(name, MAX_QUOTED_NAME_CHARS)
}
