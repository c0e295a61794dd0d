//! Queries about conversations that have reached their age.

use crate::sql::database::{Connection, Row, query, query_scalar};

use super::{id, number_or_zero, read_undamaged_rows};
use crate::{ExpiredConversation, Expiry, StorageError};
use parlor_protocol::{ConversationId, Timestamp, UserId};

/// The number of conversations that one query returns.
const MAX_EXPIRED: i64 = 50;

const MS_PER_DAY: i64 = 86_400_000;

/// Selects conversations without a running answer that are older than `?1`; `?2` is the age in milliseconds of a query that
/// has one. Of a damaged row no age is known.
macro_rules! select_expired {
    ($from:literal, $where:literal) => {
        concat!(
            "SELECT c.user_id, c.id, ",
            $from,
            " WHERE c.trashed_at IS NULL AND typeof(c.updated_at) = 'integer' AND ",
            $where,
            " AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.conversation_id = c.id AND r.status = 'running') \
             ORDER BY c.updated_at LIMIT $2"
        )
    };
}

const SELECT_TEMPORARY: &str = select_expired!(
    "$1 AS before FROM conversations c",
    "c.temporary <> 0 AND c.updated_at < $1"
);

const SELECT_OLD: &str = select_expired!(
    "$1 AS before FROM conversations c",
    "c.temporary = 0 AND c.pinned = 0 AND c.updated_at < $1"
);

/// By the choice of the user.
const SELECT_CHOSEN: &str = select_expired!(
    "$1 - t.days * 86400000 AS before FROM retention t JOIN conversations c ON c.user_id = t.user_id",
    // A damaged number is none: it must erase nothing.
    "typeof(t.days) = 'integer' AND t.days > 0 AND c.temporary = 0 AND c.pinned = 0 AND c.updated_at < $1 - t.days * 86400000"
);

/// Returns some of the conversations that have reached their age.
pub(super) async fn expired_conversations(
    connection: &mut Connection,
    expiry: Expiry,
) -> Result<Vec<ExpiredConversation>, StorageError> {
    let now = expiry.now.0;
    let age = i64::from(expiry.days).saturating_mul(MS_PER_DAY);
    let mut selects = vec![
        (SELECT_TEMPORARY, now.saturating_sub(expiry.temporary_ms)),
        (SELECT_CHOSEN, now),
    ];
    if expiry.days > 0 {
        selects.push((SELECT_OLD, now.saturating_sub(age)));
    }
    let mut expired = Vec::new();
    for (select, time) in selects {
        let rows = query(select)
            .bind(time)
            .bind(MAX_EXPIRED)
            .fetch_all(&mut *connection)
            .await?;
        expired.extend(read_undamaged_rows("conversations", "id", &rows, read_expired)?);
    }
    Ok(expired)
}

fn read_expired(row: &Row) -> Result<ExpiredConversation, StorageError> {
    let conversation_id: ConversationId = id(row, "id")?;
    Ok(ExpiredConversation {
        user_id: id(row, "user_id")?,
        conversation_id,
        before: Timestamp(number_or_zero("conversations", conversation_id, row, "before")?),
    })
}

/// Returns the days that a user has chosen.
pub(super) async fn retention_days(
    connection: &mut Connection,
    user_id: UserId,
) -> Result<u32, StorageError> {
    let days: i64 = query_scalar(
        "SELECT coalesce((SELECT days FROM retention WHERE user_id = $1 AND typeof(days) = 'integer'), 0)",
    )
    .bind_value(user_id)
    .fetch_one(connection)
    .await?;
    Ok(u32::try_from(days).unwrap_or_default())
}
