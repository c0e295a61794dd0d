//! The queries about messages: a conversation page by page, and one message. Each takes a connection whose transaction
//! makes it one consistent picture.

use sqlx::{Row, SqliteConnection, sqlite::SqliteRow};

use super::{id, optional_id, payloads, read::head};
use crate::{
    protocol::{
        ConversationId, Event, Message, MessageId, OlderMessages, Timestamp, Transcript, UserId,
        transcript::{self, Elsewhere},
    },
    storage::{PageSize, StorageError},
};

/// What a run has produced since its message was last stored.
pub(super) const UNSTORED_EVENTS_OF_RUN: &str = "SELECT e.event FROM runs r JOIN events e ON e.message_id = r.id AND +e.user_id = r.user_id \
         AND e.position > max(r.first_position - 1, r.stored_position) WHERE r.user_id = ? AND r.id = ? ORDER BY e.position";

/// A message and those that lead to it, as far as a page goes. A parent was always made before its child.
pub(super) const BRANCH: &str = "WITH RECURSIVE branch (id, parent_id, position, messages, bytes) AS ( \
         SELECT id, parent_id, position, 1, octet_length(body) FROM messages \
             WHERE user_id = ?1 AND conversation_id = ?2 AND id = ?3 \
         UNION ALL \
         SELECT m.id, m.parent_id, m.position, b.messages + 1, b.bytes + octet_length(m.body) \
             FROM branch b JOIN messages m ON m.user_id = ?1 AND m.id = b.parent_id \
             WHERE (b.messages < ?4 AND b.bytes < ?5) \
                 OR b.position > (SELECT position FROM messages WHERE user_id = ?1 AND conversation_id = ?2 AND id = ?6)) \
     SELECT m.id, m.parent_id, m.created_at, m.body FROM branch JOIN messages m USING (id) WHERE m.user_id = ?1 \
         ORDER BY m.position";

/// The answers to messages, but for those that are known.
pub(super) const OTHER_ANSWERS: &str = "SELECT m.id, m.parent_id FROM messages m JOIN runs r ON r.user_id = ?1 AND r.id = m.id \
     WHERE m.user_id = ?1 AND m.parent_id IN (SELECT value FROM json_each(?2)) \
         AND m.id NOT IN (SELECT value FROM json_each(?3))";

pub(super) const ACTIVE_RUN: &str = "SELECT m.id, m.parent_id, m.created_at, m.body FROM runs r JOIN messages m USING (id) \
     WHERE r.user_id = ?1 AND m.user_id = ?1 AND r.conversation_id = ?2 AND r.status IN ('running', 'waiting')";

pub(super) async fn transcript(
    connection: &mut SqliteConnection,
    user_id: UserId,
    conversation_id: ConversationId,
    page: PageSize,
    reach: Option<MessageId>,
) -> Result<Option<Transcript>, StorageError> {
    let as_of = head(&mut *connection, user_id).await?;
    let conversation = sqlx::query(
        "SELECT title, model, parameters, active_leaf FROM conversations WHERE user_id = ? AND id = ?",
    )
    .bind(user_id.to_string())
    .bind(conversation_id.to_string())
    .fetch_optional(&mut *connection)
    .await?;
    let Some(conversation) = conversation else {
        return Ok(None);
    };
    let active_leaf = optional_id(&conversation, "active_leaf")?;
    let mut messages = match active_leaf {
        Some(leaf) => branch(&mut *connection, (user_id, conversation_id), leaf, page, reach).await?,
        None => Vec::new(),
    };
    let earliest = earliest(&messages);
    match messages.iter_mut().find(|message| is_being_made(message)) {
        Some(run) => catch_up(&mut *connection, user_id, run).await?,
        // It may work on a branch that is not shown.
        None => {
            if let Some(run) = active_run(&mut *connection, user_id, conversation_id).await? {
                let later = messages
                    .iter()
                    .position(|other| other.created_at > run.created_at);
                messages.insert(later.unwrap_or(messages.len()), run);
            }
        }
    }
    let verdicts = payloads::verdicts(&mut *connection, user_id, conversation_id).await?;
    let elsewhere = elsewhere(connection, user_id, &messages).await?;
    Ok(Some(Transcript {
        conversation_id,
        as_of,
        title: conversation.try_get("title")?,
        model: conversation.try_get("model")?,
        parameters: super::terms::read_parameters(&conversation)?,
        messages,
        earliest,
        elsewhere,
        active_leaf,
        verdicts,
        deleted: false,
    }))
}

pub(super) async fn older(
    connection: &mut SqliteConnection,
    user_id: UserId,
    conversation_id: ConversationId,
    before: MessageId,
    page: PageSize,
) -> Result<Option<OlderMessages>, StorageError> {
    let found =
        sqlx::query("SELECT parent_id FROM messages WHERE user_id = ? AND conversation_id = ? AND id = ?")
            .bind(user_id.to_string())
            .bind(conversation_id.to_string())
            .bind(before.to_string())
            .fetch_optional(&mut *connection)
            .await?;
    let Some(found) = found else { return Ok(None) };
    let messages = match optional_id(&found, "parent_id")? {
        Some(parent) => branch(&mut *connection, (user_id, conversation_id), parent, page, None).await?,
        None => Vec::new(),
    };
    Ok(Some(OlderMessages {
        before,
        earliest: earliest(&messages),
        elsewhere: elsewhere(connection, user_id, &messages).await?,
        messages,
    }))
}

