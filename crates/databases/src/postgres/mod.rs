//! Postgres: a session of its own for each query, in a transaction that can only read and is always rolled back.
//!
//! The role of the settings decides first: it should own nothing, write nothing and be no superuser (docs/databases.md;
//! [`mod@role_sql`] prints the SQL that makes one). On top of that:
//!
//! - [`session`]: read-only, with limits, ended when nobody waits for it any more
//! - [`calls`]: the functions that a query calls, of which only harmless ones are allowed ([`functions`]), found among the tokens
//!   of Postgres' scanner ([`scan`]) and its keywords ([`syntax`])
//! - [`query`]: one statement by the extended protocol, as a cursor, so that only a query fits
//! - [`catalogue`]: tables, columns, comments and keys; [`role`]: what the role should not have

pub mod calls;
mod catalogue;
mod error;
pub mod functions;
mod query;
mod role;
mod role_sql;
mod scan;
mod session;
mod syntax;

use std::collections::BTreeSet;

use async_trait::async_trait;
use reqwest::Url;
use sqlx::{ConnectOptions, postgres::PgConnectOptions};

pub use self::role_sql::{RoleRequest, role_sql};
use self::session::QuerySession;
use super::{
    Column, QueryError, QueryResult, SqlDialect, Table,
    backend::{DatabaseBackend, DatabaseReport},
    limits::QueryLimits,
    result::RowFile,
};
use parlor_base::ca_roots;

/// A database of a Postgres server.
pub struct PostgresBackend {
    options: PgConnectOptions,
    /// The functions that a query may call besides the harmless ones.
    functions: BTreeSet<String>,
}

impl PostgresBackend {
    /// Prepares the connections; `None` if the URL can't be used, which is logged.
    pub fn new(name: &str, url: &Url, password: Option<&str>, functions: BTreeSet<String>) -> Option<Self> {
        let options = match PgConnectOptions::from_url(url) {
            Ok(options) => options.application_name("parlor").disable_statement_logging(),
            Err(error) => {
                tracing::error!(database = name, %error, "the URL of a database can't be used");
                return None;
            }
        };
        let options = match password {
            Some(password) => options.password(password),
            None => options,
        };
        let options = match ca_roots::pem_for_postgres(url.as_str()) {
            Some(roots) => options.ssl_root_cert_from_pem(roots),
            None => options,
        };
        Some(Self { options, functions })
    }
}

#[async_trait]
impl DatabaseBackend for PostgresBackend {
    fn dialect(&self) -> SqlDialect {
        SqlDialect::Postgres
    }

    async fn check(&self, limits: &QueryLimits) -> Result<DatabaseReport, QueryError> {
        let mut session = QuerySession::open(&self.options, limits).await?;
        let report = session.run(role::report).await;
        session.close();
        report
    }

    async fn tables(&self, limits: &QueryLimits) -> Result<Vec<Table>, QueryError> {
        let mut session = QuerySession::open(&self.options, limits).await?;
        let count = limits.tables;
        let tables = session
            .run(async |connection| catalogue::read(connection, count).await)
            .await;
        session.close();
        tables
    }

    async fn query(
        &self,
        sql: &str,
        limits: &QueryLimits,
        file: Option<RowFile>,
    ) -> Result<QueryResult, QueryError> {
        let (sql, calls) = calls::single_query(sql, &self.functions)?;
        let mut session = QuerySession::open(&self.options, limits).await?;
        let result = session
            .run(async |connection| {
                calls.check(connection).await?;
                query::run(connection, sql, limits, file).await
            })
            .await;
        session.close();
        result
    }

    async fn values(
        &self,
        table: &Table,
        column: &Column,
        search: Option<&str>,
        count: usize,
        limits: &QueryLimits,
    ) -> Result<QueryResult, QueryError> {
        let mut session = QuerySession::open(&self.options, limits).await?;
        let result = session
            .run(async |connection| query::values(connection, table, column, search, count, limits).await)
            .await;
        session.close();
        result
    }
}
