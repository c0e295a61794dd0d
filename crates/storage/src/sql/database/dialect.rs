//! The differences between the databases.
//!
//! Statements are written in the SQL that both take. Where SQLite has a function that Postgres lacks, the schema of Postgres
//! has one of the same name and meaning (the first part of `migrations/postgres/0001_start.sql`). What is left is here: words
//! of SQLite alone, statements with two forms, and errors.

use std::borrow::Cow;

use sqlx::postgres::PgDatabaseError;

use crate::StorageErrorKind;

/// Begins a transaction that reads. Its queries see one state, as on SQLite.
pub(super) const BEGIN_READING_ON_POSTGRES: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// Locks the counters of some users' positions, in the order of the users, until the transaction ends.
pub(crate) const LOCK_LOGS_ON_POSTGRES: &str =
    "SELECT id FROM users WHERE id IN (SELECT value FROM json_each($1)) ORDER BY id FOR UPDATE";

/// Locks the ids of the search index, until the transaction ends. Taken after the logs, in each transaction.
pub(crate) const LOCK_INDEX_ON_POSTGRES: &str =
    "SELECT 1 AS locked FROM (SELECT pg_advisory_xact_lock(7237964911247)) taken";

/// Locks the counter of one user's positions, if the user is known, until the transaction ends.
pub(crate) const LOCK_LOG_ON_POSTGRES: &str = "SELECT id FROM users WHERE id = $1 FOR UPDATE";

/// Locks the row of a node, without which nothing of it is stored. Returns the node's number of the transaction.
pub(crate) const LOCK_LEASE_ON_POSTGRES: &str = "WITH lease AS (SELECT id FROM nodes WHERE id = $1 FOR KEY SHARE) \
     UPDATE node_commits SET number = number + 1 FROM lease WHERE node = lease.id RETURNING number";

/// Locks the row of the only process, without which nothing of it is stored. Returns its number of the transaction.
pub(crate) const LOCK_PROCESS_ON_POSTGRES: &str =
    "UPDATE process_commits SET number = number + 1 WHERE process = $1 RETURNING number";

/// Words that only SQLite has, and what Postgres gets in their place.
const WORDS: [(&str, &str); 3] = [
    // Another writer may be at work: rows are locked one by one.
    ("BEGIN IMMEDIATE", "BEGIN"),
    // Postgres has statistics and needs no hints: to use an index, or to join in this order.
    (" INDEXED BY root_messages", ""),
    ("CROSS JOIN", "JOIN"),
];

/// Returns the text for Postgres of one for SQLite.
pub(super) fn to_postgres(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for (word, replacement) in WORDS {
        if text.contains(word) {
            text = Cow::Owned(text.replace(word, replacement));
        }
    }
    // Another hint: a plus before a column keeps SQLite from using its index.
    if text.contains(" +") {
        let mut without = String::with_capacity(text.len());
        let mut rest = &*text;
        while let Some((before, after)) = rest.split_once(" +") {
            without.push_str(before);
            without.push_str(match after.starts_with(|next: char| next.is_ascii_alphabetic()) {
                true => " ",
                false => " +",
            });
            rest = after;
        }
        without.push_str(rest);
        text = Cow::Owned(without);
    }
    text
}

/// Classifies an error of Postgres by its SQLSTATE (<https://www.postgresql.org/docs/current/errcodes-appendix.html>); `None` for
/// an error of SQLite.
pub(crate) fn classify_postgres_error(error: &dyn sqlx::error::DatabaseError) -> Option<StorageErrorKind> {
    let error = error.try_downcast_ref::<PgDatabaseError>()?;
    Some(match error.code() {
        // A constraint, and damage that Postgres found, reject the same row each time.
        code if code.starts_with("23") || code.starts_with("XX00") && code != "XX000" => {
            StorageErrorKind::Damaged
        }
        "53100" => StorageErrorKind::DiskFull,
        "25006" | "42501" => StorageErrorKind::NotWritable,
        _ => StorageErrorKind::Other,
    })
}

/// Returns true if a transaction met another node's at the same rows: the same changes can be made again.
pub(crate) fn is_conflict(error: &sqlx::Error) -> bool {
    let sqlx::Error::Database(error) = error else {
        return false;
    };
    let Some(error) = error.try_downcast_ref::<PgDatabaseError>() else {
        return false;
    };
    match error.code() {
        // Not serializable, deadlock.
        "40001" | "40P01" => true,
        // Two positions for the same event.
        "23505" => error.constraint() == Some("events_pkey"),
        // Postgres has ended a transaction that was left open.
        "25P03" => true,
        _ => false,
    }
}

/// Returns true if an error was caused by the data of a change, and not by the database.
pub(crate) fn is_caused_by_data(error: &dyn sqlx::error::DatabaseError) -> bool {
    match error.try_downcast_ref::<PgDatabaseError>() {
        // Values that no column takes, constraints, and values that are too large for an index.
        Some(error) => ["22", "23", "54"]
            .iter()
            .any(|class| error.code().starts_with(class)),
        None => !matches!(error.kind(), sqlx::error::ErrorKind::Other),
    }
}
