//! The range of positions that a user's log has. Derived from the log itself where the user's row contradicts
//! it: a wrong number there must not give a position twice or make the whole log unreadable.

use crate::sql::database::{Connection, Row, query};

use super::position;
use crate::{StorageError, StorageErrorKind, damage::log_damaged_row};
use parlor_protocol::{Position, UserId};

/// The positions of a user's log (`$1`): two columns, `head` and `trimmed`. A number that is not a position
/// (one of 2^53 or above is none) counts as missing. An empty log has nothing to check the user's row with.
macro_rules! log_range {
    () => {
        concat!(
            "(SELECT max(coalesce(u.position, 0), coalesce(e.last, u.trimmed, 0)) FROM ",
            log_range!(sources),
            ") AS head, (SELECT min(coalesce(u.trimmed, 9007199254740991), \
                 coalesce(e.first - 1, max(coalesce(u.position, 0), coalesce(u.trimmed, 0)))) FROM ",
            log_range!(sources),
            ") AS trimmed"
        )
    };
    (sources) => {
        "(SELECT (SELECT position FROM events WHERE user_id = $1 AND position BETWEEN 1 AND 9007199254740991 \
                 ORDER BY position LIMIT 1) AS first, \
             (SELECT position FROM events WHERE user_id = $1 AND position BETWEEN 1 AND 9007199254740991 \
                 ORDER BY position DESC LIMIT 1) AS last) e \
         LEFT JOIN (SELECT iif(position BETWEEN 0 AND 9007199254740991, CAST(position AS BIGINT), NULL) AS position, \
             iif(trimmed BETWEEN 0 AND 9007199254740991, CAST(trimmed AS BIGINT), NULL) AS trimmed \
             FROM users WHERE id = $1) u ON true"
    };
}
pub(super) use log_range;

const SELECT_LOG_RANGE: &str = concat!("SELECT ", log_range!());

/// Reads the log's range from the user's row alone, for a log with damaged events.
const SELECT_USER_ROW: &str = "SELECT coalesce((SELECT CAST(position AS BIGINT) FROM users WHERE id = $1 \
         AND position BETWEEN 0 AND 9007199254740991), 0) AS head, \
     coalesce((SELECT CAST(trimmed AS BIGINT) FROM users WHERE id = $1 \
         AND trimmed BETWEEN 0 AND 9007199254740991), 0) AS trimmed";

/// The range of positions in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LogRange {
    /// The position of the last event that was trimmed.
    pub trimmed: Position,
    /// The position of the last event.
    pub head: Position,
}

impl LogRange {
    /// Reads the range from a row of [`log_range!`].
    pub fn from_row(row: &Row) -> Result<Self, StorageError> {
        Ok(Self {
            trimmed: position(row, "trimmed")?,
            head: position(row, "head")?,
        })
    }

    /// Reads the range of a user's log. If the log can't be read, the user's row is all there is: what does
    /// not need the log continues to work.
    pub async fn read(connection: &mut Connection, user_id: UserId) -> Result<Self, StorageError> {
        let row = match fetch(connection, SELECT_LOG_RANGE, user_id).await {
            Err(error) if error.kind() == StorageErrorKind::Damaged => {
                log_damaged_row("events", format_args!("those of the user {user_id}"), &error);
                fetch(connection, SELECT_USER_ROW, user_id).await?
            }
            row => row?,
        };
        Self::from_row(&row)
    }
}

async fn fetch(connection: &mut Connection, sql: &'static str, user_id: UserId) -> Result<Row, StorageError> {
    let row = query(sql).bind_value(user_id).fetch_one(connection);
    Ok(row.await?)
}