pub(super) async fn branch(
    connection: &mut SqliteConnection,
    (user_id, conversation_id): (UserId, ConversationId),
    leaf: MessageId,
    page: PageSize,
    reach: Option<MessageId>,
) -> Result<Vec<Message>, StorageError> {
    let rows = sqlx::query(BRANCH)
        .bind(user_id.to_string())
        .bind(conversation_id.to_string())
        .bind(leaf.to_string())
        .bind(i64::try_from(page.messages).unwrap_or(i64::MAX))
        .bind(i64::try_from(page.bytes).unwrap_or(i64::MAX))
        .bind(reach.map(|id| id.to_string()))
        .fetch_all(connection)
        .await?;
    rows.iter().map(stored_message).collect()
}

/// The first message of a page, if there are others before it.
fn earliest(page: &[Message]) -> Option<MessageId> {
    page.first()
        .filter(|first| first.parent_id.is_some())
        .map(|first| first.id)
}

async fn elsewhere(
    connection: &mut SqliteConnection,
    user_id: UserId,
    messages: &[Message],
) -> Result<Vec<Elsewhere>, StorageError> {
    let answers = || messages.iter().filter(|message| message.assistant().is_some());
    let parents: Vec<MessageId> = answers().filter_map(|answer| answer.parent_id).collect();
    let known: Vec<MessageId> = answers().map(|answer| answer.id).collect();
    let rows = sqlx::query(OTHER_ANSWERS)
        .bind(user_id.to_string())
        .bind(serde_json::to_string(&parents)?)
        .bind(serde_json::to_string(&known)?)
        .fetch_all(connection)
        .await?;
    let other = |row: &SqliteRow| {
        Ok(Elsewhere {
            id: id(row, "id")?,
            parent_id: id(row, "parent_id")?,
        })
    };
    let mut elsewhere = rows.iter().map(other).collect::<Result<Vec<_>, StorageError>>()?;
    elsewhere.sort_unstable();
    Ok(elsewhere)
}

/// The answer that is being made, with all that its run has produced.
async fn active_run(
    connection: &mut SqliteConnection,
    user_id: UserId,
    conversation_id: ConversationId,
) -> Result<Option<Message>, StorageError> {
    let row = sqlx::query(ACTIVE_RUN)
        .bind(user_id.to_string())
        .bind(conversation_id.to_string())
        .fetch_optional(&mut *connection)
        .await?;
    let Some(row) = row else { return Ok(None) };
    let mut message = stored_message(&row)?;
    catch_up(connection, user_id, &mut message).await?;
    Ok(Some(message))
}

pub(super) async fn message(
    connection: &mut SqliteConnection,
    user_id: UserId,
    message_id: MessageId,
) -> Result<Option<(ConversationId, Message)>, StorageError> {
    let row = sqlx::query(
        "SELECT id, conversation_id, parent_id, created_at, body FROM messages WHERE user_id = ? AND id = ?",
    )
    .bind(user_id.to_string())
    .bind(message_id.to_string())
    .fetch_optional(&mut *connection)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let conversation_id = id(&row, "conversation_id")?;
    let mut message = stored_message(&row)?;
    catch_up(connection, user_id, &mut message).await?;
    Ok(Some((conversation_id, message)))
}

/// Whether a run works on the message.
fn is_being_made(message: &Message) -> bool {
    let answer = message.assistant();
    answer.is_some_and(|answer| !answer.status.is_terminal())
}

/// Adds what the log has of a run and its message does not. What made the message changes nothing, since it is there.
async fn catch_up(
    connection: &mut SqliteConnection,
    user_id: UserId,
    message: &mut Message,
) -> Result<(), StorageError> {
    let run = message.id;
    let Some(answer) = message
        .assistant_mut()
        .filter(|answer| !answer.status.is_terminal())
    else {
        return Ok(());
    };
    let rows = sqlx::query(UNSTORED_EVENTS_OF_RUN)
        .bind(user_id.to_string())
        .bind(run.to_string())
        .fetch_all(connection)
        .await?;
    for row in rows {
        let event: Event = serde_json::from_str(row.try_get("event")?)?;
        transcript::apply_to_run(answer, &event.body);
    }
    Ok(())
}

fn stored_message(row: &SqliteRow) -> Result<Message, StorageError> {
    Ok(Message {
        id: id(row, "id")?,
        parent_id: optional_id(row, "parent_id")?,
        created_at: Timestamp(row.try_get("created_at")?),
        body: serde_json::from_str(row.try_get("body")?)?,
    })
}
