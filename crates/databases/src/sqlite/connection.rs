//! A connection that can only read.

use std::{collections::HashSet, time::Duration};

use rusqlite::{Connection, OpenFlags, config::DbConfig, hooks::AuthContext, limits::Limit};

use super::{
    super::{QueryError, limits::QueryLimits},
    Source,
    authorizer::{authorize_action, authorize_catalogue},
    file_tables::{self, TableNote},
    math,
    stop::StopSignal,
    unavailable,
};

/// The instructions of SQLite between two looks at the stop signal: well below a millisecond.
const INSTRUCTIONS_PER_CHECK: i32 = 1000;
/// The longest wait for a lock of whoever writes the file.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);
/// The page cache, in KiB.
const CACHE_KIB: i32 = 8192;

/// Limits of statements that no sensible query reaches.
const STATEMENT_LIMITS: [(Limit, i32); 9] = [
    (Limit::SQLITE_LIMIT_SQL_LENGTH, 100_000),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 200),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 100),
    (Limit::SQLITE_LIMIT_VDBE_OP, 100_000),
    (Limit::SQLITE_LIMIT_FUNCTION_ARG, 100),
    (Limit::SQLITE_LIMIT_ATTACHED, 0),
    (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000),
    (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 10),
    (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
];

/// The statements that a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionPurpose {
    /// Untrusted statements.
    Query,
    /// Parlor's own statements about the tables.
    Catalogue,
}

/// Opens the files read-only, with limits, and with the authorizer in place. Returns what was not read of files.
pub fn open(
    source: &Source,
    purpose: ConnectionPurpose,
    limits: &QueryLimits,
    stop: StopSignal,
) -> Result<(Connection, Vec<TableNote>), QueryError> {
    open_limited(source, purpose, limits, stop).map_err(|error| unavailable(&error))
}

fn open_limited(
    source: &Source,
    purpose: ConnectionPurpose,
    limits: &QueryLimits,
    stop: StopSignal,
) -> rusqlite::Result<(Connection, Vec<TableNote>)> {
    // A name that begins with `file:` is a URI all the same: libsqlite3-sys builds with SQLITE_USE_URI. Its parameters can't
    // allow more than these flags.
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = match source {
        Source::Database(path) => Connection::open_with_flags(path, flags)?,
        Source::Tables(tables) => Connection::open_with_flags(file_tables::first_path(&tables.files), flags)?,
    };
    connection.busy_timeout(LOCK_TIMEOUT)?;
    // Sorting stays in memory, where it is limited, instead of filling a disk. Views of files are there too.
    connection.execute_batch("PRAGMA temp_store = MEMORY")?;
    let notes = match source {
        Source::Tables(tables) => file_tables::create_views(&connection, tables, limits.columns)?,
        Source::Database(_) => Vec::new(),
    };
    connection.execute_batch(&format!(
        "PRAGMA query_only = ON; PRAGMA cache_size = -{CACHE_KIB}; \
         PRAGMA mmap_size = 0; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON"
    ))?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false)?;
    // A misspelt column in double quotes is an error, and not a text.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    for (limit, value) in STATEMENT_LIMITS {
        connection.set_limit(limit, value)?;
    }
    let to_limit = |value: usize| i32::try_from(value).unwrap_or(i32::MAX);
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, to_limit(limits.value_bytes))?;
    connection.set_limit(Limit::SQLITE_LIMIT_COLUMN, to_limit(limits.columns))?;
    connection.progress_handler(INSTRUCTIONS_PER_CHECK, Some(move || stop.must_stop()))?;
    math::register(&connection)?;
    let shadow_tables = shadow_tables(&connection)?;
    let authorize = match purpose {
        ConnectionPurpose::Query => authorize_action,
        ConnectionPurpose::Catalogue => authorize_catalogue,
    };
    connection.authorizer(Some(move |context: AuthContext<'_>| {
        authorize(context, &shadow_tables)
    }))?;
    Ok((connection, notes))
}

/// Returns the tables in which virtual tables keep their data.
fn shadow_tables(connection: &Connection) -> rusqlite::Result<HashSet<String>> {
    let has_virtual =
        "SELECT EXISTS (SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND rootpage = 0)";
    if !connection.query_row(has_virtual, [], |row| row.get::<_, bool>(0))? {
        return Ok(HashSet::new());
    }
    let mut statement = connection
        .prepare("SELECT lower(name) FROM pragma_table_list WHERE schema = 'main' AND type = 'shadow'")?;
    let names = statement.query_map([], |row| row.get(0))?;
    names.collect()
}
