//! Queries about messages: pages of a conversation, and single messages. Each expects a connection with an
//! open transaction, so that its results are consistent.

use crate::sql::database::{Connection, Row, query};
use futures::TryStreamExt;

use super::{
    branch::{self, read_branch},
    id, json,
    log_page::last_log_position,
    number_or_zero, optional_id, optional_position, optional_text, payloads,
    queries::{read_run_status, require_owner},
    queue, read_undamaged_rows, text,
};
use crate::{
    PageSize, StorageError, StorageErrorKind,
    damage::{log_damaged_row, skip_damaged},
};
use parlor_protocol::{
    AssistantMessage, ConversationId, Event, EventBody, Message, MessageBody, MessageId, OlderMessages,
    RunError, Timestamp, Transcript, UserId,
    transcript::{self, RunUpdate, UnloadedSibling},
};

/// The output of a run since its message was last stored.
pub(crate) const SELECT_UNSTORED_EVENTS: &str = "SELECT r.status, e.position, e.event FROM runs r LEFT JOIN events e ON e.message_id = r.id AND +e.user_id = r.user_id \
         AND e.position > max(r.first_position - 1, r.stored_position) WHERE r.user_id = $1 AND r.id = $2 ORDER BY e.position";

/// The messages with the given parents, and those without a parent (`$4`: the conversation), except the known ones.
pub(crate) const SELECT_SIBLINGS: &str = "SELECT m.id, m.parent_id FROM messages m \
     WHERE m.user_id = $1 AND m.parent_id IN (SELECT value FROM json_each($2)) AND m.id NOT IN (SELECT value FROM json_each($3)) \
         AND m.id NOT IN (SELECT message_id FROM hidden_messages WHERE user_id = $1) \
     UNION ALL SELECT m.id, m.parent_id FROM messages m INDEXED BY root_messages WHERE m.user_id = $1 AND m.conversation_id = $4 AND m.parent_id IS NULL \
         AND m.id NOT IN (SELECT value FROM json_each($3)) AND m.id NOT IN (SELECT message_id FROM hidden_messages WHERE user_id = $1)";

pub(crate) const SELECT_ACTIVE_RUN: &str = "SELECT m.id, m.parent_id, m.created_at, m.body FROM runs r JOIN messages m USING (id) \
     WHERE r.user_id = $1 AND m.user_id = $1 AND r.conversation_id = $2 AND r.status IN ('running', 'waiting')";

pub(super) async fn transcript(
    connection: &mut Connection,
    user_id: UserId,
    conversation_id: ConversationId,
    page: PageSize,
    reach: Option<MessageId>,
) -> Result<Option<Transcript>, StorageError> {
    let as_of = last_log_position(&mut *connection, user_id).await?;
    let conversation = query(
        "SELECT title, model, parameters, active_leaf, queue_held FROM conversations \
         WHERE user_id = $1 AND id = $2 AND trashed_at IS NULL",
    )
    .bind_value(user_id)
    .bind_value(conversation_id)
    .fetch_optional(&mut *connection)
    .await?;
    let ids = (user_id, conversation_id);
    let Some(conversation) = conversation else {
        require_owner(connection, ids).await?;
        return Ok(None);
    };
    let active_leaf = active_leaf(&mut *connection, ids, &conversation).await?;
    let mut messages = match active_leaf {
        Some(leaf) => read_branch(&mut *connection, ids, leaf, page, reach).await?,
        None => Vec::new(),
    };
    let active_leaf = messages.last().map(|leaf| leaf.id);
    let earliest = earliest_unless_root(&messages);
    match messages.iter_mut().find(|message| is_in_progress(message)) {
        Some(run) => apply_unstored_events(&mut *connection, user_id, run).await?,
        // The active run may belong to a branch that is not shown.
        None => {
            if let Some(run) = active_run(&mut *connection, user_id, conversation_id).await? {
                let later = messages
                    .iter()
                    .position(|other| other.created_at > run.created_at);
                messages.insert(later.unwrap_or(messages.len()), run);
            }
        }
    }
    let verdicts = payloads::payload_verdicts(&mut *connection, user_id, conversation_id).await?;
    let held = number_or_zero("conversations", conversation_id, &conversation, "queue_held")? != 0;
    let queue = queue::queue(&mut *connection, ids, held).await?;
    let elsewhere = unloaded_siblings(connection, ids, &messages, active_leaf).await?;
    Ok(Some(Transcript {
        conversation_id,
        as_of,
        title: text(&conversation, "title")?,
        model: optional_text(&conversation, "model")?,
        parameters: super::parameters::read_parameters(&conversation, conversation_id)?,
        messages,
        earliest,
        elsewhere,
        active_leaf,
        verdicts,
        queue,
        deleted: false,
    }))
}

