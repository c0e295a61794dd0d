//! Queries about conversations that have reached their age.

use crate::sql::database::{Connection, Row, query, query_scalar};

use super::{id, number_or_zero, read_undamaged_rows};
use crate::{ExpiredConversation, Expiry, ExpiryReason, StorageError};
use parlor_protocol::{ConversationId, Timestamp, UserId};

/// The number of conversations that one query returns.
const MAX_EXPIRED: i64 = 50;

const MS_PER_DAY: i64 = 86_400_000;

/// The condition of a conversation `c` that its age may erase: shown, and without a running answer. Of a damaged row no age
/// is known.
macro_rules! has_age {
    () => {
        "c.trashed_at IS NULL AND typeof(c.updated_at) = 'integer' \
         AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.conversation_id = c.id AND r.status = 'running') AND "
    };
}

/// The condition of a temporary conversation.
macro_rules! is_temporary {
    () => {
        "c.temporary <> 0"
    };
}

/// The condition of another conversation that is not kept by a pin.
macro_rules! is_unpinned {
    () => {
        "c.temporary = 0 AND c.pinned = 0"
    };
}

/// Selects at most `$2` conversations that have reached their age at the time `$1`.
macro_rules! select_expired {
    ($from:literal, $kind:ident, $where:literal) => {
        concat!(
            "SELECT c.user_id, c.id, ",
            $from,
            " WHERE ",
            has_age!(),
            $kind!(),
            $where,
            " ORDER BY c.updated_at LIMIT $2"
        )
    };
}

const SELECT_TEMPORARY: &str = select_expired!(
    "$1 AS before, 0 AS days FROM conversations c",
    is_temporary,
    " AND c.updated_at < $1"
);

const SELECT_OLD: &str = select_expired!(
    "$1 AS before, 0 AS days FROM conversations c",
    is_unpinned,
    " AND c.updated_at < $1"
);

/// By the choice of the user.
const SELECT_CHOSEN: &str = select_expired!(
    "$1 - t.days * 86400000 AS before, t.days FROM retention t JOIN conversations c ON c.user_id = t.user_id",
    is_unpinned,
    // A damaged number is none: it must erase nothing.
    " AND typeof(t.days) = 'integer' AND t.days > 0 AND c.updated_at < $1 - t.days * 86400000"
);

/// Selects whether a conversation (`$2`) of a user (`$1`) had no activity since `$3`, and still meets the conditions.
macro_rules! is_expired {
    ($kind:ident, $where:literal) => {
        concat!(
            "SELECT EXISTS (SELECT 1 FROM conversations c WHERE c.user_id = $1 AND c.id = $2 AND c.updated_at < $3 AND ",
            has_age!(),
            $kind!(),
            $where,
            ")"
        )
    };
}

/// Returns true if a conversation that was selected is still to be erased: it had no activity since `before`, and the reason
/// holds.
pub(super) async fn is_expired(
    connection: &mut Connection,
    (user_id, conversation_id): (UserId, ConversationId),
    before: Timestamp,
    reason: ExpiryReason,
) -> Result<bool, StorageError> {
    let is_expired = query_scalar(match reason {
        ExpiryReason::Temporary => is_expired!(is_temporary, ""),
        ExpiryReason::Setting => is_expired!(is_unpinned, ""),
        ExpiryReason::Choice { .. } => is_expired!(
            is_unpinned,
            " AND EXISTS (SELECT 1 FROM retention t WHERE t.user_id = $1 AND t.days = $4)"
        ),
    });
    let mut is_expired = is_expired
        .bind_value(user_id)
        .bind_value(conversation_id)
        .bind_value(before);
    if let ExpiryReason::Choice { days } = reason {
        is_expired = is_expired.bind(i64::from(days));
    }
    Ok(is_expired.fetch_one(connection).await?)
}

/// Returns some of the conversations that have reached their age.
pub(super) async fn expired_conversations(
    connection: &mut Connection,
    expiry: Expiry,
) -> Result<Vec<ExpiredConversation>, StorageError> {
    let now = expiry.now.0;
    let age = i64::from(expiry.days).saturating_mul(MS_PER_DAY);
    let temporary = now.saturating_sub(expiry.temporary_ms);
    let mut selects = vec![
        (SELECT_TEMPORARY, temporary, ExpiryReason::Temporary),
        // Each row has its days.
        (SELECT_CHOSEN, now, ExpiryReason::Choice { days: 0 }),
    ];
    if expiry.days > 0 {
        selects.push((SELECT_OLD, now.saturating_sub(age), ExpiryReason::Setting));
    }
    let mut expired = Vec::new();
    for (select, time, reason) in selects {
        let rows = query(select)
            .bind(time)
            .bind(MAX_EXPIRED)
            .fetch_all(&mut *connection)
            .await?;
        expired.extend(read_undamaged_rows("conversations", "id", &rows, |row| {
            read_expired(row, reason)
        })?);
    }
    Ok(expired)
}

fn read_expired(row: &Row, reason: ExpiryReason) -> Result<ExpiredConversation, StorageError> {
    let conversation_id: ConversationId = id(row, "id")?;
    let number = |column| number_or_zero("conversations", conversation_id, row, column);
    let reason = match reason {
        ExpiryReason::Choice { .. } => ExpiryReason::Choice {
            days: u32::try_from(number("days")?).unwrap_or_default(),
        },
        other => other,
    };
    Ok(ExpiredConversation {
        user_id: id(row, "user_id")?,
        conversation_id,
        before: Timestamp(number("before")?),
        reason,
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
