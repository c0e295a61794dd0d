//! Queries about the messages that wait for the end of a run.

use crate::sql::database::{Connection, Row, query};

use super::{files, id, json, number_or_zero, read_undamaged_rows, text};
use crate::{Queues, ReadyMessage, RunKey, StorageError};
use parlor_protocol::{
    Attachment, ConversationId, MessageId, MessageQueue, QueuedMessage, Timestamp, UserId,
    intent::SendMessage,
};

pub(crate) const SELECT_QUEUE: &str = "SELECT id, run, created_at, intent FROM queued_messages \
     WHERE user_id = $1 AND conversation_id = $2 ORDER BY place";

/// The messages of all queues that are not held and wait for no run: of one (`$2`), of a user (`$1`), or of all. Those of
/// accounts that are disabled wait. Without accounts there is no row for the user.
pub(crate) const SELECT_READY: &str = "SELECT q.user_id, q.conversation_id, q.id, q.run, q.created_at, q.intent FROM queued_messages q \
     JOIN conversations c ON c.id = q.conversation_id AND c.user_id = q.user_id AND c.queue_held = 0 AND c.trashed_at IS NULL \
     WHERE ($1 IS NULL OR q.user_id = $1) AND ($2 IS NULL OR q.conversation_id = $2) \
         AND NOT EXISTS (SELECT 1 FROM accounts a WHERE a.user_id = q.user_id AND a.disabled <> 0) AND NOT EXISTS \
         (SELECT 1 FROM runs r WHERE r.conversation_id = q.conversation_id AND r.status IN ('running', 'waiting')) \
     ORDER BY q.conversation_id, q.place";

/// A message in a queue, with all that its run needs.
pub(super) struct StoredQueuedMessage {
    pub run: MessageId,
    pub created_at: Timestamp,
    pub files: Vec<Attachment>,
    pub intent: SendMessage,
}

impl StoredQueuedMessage {
    pub fn id(&self) -> MessageId {
        self.intent.user_message_id
    }

    pub fn shown(&self) -> QueuedMessage {
        QueuedMessage {
            id: self.id(),
            text: self.intent.text.clone(),
            files: self.files.clone(),
            created_at: self.created_at,
        }
    }
}

/// Returns the messages that wait in a conversation, in their order. A damaged one is left out.
pub(super) async fn stored_queue(
    connection: &mut Connection,
    (user_id, conversation_id): (UserId, ConversationId),
) -> Result<Vec<StoredQueuedMessage>, StorageError> {
    let rows = query(SELECT_QUEUE)
        .bind_value(user_id)
        .bind_value(conversation_id)
        .fetch_all(&mut *connection)
        .await?;
    let mut queue = read_undamaged_rows("queued_messages", "id", &rows, read_queued_message)?;
    for queued in &mut queue {
        if !queued.intent.files.is_empty() {
            let files = files::message_files(&mut *connection, user_id, queued.id()).await?;
            queued.files = files.into_iter().map(|file| file.attachment).collect();
        }
    }
    Ok(queue)
}

/// Returns the queue of a conversation as it is shown.
pub(super) async fn queue(
    connection: &mut Connection,
    key: (UserId, ConversationId),
    held: bool,
) -> Result<MessageQueue, StorageError> {
    let stored = stored_queue(connection, key).await?;
    Ok(MessageQueue {
        held: held && !stored.is_empty(),
        messages: stored.iter().map(StoredQueuedMessage::shown).collect(),
    })
}

/// Returns the first message of each queue that can be sent now.
pub(super) async fn ready_messages(
    connection: &mut Connection,
    queues: Queues,
) -> Result<Vec<ReadyMessage>, StorageError> {
    let (user_id, conversation_id) = match queues {
        Queues::All => (None, None),
        Queues::OfUser(user_id) => (Some(user_id), None),
        Queues::OfConversation(user_id, conversation_id) => (Some(user_id), Some(conversation_id)),
    };
    let rows = query(SELECT_READY)
        .bind_value(user_id)
        .bind_value(conversation_id)
        .fetch_all(connection)
        .await?;
    let mut ready = read_undamaged_rows("queued_messages", "id", &rows, |row| {
        let queued = read_queued_message(row)?;
        Ok(ReadyMessage {
            run: RunKey {
                user_id: id(row, "user_id")?,
                conversation_id: id(row, "conversation_id")?,
                message_id: queued.run,
            },
            user_message_id: queued.id(),
        })
    })?;
    ready.dedup_by_key(|ready| ready.run.conversation_id);
    Ok(ready)
}

fn read_queued_message(row: &Row) -> Result<StoredQueuedMessage, StorageError> {
    let message_id: MessageId = id(row, "id")?;
    Ok(StoredQueuedMessage {
        files: Vec::new(),
        run: id(row, "run")?,
        created_at: Timestamp(number_or_zero(
            "queued_messages",
            text(row, "id")?,
            row,
            "created_at",
        )?),
        intent: SendMessage {
            user_message_id: message_id,
            ..json(row, "intent")?
        },
    })
}
