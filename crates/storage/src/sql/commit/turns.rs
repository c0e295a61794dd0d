//! Turns: saving a message, and starting the run that answers it.

use crate::sql::database::{Connection, query, query_scalar};

use super::{
    super::{branch, daily_usage::add_to_day, files, messages, optional_id, optional_text, queries},
    Batch, ChangeError,
    deletion::require_shown,
    page_context::{copy_page_context, insert_page_context},
    personal::ensure_user,
    projects::require_project,
};
use crate::{ChangeRejection, RunKey, RunStart, damage::skip_damaged};
use parlor_protocol::{
    AssistantMessage, ConversationEvent, ConversationId, Interaction, MessageBody, MessageId, Position,
    RunEvent, Timestamp, UserId,
    intent::{Regenerate, SendMessage, StartedRun, derive_title},
};

impl Batch<'_> {
    /// Saves a message and starts its run. `interaction` is the origin of the message if it was verified before.
    pub(super) async fn send_message(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        intent: &SendMessage,
        start: &RunStart,
        interaction: Option<Interaction>,
    ) -> Result<StartedRun, ChangeError> {
        let SendMessage {
            conversation_id,
            user_message_id,
            text,
            ..
        } = intent;
        let run = start.run;
        // A user whose log has grown in this transaction exists already.
        if !self.last_positions.contains_key(&user_id) {
            ensure_user(connection, user_id).await?;
        }
        // Of any user: ids are unique. A deleted conversation has no user.
        let conversation = query(
            "SELECT c.user_id, c.active_leaf, c.model, c.active_leaf IS NULL OR EXISTS (SELECT 1 FROM messages m WHERE m.id = c.active_leaf) AS has_leaf \
             FROM conversations c WHERE c.id = $1 AND c.trashed_at IS NULL \
             UNION ALL SELECT NULL, NULL, NULL, false FROM deleted_conversations WHERE id = $1 \
             UNION ALL SELECT NULL, NULL, NULL, false FROM conversations WHERE id = $1 AND trashed_at IS NOT NULL",
        )
        .bind_value(conversation_id)
        .fetch_optional(&mut *connection)
        .await?;
        let (parent_id, chosen) = match conversation {
            Some(row) => {
                let key = (user_id, *conversation_id);
                if skip_damaged("conversations", conversation_id, optional_id(&row, "user_id"))?.flatten()
                    != Some(user_id)
                {
                    queries::require_owner(&mut *connection, key).await?;
                    Err(ChangeRejection::NotFound)?;
                }
                self.leave_archive(&mut *connection, key).await?;
                // The id of the last message may be damaged.
                let leaf = match row.try_get("has_leaf")? {
                    true => messages::active_leaf(&mut *connection, key, &row).await?,
                    false => messages::newest_message(&mut *connection, key).await?,
                };
                (leaf, optional_text(&row, "model")?)
            }
            None => {
                let title = match &interaction {
                    Some(Interaction::Scheduled(scheduled)) => scheduled.title.clone(),
                    _ => new_title(&mut *connection, user_id, intent).await?,
                };
                if let Some(project_id) = intent.project_id {
                    require_project(&mut *connection, user_id, project_id).await?;
                }
                let created = ConversationEvent::ConversationCreated {
                    title: title.clone(),
                    created_at: self.at,
                    temporary: intent.temporary,
                    project_id: intent.project_id,
                };
                let position = self
                    .log_event(connection, user_id, *conversation_id, None, created)
                    .await?;
                query(
                    "INSERT INTO conversations (id, user_id, title, created_at, updated_at, activity, temporary, project_id) \
                     VALUES ($1, $2, $3, $4, $4, $5, $6, $7)",
                )
                .bind_value(conversation_id)
                .bind_value(user_id)
                .bind(&title)
                .bind_value(self.at)
                .bind_value(position)
                .bind(i64::from(intent.temporary))
                .bind_value(intent.project_id)
                .execute(&mut *connection)
                .await?;
                if intent.project_id.is_some() {
                    self.tell_readers_of_conversation(&mut *connection, (user_id, *conversation_id))
                        .await?;
                }
                (None, None)
            }
        };
        let parent_id = match intent.replaces {
            Some(replaced) => {
                parent_of_replaced(&mut *connection, user_id, *conversation_id, replaced).await?
            }
            None => parent_id,
        };
        let interaction = match interaction {
            Some(interaction) => interaction,
            None => {
                self.resolve_interaction(connection, user_id, parent_id, intent)
                    .await?
            }
        };
        let files = self
            .attach_files(
                &mut *connection,
                (user_id, *conversation_id),
                *user_message_id,
                &intent.files,
                intent.replaces,
            )
            .await?;
        let saved = ConversationEvent::UserMessageSaved {
            user_message_id: *user_message_id,
            expected_assistant_message_id: run,
            parent_id,
            text: text.clone(),
            files: files.clone(),
            interaction: interaction.clone(),
            created_at: self.at,
        };
        let position = self
            .log_event(connection, user_id, *conversation_id, Some(run), saved)
            .await?;
        let body = MessageBody::User {
            text: text.clone(),
            files,
            interaction,
        };
        let placement = MessagePlacement {
            user_id,
            conversation_id: *conversation_id,
            parent_id,
            position,
        };
        insert_message(connection, placement, *user_message_id, self.at, &body).await?;
        if let Some(parameters) = &start.parameters {
            self.set_parameters(connection, user_id, *conversation_id, parameters)
                .await?;
        }
        match (&start.context_snapshot, intent.replaces) {
            (Some(snapshot), _) => {
                insert_page_context(connection, user_id, *user_message_id, snapshot).await?;
            }
            (None, Some(replaced)) => {
                copy_page_context(connection, user_id, replaced, *user_message_id).await?;
            }
            (None, None) => {}
        }
        let key = RunKey {
            user_id,
            conversation_id: *conversation_id,
            message_id: run,
        };
        let model = intent
            .model
            .clone()
            .or(chosen)
            .unwrap_or_else(|| start.default_model.clone());
        self.start_run(connection, key, *user_message_id, &model, Some(position))
            .await?;
        store_forced_tools(connection, key, &intent.force_tools).await?;
        if let Some(replaced) = intent.replaces.filter(|_| intent.force_tools.is_empty()) {
            copy_forced_tools(connection, key, replaced).await?;
        }
        Ok(StartedRun {
            conversation_id: *conversation_id,
            user_message_id: *user_message_id,
            assistant_message_id: run,
        })
    }

    pub(super) async fn regenerate(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        intent: &Regenerate,
        start: &RunStart,
    ) -> Result<StartedRun, ChangeError> {
        let Some((conversation_id, message)) =
            messages::message(connection, user_id, intent.message_id).await?
        else {
            Err(ChangeRejection::NotFound)?
        };
        let (Some(_), Some(parent_id)) = (message.assistant(), message.parent_id) else {
            Err(ChangeRejection::NotFound)?
        };
        if conversation_id != intent.conversation_id {
            Err(ChangeRejection::NotFound)?;
        }
        require_shown(&mut *connection, (user_id, conversation_id), intent.message_id).await?;
        self.leave_archive(&mut *connection, (user_id, conversation_id))
            .await?;
        let chosen = queries::conversation_model(&mut *connection, user_id, conversation_id).await?;
        let model = intent
            .model
            .clone()
            .or(chosen)
            .unwrap_or_else(|| start.default_model.clone());
        let key = RunKey {
            user_id,
            conversation_id,
            message_id: start.run,
        };
        self.start_run(connection, key, parent_id, &model, None).await?;
        Ok(StartedRun {
            conversation_id,
            user_message_id: parent_id,
            assistant_message_id: start.run,
        })
    }

    /// Refuses a run of a user who has the maximum number of active ones, at any node. In a conversation that is being answered, the
    /// limit does not count: no run starts there.
    pub(super) async fn require_place(
        &self,
        connection: &mut Connection,
        run: RunKey,
    ) -> Result<(), ChangeError> {
        let Some(max) = self.max_runs else {
            return Ok(());
        };
        // Twice, since the index of active runs is for the first condition.
        let active: i64 = query_scalar(
            "SELECT count(*) FROM runs WHERE user_id = $1 AND conversation_id <> $2 AND status IN ('running', 'waiting') \
             AND status = 'running'",
        )
        .bind_value(run.user_id)
        .bind_value(run.conversation_id)
        .fetch_one(connection)
        .await?;
        match usize::try_from(active).is_ok_and(|active| active < max) {
            true => Ok(()),
            false => Err(ChangeRejection::TooManyRuns)?,
        }
    }

    /// Starts a run that answers `parent_id`. Its first event is at `first`; without that, the event of the
    /// start is the first.
    async fn start_run(
        &mut self,
        connection: &mut Connection,
        run: RunKey,
        parent_id: MessageId,
        model: &str,
        first: Option<Position>,
    ) -> Result<(), ChangeError> {
        self.require_place(&mut *connection, run).await?;
        let started = RunEvent::RunStarted {
            parent_id,
            model: model.to_owned(),
            created_at: self.at,
        };
        let RunKey {
            user_id,
            conversation_id,
            message_id,
        } = run;
        let position = self
            .log_event(connection, user_id, conversation_id, Some(message_id), started)
            .await?;
        let body = MessageBody::Assistant(AssistantMessage::new(model));
        query(START_RUN)
            .bind_value(user_id)
            .bind_value(conversation_id)
            .bind_value(message_id)
            .bind_value(self.at)
            .bind_value(position)
            .bind_value(parent_id)
            .bind(serde_json::to_string(&body)?)
            .bind_value(first.unwrap_or(position))
            .bind(model)
            .bind_value(self.owner)
            .execute(connection)
            .await
            .map_err(|error| {
                let rejection = if is_active_run_conflict(&error) {
                    ChangeRejection::RunActive
                } else {
                    ChangeRejection::IntentReused
                };
                conflict_as_rejection(error, rejection)
            })?;
        Ok(())
    }
}

