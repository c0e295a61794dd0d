//! Pages of a branch: a message and its ancestors. A damaged link between two messages is bridged, so that it
//! hides none of the earlier ones.

use crate::sql::database::{Connection, Row, query};

use super::{id, messages::read_message, optional_id, optional_text, text};
use crate::{PageSize, StorageError, damage::skip_damaged};
use parlor_protocol::{ConversationId, Message, MessageBody, MessageId, RunError, UserId};

/// The parent of the message `m` of a user (`$1`) in a conversation (`$2`). If there is no such message, or it
/// is not an earlier one of it, the message before `m` in the conversation. A parent is always created before its
/// child, so no damaged link makes a circle.
macro_rules! nearest_parent {
    () => {
        "CASE WHEN m.parent_id IS NOT NULL THEN coalesce( \
             (SELECT p.id FROM messages p WHERE p.user_id = $1 AND p.conversation_id = $2 AND p.id = m.parent_id \
                 AND p.position < m.position), \
             (SELECT p.id FROM messages p WHERE p.user_id = $1 AND p.conversation_id = $2 AND p.position < m.position \
                 ORDER BY p.position DESC LIMIT 1)) END"
    };
}

/// The message with an id (`$3`). If there is none, the stored id may be damaged: the message before one that
/// refers to it.
macro_rules! named_message {
    () => {
        concat!(
            "(SELECT id FROM messages WHERE user_id = $1 AND conversation_id = $2 AND id = $3), (SELECT ",
            nearest_parent!(),
            " FROM messages m WHERE m.user_id = $1 AND m.conversation_id = $2 AND m.parent_id = $3 LIMIT 1)"
        )
    };
}

/// A message, or the last one if there is no such message, and its ancestors, up to the size of a page.
pub(crate) const SELECT_BRANCH: &str = concat!(
    "WITH RECURSIVE branch (id, nearest, position, messages, bytes) AS ( \
         SELECT m.id, ",
    nearest_parent!(),
    ", m.position, 1, octet_length(m.body) FROM messages m \
             WHERE m.user_id = $1 AND m.conversation_id = $2 AND m.id = coalesce(",
    named_message!(),
    ", (SELECT id FROM messages WHERE user_id = $1 AND conversation_id = $2 ORDER BY position DESC LIMIT 1)) \
         UNION ALL \
         SELECT m.id, ",
    nearest_parent!(),
    ", m.position, b.messages + 1, b.bytes + octet_length(m.body) \
             FROM branch b JOIN messages m ON m.user_id = $1 AND m.conversation_id = $2 AND m.id = b.nearest \
             WHERE (b.messages < $4 AND b.bytes < $5) \
                 OR b.position > (SELECT position FROM messages WHERE user_id = $1 AND conversation_id = $2 AND id = $6)) \
     SELECT m.id, m.parent_id, branch.nearest, m.created_at, m.body FROM branch JOIN messages m USING (id) WHERE m.user_id = $1 \
         ORDER BY m.position"
);

const SELECT_NEAREST_PARENT: &str = concat!(
    "SELECT m.id, m.parent_id, ",
    nearest_parent!(),
    " AS nearest FROM messages m WHERE m.user_id = $1 AND m.conversation_id = $2 AND m.id = coalesce(",
    named_message!(),
    ")"
);

/// Returns the parent of a message; `None` if there is no such message.
pub(super) async fn parent(
    connection: &mut Connection,
    (user_id, conversation_id): (UserId, ConversationId),
    message: MessageId,
) -> Result<Option<Option<MessageId>>, StorageError> {
    let row = query(SELECT_NEAREST_PARENT)
        .bind_value(user_id)
        .bind_value(conversation_id)
        .bind_value(message)
        .fetch_optional(connection)
        .await?;
    let link = row.map(|row| Link::read(&row, None, message)).transpose()?;
    Ok(link.flatten().map(|link| link.parent))
}

/// Returns a page of the branch that ends with `leaf`. An answer with a damaged link is marked as damaged; a question
/// has no mark and stays as it is.
pub(super) async fn read_branch(
    connection: &mut Connection,
    (user_id, conversation_id): (UserId, ConversationId),
    leaf: MessageId,
    page: PageSize,
    reach: Option<MessageId>,
) -> Result<Vec<Message>, StorageError> {
    let rows = query(SELECT_BRANCH)
        .bind_value(user_id)
        .bind_value(conversation_id)
        .bind_value(leaf)
        .bind_value(page.messages)
        .bind_value(page.bytes)
        .bind_value(reach)
        .fetch_all(&mut *connection)
        .await?;
    let mut messages: Vec<Message> = Vec::with_capacity(rows.len());
    for (index, row) in rows.iter().enumerate() {
        let Some(link) = Link::read(row, rows.get(index + 1), leaf)? else {
            continue;
        };
        let mut message = read_message(&mut *connection, row, link.id).await?;
        message.parent_id = link.parent.or_else(|| messages.last().map(|parent| parent.id));
        if let (true, MessageBody::Assistant(answer)) = (link.is_damaged, &mut message.body) {
            answer.error = Some(RunError::damaged(link.id));
        }
        messages.push(message);
    }
    Ok(messages)
}

/// The place of a message in its branch.
struct Link {
    id: MessageId,
    parent: Option<MessageId>,
    is_damaged: bool,
}

impl Link {
    /// Reads the ids of a row. A message with an unreadable id gets the one by which its child, or the caller,
    /// refers to it; returns `None` if that is unreadable too.
    fn read(row: &Row, child: Option<&Row>, leaf: MessageId) -> Result<Option<Self>, StorageError> {
        let name = text(row, "id")?;
        let own = skip_damaged("messages", &name, id(row, "id"))?;
        let stored = skip_damaged("messages", &name, optional_id(row, "parent_id"))?;
        let named = match (own, child) {
            (Some(own), _) => Some(own),
            (None, Some(child)) => optional_id(child, "parent_id").ok().flatten(),
            (None, None) => Some(leaf),
        };
        let Some(id) = named else { return Ok(None) };
        let nearest = optional_text(row, "nearest")?;
        let (parent, is_parent_damaged) = match (stored, nearest.as_deref().map(str::parse)) {
            (Some(None), _) => (None, false),
            // The parent is there under a name that can't be read.
            (Some(stored), Some(Err(_))) => (stored, false),
            (Some(stored), Some(Ok(nearest))) => (Some(nearest), stored != Some(nearest)),
            (None, Some(nearest)) => (nearest.ok(), true),
            (_, None) => (None, true),
        };
        Ok(Some(Self {
            id,
            parent,
            is_damaged: own.is_none() || is_parent_damaged,
        }))
    }
}
