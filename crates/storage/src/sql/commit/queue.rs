//! The queue of a conversation: messages that wait for the end of its run. Each leaves the queue in the transaction
//! that saves it as a message of the user, or when the user removes it.

use crate::sql::database::{Connection, query};

use super::{
    super::{
        messages, queries,
        queue::{StoredQueuedMessage, stored_queue},
    },
    Batch, ChangeError, EMPTY_EVENTS, erase_event,
    list_place::require_not_trashed,
    queue_state::{ConversationKey, active_leaf, is_held, is_queue_empty, must_wait, set_held},
    turns::conflict_as_rejection,
};
use crate::{ChangeRejection, Outcome, PageContextSnapshot, QueueLimits, RunKey, RunStart};
use parlor_protocol::{
    ConversationEvent, EventBody, MessageId, Parameters, UserId,
    intent::{QueueChange, SendMessage, StartedRun},
};

impl Batch<'_> {
    /// Sends a message, or queues it while a run is active or earlier messages wait.
    pub(super) async fn queue_message(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        intent: &SendMessage,
        start: &RunStart,
        limits: QueueLimits,
    ) -> Result<Outcome, ChangeError> {
        let key = (user_id, intent.conversation_id);
        // Another version of an earlier message does not wait: the run that is active then is not its run.
        if intent.replaces.is_some() || !must_wait(&mut *connection, key).await? {
            return Ok(Outcome::Started {
                started: self
                    .send_message(connection, user_id, intent, start, None)
                    .await?,
                again: false,
            });
        }
        let stored = stored_queue(&mut *connection, key).await?;
        check_limits(&stored, None, &intent.text, limits)?;
        if messages::message(&mut *connection, user_id, intent.user_message_id)
            .await?
            .is_some()
        {
            Err(ChangeRejection::IntentReused)?;
        }
        let leaf = active_leaf(&mut *connection, key).await?;
        let interaction = self
            .resolve_interaction(&mut *connection, user_id, leaf, intent)
            .await?;
        // The message goes to the model that is chosen when it is sent, unless it named another one.
        let chosen = queries::conversation_model(&mut *connection, user_id, intent.conversation_id).await?;
        let files = self
            .attach_files(&mut *connection, key, intent.user_message_id, &intent.files, None)
            .await?;
        let queued = StoredQueuedMessage {
            files,
            run: start.run,
            created_at: self.at,
            intent: SendMessage {
                interaction,
                model: intent
                    .model
                    .clone()
                    .filter(|model| Some(model) != chosen.as_ref()),
                ..intent.clone()
            },
        };
        query(
            "INSERT INTO queued_messages (id, user_id, conversation_id, place, run, created_at, intent) VALUES ($1, $2, $3, \
             (SELECT coalesce(max(place), 0) + 1 FROM queued_messages WHERE user_id = $2 AND conversation_id = $3), $4, $5, $6)",
        )
        .bind_value(queued.id())
        .bind_value(user_id)
        .bind_value(intent.conversation_id)
        .bind_value(queued.run)
        .bind_value(self.at)
        .bind(serde_json::to_string(&queued.intent)?)
        .execute(&mut *connection)
        .await
        .map_err(|error| conflict_as_rejection(error, ChangeRejection::IntentReused))?;
        self.log_queued(connection, key, &queued).await?;
        Ok(Outcome::Queued(StartedRun {
            conversation_id: intent.conversation_id,
            user_message_id: intent.user_message_id,
            assistant_message_id: start.run,
        }))
    }

    /// Saves a queued message as a message of the user, and starts its run.
    pub(super) async fn send_queued(
        &mut self,
        connection: &mut Connection,
        run: RunKey,
        user_message_id: MessageId,
    ) -> Result<Outcome, ChangeError> {
        let key = (run.user_id, run.conversation_id);
        let mut stored = stored_queue(&mut *connection, key).await?;
        let index = stored.iter().position(|queued| queued.id() == user_message_id);
        let queued = stored.remove(index.ok_or(ChangeRejection::NotFound)?);
        if is_held(&mut *connection, key).await? {
            Err(ChangeRejection::NotFound)?;
        }
        self.delete_queued(&mut *connection, key, user_message_id).await?;
        let StoredQueuedMessage { intent, .. } = queued;
        let parameters = intent.parameters.as_ref().map(Parameters::parse);
        let context = intent.context.clone();
        let start = RunStart {
            context_snapshot: context.map(|context| {
                Box::new(PageContextSnapshot {
                    context,
                    ..PageContextSnapshot::default()
                })
            }),
            run: run.message_id,
            // The conversation has a model since its first run.
            default_model: String::new(),
            // They were valid when the message was queued.
            parameters: parameters.and_then(Result::ok),
            fingerprint: String::new(),
        };
        let interaction = intent.interaction.clone();
        let started = self
            .send_message(connection, run.user_id, &intent, &start, Some(interaction))
            .await?;
        Ok(Outcome::Started {
            started,
            again: false,
        })
    }

    /// Changes a queue. A message that is not in it any more was sent or removed.
    pub(super) async fn change_queue(
        &mut self,
        connection: &mut Connection,
        key: ConversationKey,
        change: &QueueChange,
        limits: QueueLimits,
    ) -> Result<Outcome, ChangeError> {
        require_not_trashed(&mut *connection, key).await?;
        let mut stored = stored_queue(&mut *connection, key).await?;
        let index_of = |id: MessageId| stored.iter().position(|queued| queued.id() == id);
        let held = is_held(&mut *connection, key).await?;
        match change {
            QueueChange::Edit { message_id, text } => {
                let index = index_of(*message_id).ok_or(ChangeRejection::NotFound)?;
                check_limits(&stored, Some(index), text, limits)?;
                let queued = &mut stored[index];
                if text.trim().is_empty() && queued.files.is_empty() {
                    Err(ChangeRejection::EmptyMessage)?;
                }
                if queued.intent.text != *text {
                    queued.intent.text.clone_from(text);
                    query("UPDATE queued_messages SET intent = $1 WHERE user_id = $2 AND id = $3")
                        .bind(serde_json::to_string(&queued.intent)?)
                        .bind_value(key.0)
                        .bind_value(message_id)
                        .execute(&mut *connection)
                        .await?;
                    self.log_queued(connection, key, queued).await?;
                }
                Ok(Outcome::Done)
            }
            QueueChange::Move { message_id, before } => {
                let index = index_of(*message_id).ok_or(ChangeRejection::NotFound)?;
                let mut ids: Vec<_> = stored.iter().map(StoredQueuedMessage::id).collect();
                ids.remove(index);
                let place = before.and_then(|before| ids.iter().position(|id| *id == before));
                ids.insert(place.unwrap_or(ids.len()), *message_id);
                if index_of(*message_id) != ids.iter().position(|id| id == message_id) {
                    self.store_order(connection, key, ids, held).await?;
                }
                Ok(Outcome::Done)
            }
            QueueChange::Remove { message_id } => {
                let Some(index) = index_of(*message_id) else {
                    return Ok(Outcome::Done);
                };
                stored.remove(index);
                self.delete_queued(&mut *connection, key, *message_id).await?;
                self.delete_queued_files(&mut *connection, key.0, *message_id)
                    .await?;
                self.erase_queued(&mut *connection, key, *message_id).await?;
                let held = held && !stored.is_empty();
                self.log_queue_changed(connection, key, &stored, held).await?;
                Ok(Outcome::DataDeleted)
            }
            QueueChange::Release => {
                if held {
                    set_held(&mut *connection, key, false).await?;
                    self.log_queue_changed(connection, key, &stored, false).await?;
                }
                Ok(Outcome::Done)
            }
        }
    }

    /// Holds the queue of a run that did not complete: its messages may make no sense any more. `is_logged` is false if
    /// the log can't be written.
    pub(super) async fn hold_queue(
        &mut self,
        connection: &mut Connection,
        run: &RunKey,
        is_logged: bool,
    ) -> Result<(), ChangeError> {
        let key = (run.user_id, run.conversation_id);
        if is_queue_empty(&mut *connection, key).await? || is_held(&mut *connection, key).await? {
            return Ok(());
        }
        set_held(&mut *connection, key, true).await?;
        if is_logged {
            let stored = stored_queue(&mut *connection, key).await?;
            self.log_queue_changed(connection, key, &stored, true).await?;
        }
        Ok(())
    }

    /// Stores the order of a queue.
    async fn store_order(
        &mut self,
        connection: &mut Connection,
        key: ConversationKey,
        queued_ids: Vec<MessageId>,
        held: bool,
    ) -> Result<(), ChangeError> {
        query(
            "UPDATE queued_messages SET place = (SELECT min(key) FROM json_each($3) WHERE value = queued_messages.id) \
             WHERE user_id = $1 AND conversation_id = $2 AND id IN (SELECT value FROM json_each($3))",
        )
        .bind_value(key.0)
        .bind_value(key.1)
        .bind_list(&queued_ids)
        .execute(&mut *connection)
        .await?;
        let event = ConversationEvent::QueueChanged { queued_ids, held };
        self.log_event(connection, key.0, key.1, None, event).await?;
        Ok(())
    }

    /// Deletes the row of a message. An empty queue is not held.
    async fn delete_queued(
        &mut self,
        connection: &mut Connection,
        key: ConversationKey,
        message_id: MessageId,
    ) -> Result<(), ChangeError> {
        query("DELETE FROM queued_messages WHERE user_id = $1 AND id = $2")
            .bind_value(key.0)
            .bind_value(message_id)
            .execute(&mut *connection)
            .await?;
        if is_queue_empty(&mut *connection, key).await? {
            set_held(connection, key, false).await?;
        }
        Ok(())
    }

    /// Erases the text of a removed message from the log.
    async fn erase_queued(
        &mut self,
        connection: &mut Connection,
        (user_id, conversation_id): ConversationKey,
        message_id: MessageId,
    ) -> Result<(), ChangeError> {
        query(format!(
            "{EMPTY_EVENTS} AND +user_id = $1 AND conversation_id = $2 AND message_id IS NULL AND json_valid(event) \
                 AND event ->> '$.type' = 'message_queued' AND event ->> '$.queued.id' = $3"
        ))
        .bind_value(user_id)
        .bind_value(conversation_id)
        .bind_value(message_id)
        .execute(connection)
        .await?;
        let is_of_message = |body: &EventBody| {
            matches!(
                body,
                EventBody::Conversation(ConversationEvent::MessageQueued { queued }) if queued.id == message_id
            )
        };
        self.events
            .iter_mut()
            .filter(|logged| is_of_message(&logged.event.body))
            .for_each(erase_event);
        Ok(())
    }

    async fn log_queued(
        &mut self,
        connection: &mut Connection,
        (user_id, conversation_id): ConversationKey,
        queued: &StoredQueuedMessage,
    ) -> Result<(), ChangeError> {
        let event = ConversationEvent::MessageQueued {
            queued: queued.shown(),
        };
        self.log_event(connection, user_id, conversation_id, None, event)
            .await?;
        Ok(())
    }

    async fn log_queue_changed(
        &mut self,
        connection: &mut Connection,
        (user_id, conversation_id): ConversationKey,
        stored: &[StoredQueuedMessage],
        held: bool,
    ) -> Result<(), ChangeError> {
        let queued_ids = stored.iter().map(StoredQueuedMessage::id).collect();
        let event = ConversationEvent::QueueChanged { queued_ids, held };
        self.log_event(connection, user_id, conversation_id, None, event)
            .await?;
        Ok(())
    }
}

/// Rejects a text that does not fit into the queue. `replaced` is the message that gets the text.
fn check_limits(
    stored: &[StoredQueuedMessage],
    replaced: Option<usize>,
    text: &str,
    limits: QueueLimits,
) -> Result<(), ChangeRejection> {
    let others = stored
        .iter()
        .enumerate()
        .filter(|(index, _)| Some(*index) != replaced);
    let lengths: Vec<usize> = others.map(|(_, queued)| queued.intent.text.len()).collect();
    let bytes = lengths.iter().sum::<usize>() + text.len();
    if lengths.len() >= limits.messages || bytes > limits.bytes {
        return Err(ChangeRejection::QueueFull);
    }
    Ok(())
}