pub(super) async fn older_messages(
    connection: &mut Connection,
    user_id: UserId,
    conversation_id: ConversationId,
    before: MessageId,
    page: PageSize,
) -> Result<Option<OlderMessages>, StorageError> {
    let ids = (user_id, conversation_id);
    let Some(parent) = branch::parent(&mut *connection, ids, before).await? else {
        return Ok(None);
    };
    let messages = match parent {
        Some(parent) => read_branch(&mut *connection, ids, parent, page, None).await?,
        None => Vec::new(),
    };
    Ok(Some(OlderMessages {
        before,
        earliest: earliest_unless_root(&messages),
        elsewhere: unloaded_siblings(connection, ids, &messages, None).await?,
        messages,
    }))
}

/// Returns the last message of the shown branch: the newest message, if the conversation's row names none.
pub(super) async fn active_leaf(
    connection: &mut Connection,
    (user_id, conversation_id): (UserId, ConversationId),
    conversation: &Row,
) -> Result<Option<MessageId>, StorageError> {
    let leaf = optional_id(conversation, "active_leaf");
    if let Some(leaf) = skip_damaged("conversations", conversation_id, leaf)? {
        return Ok(leaf);
    }
    newest_message(connection, (user_id, conversation_id)).await
}

/// Returns the newest message of a conversation that has a readable id.
pub(super) async fn newest_message(
    connection: &mut Connection,
    (user_id, conversation_id): (UserId, ConversationId),
) -> Result<Option<MessageId>, StorageError> {
    let newest =
        query("SELECT id FROM messages WHERE user_id = $1 AND conversation_id = $2 ORDER BY position DESC");
    let mut rows = newest
        .bind_value(user_id)
        .bind_value(conversation_id)
        .fetch(connection);
    while let Some(row) = rows.try_next().await? {
        if let Some(id) = skip_damaged("messages", text(&row, "id")?, id(&row, "id"))? {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// Returns the first message of a page, if there are others before it.
pub(super) fn earliest_unless_root(page: &[Message]) -> Option<MessageId> {
    page.first()
        .filter(|first| first.parent_id.is_some())
        .map(|first| first.id)
}

/// Returns the other versions of these messages, and the messages after the leaf.
async fn unloaded_siblings(
    connection: &mut Connection,
    (user_id, conversation_id): (UserId, ConversationId),
    messages: &[Message],
    active_leaf: Option<MessageId>,
) -> Result<Vec<UnloadedSibling>, StorageError> {
    let parents = messages.iter().filter_map(|message| message.parent_id);
    let parents: Vec<MessageId> = parents.chain(active_leaf).collect();
    let known: Vec<MessageId> = messages.iter().map(|message| message.id).collect();
    let has_root = messages.iter().any(|message| message.parent_id.is_none());
    let rows = query(SELECT_SIBLINGS)
        .bind_value(user_id)
        .bind_list(&parents)
        .bind_list(&known)
        .bind_value(has_root.then_some(conversation_id))
        .fetch_all(connection)
        .await?;
    let other = |row: &Row| {
        Ok(UnloadedSibling {
            id: id(row, "id")?,
            parent_id: optional_id(row, "parent_id")?,
        })
    };
    let mut elsewhere = read_undamaged_rows("messages", "id", &rows, other)?;
    elsewhere.sort_unstable();
    Ok(elsewhere)
}

/// Returns the answer in progress, with all output of its run.
async fn active_run(
    connection: &mut Connection,
    user_id: UserId,
    conversation_id: ConversationId,
) -> Result<Option<Message>, StorageError> {
    let row = query(SELECT_ACTIVE_RUN)
        .bind_value(user_id)
        .bind_value(conversation_id)
        .fetch_optional(&mut *connection)
        .await?;
    let Some(row) = row else { return Ok(None) };
    let Some(id) = skip_damaged("messages", text(&row, "id")?, id(&row, "id"))? else {
        return Ok(None);
    };
    let mut message = read_message(&mut *connection, &row, id).await?;
    apply_unstored_events(connection, user_id, &mut message).await?;
    Ok(Some(message))
}

pub(super) async fn message(
    connection: &mut Connection,
    user_id: UserId,
    message_id: MessageId,
) -> Result<Option<(ConversationId, Message)>, StorageError> {
    let row = query(
        "SELECT id, conversation_id, parent_id, created_at, body FROM messages WHERE user_id = $1 AND id = $2",
    )
    .bind_value(user_id)
    .bind_value(message_id)
    .fetch_optional(&mut *connection)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let conversation_id = skip_damaged("messages", message_id, id(&row, "conversation_id"))?;
    let Some(conversation_id) = conversation_id else {
        return Ok(None);
    };
    let mut message = read_message(&mut *connection, &row, message_id).await?;
    apply_unstored_events(connection, user_id, &mut message).await?;
    Ok(Some((conversation_id, message)))
}

/// Returns true if the message's run is active.
fn is_in_progress(message: &Message) -> bool {
    let answer = message.assistant();
    answer.is_some_and(|answer| !answer.status.is_terminal())
}

/// Adds the events that are in the log and not yet in the run's message. The event that created the message
/// changes nothing, since the message exists. If an event can't be read, the message is marked as damaged and
/// gets the remaining events that do not depend on it.
async fn apply_unstored_events(
    connection: &mut Connection,
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
    let rows = query(SELECT_UNSTORED_EVENTS)
        .bind_value(user_id)
        .bind_value(run)
        .fetch_all(&mut *connection)
        .await
        .map_err(StorageError::from);
    let rows = match rows {
        Err(error) if error.kind() == StorageErrorKind::Damaged => {
            log_damaged_row("events", format_args!("those of the run {run}"), &error);
            answer.error = Some(RunError::damaged(run));
            select_run(connection, run).await?.into_iter().collect()
        }
        rows => rows?,
    };
    let status = rows.first().map(|row| read_run_status(row, run)).transpose()?;
    for row in rows {
        let name = format_args!("one of the run {run}");
        let event = match skip_damaged("events", name, optional_position(&row, "position"))? {
            Some(None) => continue,
            Some(Some(position)) => {
                let name = format_args!("{user_id}/{}", position.0);
                skip_damaged("events", name, json::<Event>(&row, "event"))?
            }
            None => None,
        };
        let applied = event.and_then(|event| match &event.body {
            EventBody::Run(event) => transcript::apply_to_run(answer, event),
            EventBody::Conversation(_) | EventBody::User(_) | EventBody::Placeholder(_) => {
                Some(RunUpdate::Nothing)
            }
        });
        if applied.is_none() {
            answer.error = Some(RunError::damaged(run));
        }
    }
    // Message and run change together, so one of the rows is damaged. The run is not active.
    if let Some(status) = status.filter(|status| status.is_terminal())
        && !answer.status.is_terminal()
    {
        answer.status = status;
        answer.error = Some(RunError::damaged(run));
    }
    Ok(())
}

/// Reads a stored message, or a placeholder if it is unreadable.
pub(super) async fn read_message(
    connection: &mut Connection,
    row: &Row,
    id: MessageId,
) -> Result<Message, StorageError> {
    let body = match skip_damaged("messages", id, json(row, "body"))? {
        Some(body) => body,
        None => damaged_body(connection, id).await?,
    };
    Ok(Message {
        id,
        parent_id: skip_damaged("messages", id, optional_id(row, "parent_id"))?.flatten(),
        created_at: Timestamp(number_or_zero("messages", id, row, "created_at")?),
        body,
    })
}

/// Returns a placeholder for an unreadable body. A message with a run is an answer, and the run has its
/// status.
async fn damaged_body(connection: &mut Connection, id: MessageId) -> Result<MessageBody, StorageError> {
    Ok(match select_run(connection, id).await? {
        Some(run) => MessageBody::Assistant(AssistantMessage::damaged(id, read_run_status(&run, id)?)),
        None => MessageBody::Damaged,
    })
}

/// Returns the run of a message, without its events.
async fn select_run(connection: &mut Connection, id: MessageId) -> Result<Option<Row>, StorageError> {
    let run = query("SELECT status, NULL AS position FROM runs WHERE id = $1");
    Ok(run.bind_value(id).fetch_optional(connection).await?)
}
