//! A session for one query.

use std::time::Duration;

use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor, PgConnection, postgres::PgConnectOptions};
use tokio::{runtime::Handle, time::timeout};

use super::{
    super::{QueryError, QueryErrorKind, limits::QueryLimits},
    error::query_error,
};

/// The timeout of connecting, and of ending a session.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The time that a query may take beyond its timeout on the server, such as for sending its rows.
const GRACE: Duration = Duration::from_secs(2);
/// The longest wait for a lock.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);
/// The highest value of temp_file_limit.
const MAX_DISK_KIB: i64 = i32::MAX as i64;

/// A session in a read-only transaction, which is never committed.
pub struct QuerySession {
    connection: Option<PgConnection>,
    limits: QueryLimits,
    ender: SessionEnder,
}

impl QuerySession {
    pub async fn open(options: &PgConnectOptions, limits: &QueryLimits) -> Result<Self, QueryError> {
        let opened = timeout(CONNECT_TIMEOUT, connect(options, limits)).await;
        let (connection, process) = match opened {
            Ok(Ok(opened)) => opened,
            Ok(Err(error)) => {
                tracing::warn!(%error, "cannot connect to a database of the settings");
                return Err(QueryError::unavailable());
            }
            Err(_) => {
                tracing::warn!("a database of the settings does not respond");
                return Err(QueryError::unavailable());
            }
        };
        Ok(Self {
            connection: Some(connection),
            limits: *limits,
            ender: SessionEnder {
                options: options.clone(),
                process: Some(process),
            },
        })
    }

    /// Runs something in the transaction, within the timeout. The server has the same timeout, but a query can
    /// switch that off.
    pub async fn run<T>(
        &mut self,
        run: impl AsyncFnOnce(&mut PgConnection) -> Result<T, QueryError>,
    ) -> Result<T, QueryError> {
        let Some(connection) = &mut self.connection else {
            return Err(QueryError::unavailable());
        };
        match timeout(self.limits.timeout + GRACE, run(connection)).await {
            Ok(result) => {
                self.ender.process = None;
                result.map_err(|error| match error.kind {
                    QueryErrorKind::Timeout(_) => QueryError::timeout(self.limits.timeout),
                    _ => error,
                })
            }
            Err(_) => Err(QueryError::timeout(self.limits.timeout)),
        }
    }

    /// Ends the session in the background. The transaction is rolled back.
    pub fn close(mut self) {
        if let Some(connection) = self.connection.take() {
            tokio::spawn(timeout(CONNECT_TIMEOUT, connection.close()));
        }
    }
}

async fn connect(options: &PgConnectOptions, limits: &QueryLimits) -> sqlx::Result<(PgConnection, i32)> {
    let mut connection = options.connect().await?;
    let (statement, lock) = (limits.timeout.as_millis(), LOCK_TIMEOUT.as_millis());
    let idle = (limits.timeout + GRACE).as_millis();
    let settings = format!(
        "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY; SET statement_timeout = {statement}; \
         SET lock_timeout = {lock}; SET idle_in_transaction_session_timeout = {idle}; \
         SET standard_conforming_strings = on; SET bytea_output = hex"
    );
    connection.execute(sqlx::raw_sql(AssertSqlSafe(settings))).await?;
    limit_disk(&mut connection, limits.disk_bytes).await?;
    connection
        .execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        .await?;
    let process = sqlx::query_scalar("SELECT pg_backend_pid()")
        .fetch_one(&mut connection)
        .await?;
    Ok((connection, process))
}

/// Limits the temporary files of the session, if it has a higher limit and may set it: a superuser, or a role with that privilege.
async fn limit_disk(connection: &mut PgConnection, bytes: usize) -> sqlx::Result<()> {
    let kilobytes = i64::try_from(bytes >> 10)
        .unwrap_or(i64::MAX)
        .clamp(1, MAX_DISK_KIB);
    let is_higher: Option<bool> = sqlx::query_scalar(
        "SELECT setting::bigint NOT BETWEEN 0 AND $1 FROM pg_catalog.pg_settings WHERE name = 'temp_file_limit'",
    )
    .bind(kilobytes)
    .fetch_optional(&mut *connection)
    .await?
    .flatten();
    if is_higher == Some(true) {
        let set = format!("SET temp_file_limit = {kilobytes}");
        match connection.execute(sqlx::raw_sql(AssertSqlSafe(set))).await {
            // The start says that there is no limit.
            Ok(_) | Err(sqlx::Error::Database(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Ends the server's process of a query that is still running when nobody waits for it any more.
struct SessionEnder {
    options: PgConnectOptions,
    process: Option<i32>,
}

impl Drop for SessionEnder {
    fn drop(&mut self) {
        let (Some(process), Ok(runtime)) = (self.process, Handle::try_current()) else {
            return;
        };
        let options = self.options.clone();
        runtime.spawn(timeout(CONNECT_TIMEOUT, async move {
            let ended = async {
                let mut connection = options.connect().await?;
                sqlx::query("SELECT pg_terminate_backend($1)")
                    .bind(process)
                    .execute(&mut connection)
                    .await?;
                connection.close().await
            };
            if let Err(error) = ended.await {
                tracing::warn!(%error, "cannot end a query of Postgres that took too long");
            }
        }));
    }
}

/// Converts an error of one of Parlor's own queries.
pub fn own_error(error: &sqlx::Error) -> QueryError {
    let error = query_error(error, "");
    if error.kind == QueryErrorKind::Invalid {
        tracing::error!(%error, "cannot read the catalogue of a database");
        return QueryError::unavailable();
    }
    error
}
