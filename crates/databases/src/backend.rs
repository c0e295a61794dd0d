//! The trait of a read-only database.

use async_trait::async_trait;

use super::{Column, QueryError, QueryResult, Table, limits::QueryLimits, result::RowFile};

/// The language of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SqlDialect {
    Sqlite,
    Postgres,
}

impl SqlDialect {
    /// Returns the name for the model and the person.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }
}

/// The result of looking at a database and its role, as sentences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatabaseReport {
    /// The role can do more than read.
    pub dangers: Vec<String>,
    /// A limit is missing.
    pub advice: Vec<String>,
}

/// A database that can only be read. Dropping a future stops its query.
#[async_trait]
pub trait DatabaseBackend: Send + Sync {
    fn dialect(&self) -> SqlDialect;

    /// Connects once. Returns what the operator should change.
    async fn check(&self, limits: &QueryLimits) -> Result<DatabaseReport, QueryError>;

    /// Reads the tables with their columns, comments and keys, sorted by name.
    async fn tables(&self, limits: &QueryLimits) -> Result<Vec<Table>, QueryError>;

    /// Runs one statement that reads. Anything else is refused. Many rows are written to the file, if there is one.
    async fn query(
        &self,
        sql: &str,
        limits: &QueryLimits,
        file: Option<RowFile>,
    ) -> Result<QueryResult, QueryError>;

    /// Returns the values of a column with their counts, the most frequent first. `search` is a part of the
    /// value.
    async fn values(
        &self,
        table: &Table,
        column: &Column,
        search: Option<&str>,
        count: usize,
        limits: &QueryLimits,
    ) -> Result<QueryResult, QueryError>;
}

/// Quotes a name for SQL.
pub fn quote_identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns a LIKE pattern with `\` as escape character that matches texts with this part.
pub fn to_like_pattern(search: &str) -> String {
    let mut pattern = String::from("%");
    for c in search.chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}
