//! Queries about conversation lists and runs; those about messages are in `messages`, those about logs in `log_page`. The caller opens
//! a transaction where several results must be consistent.

use crate::sql::database::{Connection, Row, Sql, query, query_scalar};

use super::{
    id,
    log_page::{last_log_position, last_run_position},
    number_or_zero, optional_id, optional_position, optional_text, read_undamaged_rows, text,
};
use crate::{
    MessageKey, RunKey, StorageError, StoredConversation, StoredRun, TrashedConversation,
    damage::{DamagedRow, log_damaged_row, skip_damaged},
};
use parlor_protocol::{
    ConversationId, ConversationList, ListedConversation, MessageId, Position, ProjectId, RunStatus,
    Timestamp, UserId, conversation_list::ListCursor,
};

/// Selects conversations as the list shows them.
macro_rules! select_listed {
    ($rest:literal) => {
        concat!(
            "SELECT c.id, c.title, c.model, c.created_at, c.updated_at, c.activity, c.unseen, c.pinned, c.archived, c.temporary, c.project_id, \
             r.id AS active_run, coalesce(r.status, '') = 'waiting' AS waiting FROM conversations c \
             LEFT JOIN runs r ON r.user_id = c.user_id AND r.conversation_id = c.id AND r.status IN ('running', 'waiting') ",
            $rest
        )
    };
}

pub(crate) const SELECT_CONVERSATIONS: &str = select_listed!(
    "WHERE c.user_id = $1 AND c.activity < $2 AND c.pinned = 0 AND c.archived = 0 AND c.trashed_at IS NULL \
     ORDER BY c.activity DESC LIMIT $3"
);

pub(crate) const SELECT_PINNED: &str = select_listed!(
    "WHERE c.user_id = $1 AND c.pinned <> 0 AND c.trashed_at IS NULL ORDER BY c.activity DESC"
);

pub(crate) const SELECT_ARCHIVED: &str = select_listed!(
    "WHERE c.user_id = $1 AND c.activity < $2 AND c.archived <> 0 AND c.pinned = 0 AND c.trashed_at IS NULL \
     ORDER BY c.activity DESC LIMIT $3"
);

pub(crate) const SELECT_OF_PROJECT: &str = select_listed!(
    "WHERE c.user_id = $1 AND c.activity < $2 AND c.project_id = $4 AND c.pinned = 0 AND c.archived = 0 AND c.trashed_at IS NULL \
     ORDER BY c.activity DESC LIMIT $3"
);

pub(crate) const SELECT_PINNED_OF_PROJECT: &str = select_listed!(
    "WHERE c.user_id = $1 AND c.project_id = $2 AND c.pinned <> 0 AND c.trashed_at IS NULL ORDER BY c.activity DESC"
);

pub(crate) const SELECT_CONVERSATION: &str =
    select_listed!("WHERE c.user_id = $1 AND c.id = $2 AND c.trashed_at IS NULL");

macro_rules! running_runs {
    ($condition:literal) => {
        concat!(
            "SELECT user_id, conversation_id, id, status, first_position, last_position FROM runs \
             WHERE status IN ('running', 'waiting') AND status = 'running'",
            $condition,
            " ORDER BY first_position"
        )
    };
}

pub(crate) const SELECT_RUNNING_RUNS: &str = running_runs!("");

/// Without those on which a node works.
const SELECT_ABANDONED_RUNS: &str =
    running_runs!(" AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.id = runs.owner)");

/// A conversation (`$2`) whose owner is unreadable, if it has messages of the user (`$1`): it is theirs.
macro_rules! lost_conversation {
    () => {
        "SELECT c.id FROM conversations c WHERE c.id = $2 AND NOT EXISTS (SELECT 1 FROM users u WHERE u.id = c.user_id) \
             AND EXISTS (SELECT 1 FROM messages m WHERE m.conversation_id = $2 AND m.user_id = $1)"
    };
}
pub(super) use lost_conversation;

pub(super) async fn conversations(
    connection: &mut Connection,
    user_id: UserId,
    archived: bool,
    before: Option<ListCursor>,
    limit: usize,
) -> Result<ConversationList, StorageError> {
    let as_of = last_log_position(&mut *connection, user_id).await?;
    let mut conversations = Vec::new();
    if before.is_none() && !archived {
        let pinned = query(SELECT_PINNED)
            .bind_value(user_id)
            .fetch_all(&mut *connection)
            .await?;
        conversations = read_undamaged_rows("conversations", "id", &pinned, read_listed)?;
    }
    let rows = query(if archived {
        SELECT_ARCHIVED
    } else {
        SELECT_CONVERSATIONS
    })
    .bind_value(user_id)
    .bind(activity_below(before))
    .bind(limit as i64 + 1)
    .fetch_all(connection)
    .await?;
    let has_more = read_page(&rows, limit, &mut conversations)?;
    Ok(ConversationList {
        as_of,
        conversations,
        has_more,
        archived,
        project_id: None,
    })
}

