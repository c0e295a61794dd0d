//! Errors of Postgres, by their SQLSTATE.

use std::time::Duration;

use sqlx::postgres::{PgDatabaseError, PgErrorPosition};

use super::super::{QueryError, QueryErrorKind};

/// Converts an error. Its position is in `sql`, in characters.
pub fn query_error(error: &sqlx::Error, sql: &str) -> QueryError {
    let database = match error {
        sqlx::Error::Database(error) => error.try_downcast_ref::<PgDatabaseError>(),
        _ => None,
    };
    let Some(error) = database else {
        tracing::warn!(%error, "a query of Postgres failed");
        return QueryError::unavailable();
    };
    let message = match error.detail() {
        Some(detail) => format!("{} ({detail})", error.message()),
        None => error.message().to_owned(),
    };
    let code = error.code();
    let converted = match code {
        // The session has the timeout's length.
        "57014" => return QueryError::timeout(Duration::ZERO),
        "25006" | "42501" | "0A000" => {
            return QueryError::refused(format!("This is not allowed here: {message}."));
        }
        "42601" if message.contains("multiple commands") => {
            return QueryError::refused("The query has more than one statement.");
        }
        "55P03" => QueryError::new(
            QueryErrorKind::Unavailable,
            "The table is locked by somebody else just now.",
        ),
        _ if code.starts_with("53") || code.starts_with("54") => {
            QueryError::new(QueryErrorKind::TooLarge, message)
        }
        _ if code.starts_with("57") || code.starts_with("58") || code.starts_with("XX") => {
            tracing::warn!(code, message, "a query of Postgres failed");
            return QueryError::unavailable();
        }
        _ => QueryError::new(QueryErrorKind::Invalid, message),
    };
    let converted = match error.position() {
        Some(PgErrorPosition::Original(position)) if !sql.is_empty() => {
            let offset = sql.char_indices().nth(position.saturating_sub(1));
            converted.with_position(sql, offset.map_or(sql.len(), |(offset, _)| offset))
        }
        _ => converted,
    };
    match error.hint() {
        Some(hint) => converted.with_hint(hint),
        None => converted,
    }
}
