//! SQLite: a file, opened read-only by a connection of its own for each query.
//!
//! sqlx has no authorizer, so this uses `rusqlite`, which shares the linked SQLite. The connection refuses
//! writing in several ways ([`connection`]), and all but reading by the authorizer ([`authorizer`]).

mod authorizer;
mod catalogue;
mod connection;
mod file_tables;
mod math;
mod memory;
mod query;
mod row_writer;
mod stop;
mod stored_rows;

use std::{path::PathBuf, sync::Arc};

use async_trait::async_trait;
use tokio::{sync::Semaphore, task::spawn_blocking, time::timeout};

use self::file_tables::TableNote;
use self::{
    connection::ConnectionPurpose,
    stop::{QueryGuard, StopSignal},
};
pub use self::{
    file_tables::{TableFile, TableFiles},
    row_writer::RowWriter,
    stored_rows::{RowOrder, RowsPage, RowsRequest, StoredRows},
};
use super::{
    Column, QueryError, QueryResult, SqlDialect, Table,
    backend::{DatabaseBackend, DatabaseReport, quote_identifier, to_like_pattern},
    limits::QueryLimits,
    result::RowFile,
};

/// The maximum number of notes of a result.
const MAX_NOTES: usize = 10;

/// A file of SQLite, or the tables of several.
pub struct SqliteBackend {
    source: Arc<Source>,
    /// The threads that may still start. One counts until its query has really ended: SQLite can't stop in the
    /// middle of a function.
    threads: Arc<Semaphore>,
}

/// The files that a backend reads.
enum Source {
    Database(PathBuf),
    /// Files whose tables are shown as the tables of one database.
    Tables(TableFiles),
}

impl SqliteBackend {
    pub fn new(path: PathBuf, max_threads: usize) -> Self {
        Self {
            source: Arc::new(Source::Database(path)),
            threads: Arc::new(Semaphore::new(max_threads)),
        }
    }

    /// Returns a file of Parlor's own, with the threads that it shares with others.
    fn of_file(path: PathBuf, threads: Arc<Semaphore>) -> Self {
        Self {
            source: Arc::new(Source::Database(path)),
            threads,
        }
    }

    /// Returns the tables of several files as one database.
    pub fn of_files(tables: TableFiles, threads: Arc<Semaphore>) -> Self {
        Self {
            source: Arc::new(Source::Tables(tables)),
            threads,
        }
    }

    /// Runs something with a new connection on a thread for blocking work. Dropping the future stops it.
    async fn run<T: Send + 'static>(
        &self,
        purpose: ConnectionPurpose,
        limits: &QueryLimits,
        run: impl FnOnce(&rusqlite::Connection, &[TableNote], &QueryLimits) -> Result<T, QueryError>
        + Send
        + 'static,
    ) -> Result<T, QueryError> {
        let thread = timeout(limits.timeout, self.threads.clone().acquire_owned()).await;
        let Ok(Ok(thread)) = thread else {
            return Err(QueryError::busy());
        };
        let stop = StopSignal::new(limits);
        let _guard = QueryGuard(stop.clone());
        let (source, limits) = (Arc::clone(&self.source), *limits);
        let done = spawn_blocking(move || {
            let _thread = thread;
            let (connection, notes) = connection::open(&source, purpose, &limits, stop.clone())?;
            run(&connection, &notes, &limits).map_err(|error| stop.reason(&limits).unwrap_or(error))
        });
        done.await.unwrap_or_else(|error| {
            tracing::error!(%error, "a query of SQLite failed");
            Err(QueryError::unavailable())
        })
    }
}

#[async_trait]
impl DatabaseBackend for SqliteBackend {
    fn dialect(&self) -> SqlDialect {
        SqlDialect::Sqlite
    }

    async fn check(&self, limits: &QueryLimits) -> Result<DatabaseReport, QueryError> {
        self.query("SELECT count(*) FROM sqlite_schema", limits, None)
            .await
            .map(|_| DatabaseReport::default())
    }

    async fn tables(&self, limits: &QueryLimits) -> Result<Vec<Table>, QueryError> {
        self.run(ConnectionPurpose::Catalogue, limits, |connection, _, limits| {
            catalogue::read(connection, limits)
        })
        .await
    }

    async fn query(
        &self,
        sql: &str,
        limits: &QueryLimits,
        file: Option<RowFile>,
    ) -> Result<QueryResult, QueryError> {
        let sql = sql.to_owned();
        self.run(
            ConnectionPurpose::Query,
            limits,
            move |connection, notes, limits| {
                let mut result = query::run(connection, &sql, &[], limits, file)?;
                let notes = notes.iter().filter(|note| note.is_about(&sql));
                result.notes = notes.take(MAX_NOTES).map(|note| note.text.clone()).collect();
                Ok(result)
            },
        )
        .await
    }

    async fn values(
        &self,
        table: &Table,
        column: &Column,
        search: Option<&str>,
        count: usize,
        limits: &QueryLimits,
    ) -> Result<QueryResult, QueryError> {
        let (table, column) = (table.quoted_name(), quote_identifier(&column.name));
        let sql = format!(
            "SELECT {column} AS value, count(*) AS count FROM {table} \
             WHERE ?1 IS NULL OR CAST({column} AS TEXT) LIKE ?1 ESCAPE '\\' \
             GROUP BY {column} ORDER BY count(*) DESC, {column} LIMIT {count}"
        );
        let search = search.map(to_like_pattern);
        self.run(ConnectionPurpose::Query, limits, move |connection, _, limits| {
            query::run(connection, &sql, &[search], limits, None)
        })
        .await
    }
}

/// Converts an error that no query is to blame for.
fn unavailable(error: &rusqlite::Error) -> QueryError {
    tracing::error!(%error, "a database of SQLite can't be read");
    QueryError::unavailable()
}
