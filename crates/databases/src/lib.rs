//! The operator's databases that the assistant may read: the catalogue, and queries within limits.
//!
//! It is not Parlor's own storage (`storage`), and nothing in it writes: a query that would write, reach
//! outside or run without end is refused by the database itself. Each query has a connection of its own, so
//! that none leaves anything behind for the next.
//!
//! - [`backend`]: the trait of a database, with [`sqlite`] and [`postgres`] behind it
//! - [`limits`], [`result`], [`value`], [`cell_kind`]: the bounds of a query, its rows, a value of any type, the types of a column
//! - [`catalogue`]: subjects, tables and columns; [`documentation`]: what the operator says about them
//! - [`database`]: a configured database: backend, documentation, and the cached catalogue
//! - [`error`]: errors with position and hint, from which a model can correct its query

mod backend;
mod catalogue;
mod cell_kind;
mod database;
mod documentation;
mod error;
mod limits;
mod postgres;
mod result;
mod sqlite;
#[cfg(test)]
mod tests;
mod value;

use std::{path::PathBuf, sync::Arc};

use tokio::sync::Semaphore;

use self::limits::QueryLimits;
pub use self::{
    backend::SqlDialect,
    catalogue::{Catalogue, Column, Subject, Table},
    cell_kind::{CellKind, CellKinds},
    database::Database,
    error::{QueryError, QueryErrorKind},
    postgres::{RoleRequest, role_sql},
    result::{QueryResult, ResultColumn, RowFile},
    sqlite::{RowOrder, RowsPage, RowsRequest, StoredRows, TableFile, TableFiles},
    value::Cell,
};
use parlor_base::{
    notices::Notices,
    settings::{DataSettings, DatabaseSettings},
};

/// The number of names that an error lists.
const MAX_LISTED_NAMES: usize = 40;

/// Returns the first names as a list for an error.
pub fn list_names(names: impl Iterator<Item = String>) -> String {
    let mut names: Vec<String> = names.collect();
    let count = names.len();
    names.truncate(MAX_LISTED_NAMES);
    let more = if count > names.len() { ", …" } else { "" };
    match names.is_empty() {
        true => "none".into(),
        false => format!("{}{more}", names.join(", ")),
    }
}

/// The name of the database with the tables of files.
pub const FILES: &str = "files";

/// The databases with the tables of files. Clones share the limit of queries.
#[derive(Clone)]
pub struct FileDatabases {
    threads: Arc<Semaphore>,
    settings: DataSettings,
}

impl FileDatabases {
    pub fn new(settings: &DataSettings) -> Self {
        Self {
            threads: Arc::new(Semaphore::new(settings.concurrent_queries)),
            settings: settings.clone(),
        }
    }

    /// Returns a database with the tables of these files.
    pub fn open(&self, tables: TableFiles) -> Database {
        Database::of_files(tables, &self.settings, Arc::clone(&self.threads))
    }

    /// Returns the rows of a result in a file, with this number of columns.
    pub fn rows(&self, path: PathBuf, width: usize) -> StoredRows {
        StoredRows::new(
            path,
            width,
            QueryLimits::new(&self.settings),
            Arc::clone(&self.threads),
        )
    }
}

/// The configured databases. Clones refer to the same ones.
#[derive(Clone, Default)]
pub struct Databases(Arc<Vec<Database>>);

impl Databases {
    /// Prepares the databases of the settings. None is contacted yet.
    pub fn new(databases: &[DatabaseSettings], limits: &DataSettings) -> Self {
        let databases = databases
            .iter()
            .filter_map(|settings| Database::new(settings, limits));
        Self(Arc::new(databases.collect()))
    }

    /// Returns all databases in the order of the settings.
    pub fn all(&self) -> &[Database] {
        &self.0
    }

    /// Returns the database with this name. Without a name, the only one.
    pub fn get(&self, name: Option<&str>) -> Option<&Database> {
        match name {
            Some(name) => self.0.iter().find(|database| database.name() == name),
            None => match &self.0[..] {
                [only] => Some(only),
                _ => None,
            },
        }
    }

    /// Looks at each database in the background and says what the operator should change: one that can't be reached, or a role
    /// that may do too much.
    pub fn check_in_background(&self, notices: &Notices) {
        for database in self.0.iter() {
            let (database, notices) = (database.clone(), notices.clone());
            tokio::spawn(async move { database.check(&notices).await });
        }
    }
}