/// Returns a page of the conversations of a project.
pub(super) async fn project_conversations(
    connection: &mut Connection,
    (user_id, project_id): (UserId, ProjectId),
    before: Option<ListCursor>,
    limit: usize,
) -> Result<ConversationList, StorageError> {
    let as_of = last_log_position(&mut *connection, user_id).await?;
    let mut conversations = Vec::new();
    if before.is_none() {
        let pinned = query(SELECT_PINNED_OF_PROJECT)
            .bind_value(user_id)
            .bind_value(project_id)
            .fetch_all(&mut *connection)
            .await?;
        conversations = read_undamaged_rows("conversations", "id", &pinned, read_listed)?;
    }
    let rows = query(SELECT_OF_PROJECT)
        .bind_value(user_id)
        .bind(activity_below(before))
        .bind(limit as i64 + 1)
        .bind_value(project_id)
        .fetch_all(connection)
        .await?;
    let has_more = read_page(&rows, limit, &mut conversations)?;
    Ok(ConversationList {
        as_of,
        conversations,
        has_more,
        archived: false,
        project_id: Some(project_id),
    })
}

fn activity_below(before: Option<ListCursor>) -> i64 {
    before.map_or(i64::MAX, |cursor| cursor.activity.0.cast_signed())
}

/// Adds a page to a list. Returns true if there is one more row than the limit: the first of the next page.
fn read_page(
    rows: &[Row],
    limit: usize,
    conversations: &mut Vec<ListedConversation>,
) -> Result<bool, StorageError> {
    let newest = &rows[..rows.len().min(limit)];
    conversations.extend(read_undamaged_rows("conversations", "id", newest, read_listed)?);
    Ok(rows.len() > limit)
}

/// Returns a user's conversations with unseen results.
pub(super) async fn unseen_conversations(
    connection: &mut Connection,
    user_id: UserId,
) -> Result<Vec<ConversationId>, StorageError> {
    let rows = query(
        "SELECT id FROM conversations WHERE user_id = $1 AND unseen <> 0 AND trashed_at IS NULL ORDER BY activity",
    )
    .bind_value(user_id)
    .fetch_all(connection)
    .await?;
    read_undamaged_rows("conversations", "id", &rows, |row| id(row, "id"))
}

/// Returns true if a conversation of the user is deleted, and not yet erased.
pub(super) async fn is_trashed(
    connection: &mut Connection,
    user_id: UserId,
    conversation_id: ConversationId,
) -> Result<bool, StorageError> {
    let is_trashed = query_scalar(
        "SELECT EXISTS (SELECT 1 FROM conversations WHERE user_id = $1 AND id = $2 AND trashed_at IS NOT NULL)",
    )
    .bind_value(user_id)
    .bind_value(conversation_id)
    .fetch_one(connection)
    .await?;
    Ok(is_trashed)
}

/// Returns the deleted conversations of all users that are not erased yet. Damaged ones are left out.
pub(super) async fn trashed_conversations(
    connection: &mut Connection,
) -> Result<Vec<TrashedConversation>, StorageError> {
    let rows = query(
        "SELECT c.user_id, c.id, c.trashed_at, (SELECT r.id FROM runs r WHERE r.conversation_id = c.id \
             AND r.status IN ('running', 'waiting') LIMIT 1) AS run_id FROM conversations c WHERE c.trashed_at IS NOT NULL",
    )
        .fetch_all(connection)
        .await?;
    read_undamaged_rows("conversations", "id", &rows, |row| {
        Ok(TrashedConversation {
            user_id: id(row, "user_id")?,
            conversation_id: id(row, "id")?,
            // An unreadable time is no age: it must erase nothing.
            trashed_at: Timestamp(row.try_get("trashed_at")?),
            active_run: optional_id(row, "run_id")?,
        })
    })
}

fn read_listed(row: &Row) -> Result<ListedConversation, StorageError> {
    let id = id(row, "id")?;
    let number = |column| number_or_zero("conversations", id, row, column);
    Ok(ListedConversation {
        id,
        title: text(row, "title")?,
        updated_at: Timestamp(number("updated_at")?),
        activity: Position(number("activity")?.unsigned_abs()),
        active_run: skip_damaged("conversations", id, optional_id(row, "active_run"))?.flatten(),
        waiting: row.try_get("waiting")?,
        unseen: number("unseen")? != 0,
        pinned: number("pinned")? != 0,
        archived: number("archived")? != 0,
        temporary: number("temporary")? != 0,
        project_id: skip_damaged("conversations", id, optional_id(row, "project_id"))?.flatten(),
    })
}

pub(super) async fn conversation(
    connection: &mut Connection,
    user_id: UserId,
    conversation_id: ConversationId,
) -> Result<Option<StoredConversation>, StorageError> {
    let row = query(SELECT_CONVERSATION)
        .bind_value(user_id)
        .bind_value(conversation_id)
        .fetch_optional(&mut *connection)
        .await?;
    if row.is_none() {
        require_owner(connection, (user_id, conversation_id)).await?;
    }
    row.map(|row| {
        let created_at = number_or_zero("conversations", conversation_id, &row, "created_at")?;
        Ok(StoredConversation {
            listed: read_listed(&row)?,
            model: optional_text(&row, "model")?,
            created_at: Timestamp(created_at),
        })
    })
    .transpose()
}

