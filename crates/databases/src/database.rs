//! A configured database: its backend, its documentation, and its cached catalogue.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::{Mutex, Semaphore};

use super::{
    Catalogue, Cell, Column, FILES, QueryError, QueryErrorKind, QueryResult, SqlDialect, Table,
    backend::{DatabaseBackend, DatabaseReport, quote_identifier},
    documentation::Documentation,
    limits::QueryLimits,
    list_names,
    postgres::PostgresBackend,
    result::RowFile,
    sqlite::{SqliteBackend, TableFiles},
};
use parlor_base::{
    notices::{Notice, Notices},
    settings::{DataSettings, DatabaseSettings, DatabaseUrl},
};

/// The time in which a catalogue that could not be read is not read again: others wait for it.
const FAILURE_AGE: Duration = Duration::from_secs(5);

/// A configured database. Clones refer to the same one.
#[derive(Clone)]
pub struct Database(Arc<Inner>);

/// The time and the result of a reading of the catalogue.
type ReadCatalogue = (Instant, Result<Arc<Catalogue>, QueryError>);

struct Inner {
    name: String,
    backend: Box<dyn DatabaseBackend>,
    documentation: Documentation,
    limits: QueryLimits,
    catalogue_age: Duration,
    /// The queries that may still start.
    places: Semaphore,
    /// The last reading of the catalogue.
    catalogue: Mutex<Option<ReadCatalogue>>,
}

impl Database {
    /// Prepares a database; `None` if its URL can't be read, which the settings rule out.
    pub fn new(settings: &DatabaseSettings, limits: &DataSettings) -> Option<Self> {
        let backend: Box<dyn DatabaseBackend> = match settings.parsed_url()? {
            DatabaseUrl::Sqlite(path) => Box::new(SqliteBackend::new(path.into(), limits.concurrent_queries)),
            DatabaseUrl::Postgres(url) => {
                let password = settings.password.as_ref().map(|password| &*password.0);
                let functions = settings.functions.iter().cloned().collect();
                Box::new(PostgresBackend::new(&settings.name, &url, password, functions)?)
            }
        };
        let documentation = Documentation::read(settings.documentation.as_ref());
        Some(Self::with_backend(
            settings.name.clone(),
            backend,
            documentation,
            limits,
        ))
    }

    /// Returns the database with the tables of files.
    pub(super) fn of_files(tables: TableFiles, limits: &DataSettings, threads: Arc<Semaphore>) -> Self {
        let backend = Box::new(SqliteBackend::of_files(tables, threads));
        Self::with_backend(FILES.into(), backend, Documentation::default(), limits)
    }

    fn with_backend(
        name: String,
        backend: Box<dyn DatabaseBackend>,
        documentation: Documentation,
        limits: &DataSettings,
    ) -> Self {
        Self(Arc::new(Inner {
            name,
            backend,
            documentation,
            limits: QueryLimits::new(limits),
            catalogue_age: limits.catalogue_age,
            places: Semaphore::new(limits.concurrent_queries),
            catalogue: Mutex::default(),
        }))
    }

    pub fn name(&self) -> &str {
        &self.0.name
    }

    pub fn dialect(&self) -> SqlDialect {
        self.0.backend.dialect()
    }

    /// Connects once. Returns what the operator should change.
    pub async fn report(&self) -> Result<DatabaseReport, QueryError> {
        self.0.backend.check(&self.0.limits).await
    }

    /// Connects once and says what the operator should change: in a notice if its role can do more than read, else in the log.
    pub async fn check(&self, notices: &Notices) {
        let name = self.name();
        let report = match self.report().await {
            Ok(report) => report,
            Err(error) => {
                tracing::warn!(database = name, %error, "a database of the settings can't be read");
                return;
            }
        };
        for advice in &report.advice {
            tracing::warn!(database = name, "{advice}");
        }
        if !report.dangers.is_empty() {
            notices.add(Notice {
                title: format!("The role of the database “{name}” can do more than read"),
                text: format!(
                    "{}. The assistant's queries are read-only and call harmless functions only, but give the database a role that \
                     may only read: `parlor database role` prints the SQL for it.",
                    report.dangers.join("; ")
                ),
            });
        }
    }

    /// Returns the catalogue, which may be as old as the setting data.catalogue_age.
    pub async fn catalogue(&self) -> Result<Arc<Catalogue>, QueryError> {
        // Others wait for the one who reads it.
        let mut cached = self.0.catalogue.lock().await;
        if let Some((read_at, read)) = &*cached
            && read_at.elapsed() < read.as_ref().map_or(FAILURE_AGE, |_| self.0.catalogue_age)
        {
            return read.clone();
        }
        let limits = self.0.limits.for_catalogue();
        let tables = self.within(self.0.backend.tables(&limits)).await;
        let read = tables.map(|tables| Arc::new(Catalogue::new(tables, &self.0.documentation)));
        *cached = Some((Instant::now(), read.clone()));
        read
    }