/// Returns the title of a conversation that begins with this message: from its text, else its first file.
async fn new_title(
    connection: &mut Connection,
    user_id: UserId,
    intent: &SendMessage,
) -> Result<String, ChangeError> {
    let first_file = match intent.files.first() {
        Some(first) => files::file(connection, user_id, *first).await?,
        None => None,
    };
    let name = first_file.as_ref().map(|file| file.attachment.name.as_str());
    Ok(derive_title(&intent.text, name))
}

/// Starts a run, perhaps with another model: its message becomes the shown one, and its conversation moves to
/// the top of the list. It counts in the usage of its day.
const START_RUN: &str = concat!(
    "INSERT INTO messages (id, user_id, conversation_id, parent_id, position, created_at, body) \
         VALUES ($3, $1, $2, $6, $5, $4, $7); \
     INSERT INTO runs (id, user_id, conversation_id, status, first_position, owner) VALUES ($3, $1, $2, 'running', $8, $10); \
     UPDATE conversations SET active_leaf = $3, updated_at = $4, activity = $5, unseen = 0, model = $9 \
         WHERE user_id = $1 AND id = $2; \
     INSERT INTO daily_usage (user_id, day, runs) VALUES ($1, $4 / 86400000, 1) ",
    add_to_day!()
);

/// Stores the tools that the first model call must use, in this run and in every other one that answers the
/// same message.
async fn store_forced_tools(
    connection: &mut Connection,
    run: RunKey,
    tools: &[String],
) -> Result<(), ChangeError> {
    if tools.is_empty() {
        return Ok(());
    }
    query("UPDATE runs SET force_tools = $1 WHERE user_id = $2 AND id = $3")
        .bind(serde_json::to_string(tools)?)
        .bind_value(run.user_id)
        .bind_value(run.message_id)
        .execute(connection)
        .await?;
    Ok(())
}