/// Fails if a conversation with messages of the user has an unreadable owner. Then no query of the user's conversations finds it.
pub(super) async fn require_owner(
    connection: &mut Connection,
    (user_id, conversation_id): (UserId, ConversationId),
) -> Result<(), StorageError> {
    let lost: bool = query_scalar(concat!("SELECT EXISTS (", lost_conversation!(), ")"))
        .bind_value(user_id)
        .bind_value(conversation_id)
        .fetch_one(connection)
        .await?;
    if !lost {
        return Ok(());
    }
    let row = DamagedRow {
        table: "conversations",
        id: conversation_id.0,
    };
    log_damaged_row(row.table, row.id, &"its user_id is no user's");
    Err(row.into())
}

pub(super) async fn conversation_model(
    connection: &mut Connection,
    user_id: UserId,
    conversation_id: ConversationId,
) -> Result<Option<String>, StorageError> {
    let row = query("SELECT model FROM conversations WHERE user_id = $1 AND id = $2")
        .bind_value(user_id)
        .bind_value(conversation_id)
        .fetch_optional(connection)
        .await?;
    let model = row.map(|row| optional_text(&row, "model")).transpose()?;
    Ok(model.flatten())
}

/// Returns a run of a user. If an ended run has no readable last position, the log's events tell it.
pub(super) async fn run(
    connection: &mut Connection,
    user_id: UserId,
    message_id: MessageId,
) -> Result<Option<StoredRun>, StorageError> {
    let row = query(
        "SELECT user_id, conversation_id, id, status, first_position, last_position FROM runs WHERE user_id = $1 AND id = $2",
    )
    .bind_value(user_id)
    .bind_value(message_id)
    .fetch_optional(&mut *connection)
    .await?;
    let run = row.as_ref().map(read_stored_run).transpose()?.flatten();
    let Some(mut run) = run else { return Ok(None) };
    if run.status.is_terminal() && run.last_position.is_none() {
        log_damaged_row("runs", message_id, &"it has ended and has no last position");
        run.last_position = Some(last_run_position(connection, &run).await?);
    }
    Ok(Some(run))
}

/// Returns all runs with the status `running`, but not those on which a node works. Damaged ones are left out.
pub(super) async fn running_runs(connection: &mut Connection) -> Result<Vec<StoredRun>, StorageError> {
    let select = Sql::Two {
        sqlite: SELECT_RUNNING_RUNS,
        postgres: SELECT_ABANDONED_RUNS,
    };
    let rows = query(select).fetch_all(connection).await?;
    let runs = rows.iter().map(read_stored_run).collect::<Result<Vec<_>, _>>()?;
    Ok(runs.into_iter().flatten().collect())
}

/// Reads a run. Returns `None` if its row does not name its owner.
pub(super) fn read_stored_run(row: &Row) -> Result<Option<StoredRun>, StorageError> {
    let key = || -> Result<_, StorageError> {
        Ok(RunKey {
            user_id: id(row, "user_id")?,
            conversation_id: id(row, "conversation_id")?,
            message_id: id(row, "id")?,
        })
    };
    let Some(key) = skip_damaged("runs", text(row, "id")?, key())? else {
        return Ok(None);
    };
    Ok(Some(StoredRun {
        key,
        status: read_run_status(row, key.message_id)?,
        first_position: Position(
            number_or_zero("runs", key.message_id, row, "first_position")?.unsigned_abs(),
        ),
        last_position: skip_damaged("runs", key.message_id, optional_position(row, "last_position"))?
            .flatten(),
    }))
}

/// Reads the status of a run. A run with an unreadable status is not active.
pub(super) fn read_run_status(row: &Row, run: MessageId) -> Result<RunStatus, StorageError> {
    let status = text(row, "status")?;
    let read = serde_json::from_value(status.into()).map_err(StorageError::from);
    Ok(skip_damaged("runs", run, read)?.unwrap_or(RunStatus::Interrupted))
}

/// Returns the hidden messages of all users.
pub(super) async fn hidden_messages(
    connection: &mut Connection,
) -> Result<Vec<(MessageKey, Timestamp)>, StorageError> {
    let rows = query("SELECT user_id, conversation_id, message_id, hidden_at FROM hidden_messages")
        .fetch_all(connection)
        .await?;
    read_undamaged_rows("hidden_messages", "message_id", &rows, |row| {
        let key = (
            id(row, "user_id")?,
            id(row, "conversation_id")?,
            id(row, "message_id")?,
        );
        let name = text(row, "message_id")?;
        Ok((
            key,
            Timestamp(number_or_zero("hidden_messages", name, row, "hidden_at")?),
        ))
    })
}