    /// Runs one statement that reads. Its rows stay in memory, so only the first ones are kept.
    pub async fn query(&self, sql: &str) -> Result<QueryResult, QueryError> {
        self.run(sql, self.0.limits.in_memory(), None).await
    }

    /// Runs one statement that reads. Many rows are written to the file.
    pub async fn query_into(&self, sql: &str, file: RowFile) -> Result<QueryResult, QueryError> {
        self.run(sql, self.0.limits, Some(file)).await
    }

    async fn run(
        &self,
        sql: &str,
        limits: QueryLimits,
        file: Option<RowFile>,
    ) -> Result<QueryResult, QueryError> {
        let result = self.within(self.0.backend.query(sql, &limits, file)).await;
        match result {
            Err(error) => Err(self.add_hint(error).await),
            result => result,
        }
    }

    /// Returns the first rows of a table.
    pub async fn first_rows(&self, table: &Table, count: usize) -> Result<QueryResult, QueryError> {
        self.rows(table, 0, count).await
    }

    /// Returns rows of a table after a number of rows, as many as fit into memory. Only a table of files has its rows in the same
    /// order each time.
    pub async fn rows(&self, table: &Table, after: usize, count: usize) -> Result<QueryResult, QueryError> {
        // The role may not read the other columns.
        let columns = table.columns.iter().take(self.0.limits.columns);
        let columns: Vec<String> = columns.map(|column| quote_identifier(&column.name)).collect();
        let (columns, name) = (columns.join(", "), table.quoted_name());
        let sql = format!("SELECT {columns} FROM {name} LIMIT {count} OFFSET {after}");
        let limits = self.0.limits.in_memory();
        self.within(self.0.backend.query(&sql, &limits, None)).await
    }

    /// Returns the number of rows of a table.
    pub async fn count_rows(&self, table: &Table) -> Result<usize, QueryError> {
        let sql = format!("SELECT count(*) FROM {}", table.quoted_name());
        let limits = self.0.limits.in_memory();
        let counted = self.within(self.0.backend.query(&sql, &limits, None)).await?;
        let count = counted.rows.first().and_then(|row| row.first());
        Ok(match count {
            Some(Cell::Integer(count)) => usize::try_from(*count).unwrap_or_default(),
            _ => 0,
        })
    }

    /// Returns the values of a column with their counts.
    pub async fn values(
        &self,
        table: &Table,
        column: &Column,
        search: Option<&str>,
        count: usize,
    ) -> Result<QueryResult, QueryError> {
        let limits = self.0.limits.in_memory();
        let values = self.0.backend.values(table, column, search, count, &limits);
        self.within(values).await
    }

    /// Waits for a place and runs a query.
    async fn within<T>(&self, query: impl Future<Output = Result<T, QueryError>>) -> Result<T, QueryError> {
        let place = tokio::time::timeout(self.0.limits.timeout, self.0.places.acquire()).await;
        let Ok(Ok(_place)) = place else {
            return Err(QueryError::busy());
        };
        query.await
    }

    /// Returns the hint about a column that does not exist. For files it has the columns: no tool describes their tables.
    async fn columns_hint(&self) -> String {
        if self.name() != FILES {
            return "table_docs lists the columns of a table.".into();
        }
        let catalogue = self.catalogue().await.unwrap_or_default();
        let columns = catalogue.tables().map(|table| {
            let names = table.columns.iter().map(|column| column.name.clone());
            format!("{} has {}", table.full_name(), list_names(names))
        });
        format!("The columns: {}.", columns.collect::<Vec<_>>().join("; "))
    }

    /// Adds the names of the tables to an error about a missing one.
    async fn add_hint(&self, error: QueryError) -> QueryError {
        if error.kind != QueryErrorKind::Invalid || error.hint.is_some() {
            return error;
        }
        let message = error.message.to_lowercase();
        if message.contains("no such column") || message.contains("column") && message.contains("not exist") {
            return error.with_hint(self.columns_hint().await);
        }
        let is_missing = message.contains("no such table")
            || message.contains("relation") && message.contains("not exist");
        if !is_missing {
            return error;
        }
        let Ok(catalogue) = self.catalogue().await else {
            return error;
        };
        let names = list_names(catalogue.tables().map(Table::full_name));
        error.with_hint(format!("The tables are: {names}."))
    }
}