/// Returns the message that a message of the user follows, for another version of it.
async fn parent_of_replaced(
    connection: &mut Connection,
    user_id: UserId,
    conversation_id: ConversationId,
    replaced: MessageId,
) -> Result<Option<MessageId>, ChangeError> {
    match messages::message(&mut *connection, user_id, replaced).await? {
        Some((found_in, message)) if found_in == conversation_id && message.assistant().is_none() => {
            let key = (user_id, conversation_id);
            require_shown(&mut *connection, key, replaced).await?;
            Ok(branch::parent(connection, key, replaced).await?.flatten())
        }
        _ => Err(ChangeRejection::NotFound)?,
    }
}

/// Gives another version of a message the forced tools of the first one.
async fn copy_forced_tools(
    connection: &mut Connection,
    run: RunKey,
    replaced: MessageId,
) -> Result<(), ChangeError> {
    query(
        "UPDATE runs SET force_tools = (SELECT r.force_tools FROM messages m JOIN runs r ON r.id = m.id \
             WHERE m.user_id = $1 AND m.parent_id = $3 AND r.force_tools IS NOT NULL LIMIT 1) \
         WHERE user_id = $1 AND id = $2",
    )
    .bind_value(run.user_id)
    .bind_value(run.message_id)
    .bind_value(replaced)
    .execute(connection)
    .await?;
    Ok(())
}

/// The place of a message in its conversation.
struct MessagePlacement {
    user_id: UserId,
    conversation_id: ConversationId,
    parent_id: Option<MessageId>,
    position: Position,
}

async fn insert_message(
    connection: &mut Connection,
    placement: MessagePlacement,
    id: MessageId,
    at: Timestamp,
    body: &MessageBody,
) -> Result<(), ChangeError> {
    query(
        "INSERT INTO messages (id, user_id, conversation_id, parent_id, position, created_at, body) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
    )
    .bind_value(id)
    .bind_value(placement.user_id)
    .bind_value(placement.conversation_id)
    .bind_value(placement.parent_id)
    .bind_value(placement.position)
    .bind_value(at)
    .bind(serde_json::to_string(body)?)
    .execute(connection)
    .await
    .map_err(|error| conflict_as_rejection(error, ChangeRejection::IntentReused))?;
    Ok(())
}

/// Returns true if the error means that another run is active in the conversation.
fn is_active_run_conflict(error: &sqlx::Error) -> bool {
    let names_it = |cause: &dyn sqlx::error::DatabaseError| match cause.constraint() {
        Some(constraint) => constraint == "one_active_run_per_conversation",
        // SQLite names the columns.
        None => cause.message().contains("runs."),
    };
    matches!(error, sqlx::Error::Database(cause) if names_it(&**cause))
}

/// Converts a key conflict into a rejection: it is the request's fault, not the database's.
pub(super) fn conflict_as_rejection(error: sqlx::Error, rejection: ChangeRejection) -> ChangeError {
    match &error {
        sqlx::Error::Database(cause) if cause.is_unique_violation() => ChangeError::Rejected(rejection),
        _ => ChangeError::Storage(error.into()),
    }
}
