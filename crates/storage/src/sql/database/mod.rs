//! A thin layer over the drivers: one connection, one query and one row for SQLite and Postgres, so that the logic above
//! stands once.
//!
//! Statements are written once, in the SQL that both take. [`dialect`] is the only place that knows the differences, besides
//! the functions that Postgres gets from its schema (`migrations/postgres`). On SQLite a query goes to the driver as it is.

use std::{
    ops::{Deref, DerefMut},
    time::Instant,
};

use sqlx::{
    ConnectOptions, Connection as _, PgConnection, PgPool, Postgres, Sqlite, SqliteConnection, SqlitePool,
    Transaction, pool::PoolConnection, postgres::PgConnectOptions, sqlite::SqliteConnectOptions,
};

pub(crate) use self::{
    query::{Query, Sql, Value, query, query_scalar},
    row::{FromColumn, Row},
};
use crate::StorageError;
use parlor_base::metrics::{Histogram, database::DatabaseMetrics, samples::ConnectionCount};

pub(crate) mod dialect;
mod escape;
mod query;
mod row;
mod statements;

/// An open connection to one of the databases.
#[derive(Debug)]
pub(crate) struct Connection(Driver);

#[derive(Debug)]
enum Driver {
    Sqlite(Handle<Sqlite>),
    Postgres(Handle<Postgres>, Preparation),
}

/// The time for which statements stay prepared in a connection of Postgres.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Preparation {
    /// As long as the connection is open.
    Kept,
    /// For one execution, within a transaction: a pooler may give the next one another connection.
    Once,
}

/// The owner of a driver's connection: it is closed, goes back to its pool, or is rolled back before that.
#[derive(Debug)]
enum Handle<DB: sqlx::Database> {
    Own(DB::Connection),
    Pooled(PoolConnection<DB>),
    Reading(Transaction<'static, DB>),
}

impl<DB: sqlx::Database> Handle<DB> {
    fn get(&mut self) -> &mut DB::Connection {
        match self {
            Self::Own(connection) => connection,
            Self::Pooled(connection) => connection,
            Self::Reading(transaction) => transaction,
        }
    }
}

/// The driver's connection behind a [`Connection`].
enum DriverConnection<'c> {
    Sqlite(&'c mut SqliteConnection),
    Postgres(&'c mut PgConnection, Preparation),
}

impl Connection {
    fn driver(&mut self) -> DriverConnection<'_> {
        match &mut self.0 {
            Driver::Sqlite(handle) => DriverConnection::Sqlite(handle.get()),
            Driver::Postgres(handle, preparation) => DriverConnection::Postgres(handle.get(), *preparation),
        }
    }

    pub(crate) fn is_postgres(&self) -> bool {
        matches!(self.0, Driver::Postgres(..))
    }

    /// Closes a connection of its own. Others are released when they are dropped.
    pub(crate) async fn close(self) -> Result<(), sqlx::Error> {
        match self.0 {
            Driver::Sqlite(Handle::Own(connection)) => connection.close().await,
            Driver::Postgres(Handle::Own(connection), _) => connection.close().await,
            Driver::Sqlite(_) | Driver::Postgres(..) => Ok(()),
        }
    }

    /// Returns the connection of SQLite; `None` if it is one of Postgres.
    pub(crate) fn sqlite(&mut self) -> Option<&mut SqliteConnection> {
        match self.driver() {
            DriverConnection::Sqlite(connection) => Some(connection),
            DriverConnection::Postgres(..) => None,
        }
    }
}

impl From<SqliteConnection> for Connection {
    fn from(connection: SqliteConnection) -> Self {
        Self(Driver::Sqlite(Handle::Own(connection)))
    }
}

impl Connection {
    pub(crate) fn of_postgres(connection: PgConnection, preparation: Preparation) -> Self {
        Self(Driver::Postgres(Handle::Own(connection), preparation))
    }
}

/// The options with which new connections are opened.
#[derive(Clone, Debug)]
pub(crate) enum Connector {
    Sqlite(SqliteConnectOptions),
    Postgres(PgConnectOptions, Preparation),
}

impl Connector {
    /// Opens a connection that belongs to no pool.
    pub(crate) async fn connect(&self) -> Result<Connection, sqlx::Error> {
        Ok(match self {
            Self::Sqlite(options) => options.connect().await?.into(),
            Self::Postgres(options, preparation) => {
                Connection::of_postgres(options.connect().await?, *preparation)
            }
        })
    }
}

/// The connections for reading.
#[derive(Clone, Debug)]
pub(crate) struct Readers {
    pool: Pool,
    /// The time that reads wait for a connection.
    wait: Histogram,
}

#[derive(Clone, Debug)]
enum Pool {
    Sqlite(SqlitePool),
    Postgres(PgPool, Preparation),
}

/// A connection from the pool of readers. Dropping it returns it.
#[derive(Debug)]
pub(crate) struct Reader(Connection);

impl Deref for Reader {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.0
    }
}

impl DerefMut for Reader {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.0
    }
}

impl Readers {
    pub(crate) fn of_sqlite(pool: SqlitePool) -> Self {
        Self::new(Pool::Sqlite(pool))
    }

    pub(crate) fn of_postgres(pool: PgPool, preparation: Preparation) -> Self {
        Self::new(Pool::Postgres(pool, preparation))
    }

    fn new(pool: Pool) -> Self {
        Self {
            pool,
            wait: DatabaseMetrics::unregistered_wait(),
        }
    }

    pub(crate) fn set_wait(&mut self, wait: Histogram) {
        self.wait = wait;
    }

    /// Takes a connection for a single query.
    pub(crate) async fn acquire(&self) -> Result<Reader, StorageError> {
        let began = Instant::now();
        let driver = match &self.pool {
            Pool::Sqlite(pool) => Driver::Sqlite(Handle::Pooled(pool.acquire().await?)),
            Pool::Postgres(_, Preparation::Once) => return self.begin().await,
            Pool::Postgres(pool, kept) => Driver::Postgres(Handle::Pooled(pool.acquire().await?), *kept),
        };
        self.wait.observe_duration(began.elapsed());
        Ok(Reader(Connection(driver)))
    }

    /// Takes a connection and begins a transaction in which all queries see the same state.
    pub(crate) async fn begin(&self) -> Result<Reader, StorageError> {
        let began = Instant::now();
        let driver = match &self.pool {
            Pool::Sqlite(pool) => Driver::Sqlite(Handle::Reading(pool.begin().await?)),
            Pool::Postgres(pool, preparation) => {
                let begun = pool.begin_with(dialect::BEGIN_READING_ON_POSTGRES).await?;
                Driver::Postgres(Handle::Reading(begun), *preparation)
            }
        };
        self.wait.observe_duration(began.elapsed());
        Ok(Reader(Connection(driver)))
    }

    /// Returns the present connections.
    pub(crate) fn count(&self) -> ConnectionCount {
        let (open, idle, max) = match &self.pool {
            Pool::Sqlite(pool) => (pool.size(), pool.num_idle(), pool.options().get_max_connections()),
            Pool::Postgres(pool, _) => (pool.size(), pool.num_idle(), pool.options().get_max_connections()),
        };
        let number = |count: u32| usize::try_from(count).unwrap_or(usize::MAX);
        ConnectionCount {
            open: number(open),
            idle,
            max: number(max),
        }
    }

    pub(crate) async fn close(&self) {
        match &self.pool {
            Pool::Sqlite(pool) => pool.close().await,
            Pool::Postgres(pool, _) => pool.close().await,
        }
    }
}
