//! Turns: saving a message, starting the run that answers it, letting it go on.

use sqlx::SqliteConnection;

use super::{
    super::{messages, optional_id, optional_text, read},
    Batch, Failure,
    literature::keep_looking,
    output::store_answer,
    personal::user,
};
use crate::{
    protocol::{
        AssistantMessage, ConversationId, EventBody, MessageBody, MessageId, Position, RunStatus, Timestamp,
        UserId,
        intent::{Continue, Regenerate, SendMessage, Started, title_from},
        transcript::apply_to_run,
    },
    storage::{Refusal, RunKey, Start},
};

impl Batch {
    pub(super) async fn send(
        &mut self,
        connection: &mut SqliteConnection,
        user_id: UserId,
        intent: &SendMessage,
        start: &Start,
    ) -> Result<Started, Failure> {
        let SendMessage {
            conversation_id,
            user_message_id,
            text,
            ..
        } = intent;
        let run = start.run;
        // Whose log has grown in this transaction is known already.
        if !self.heads.contains_key(&user_id) {
            user(connection, user_id).await?;
        }
        // Whosesoever it is: an id is there once. One that is gone has no user.
        let conversation = sqlx::query(
            "SELECT user_id, active_leaf, model FROM conversations WHERE id = ?1 \
             UNION ALL SELECT NULL, NULL, NULL FROM deleted_conversations WHERE id = ?1",
        )
        .bind(conversation_id.to_string())
        .fetch_optional(&mut *connection)
        .await?;
        let (parent_id, chosen) = match conversation {
            Some(row) if optional_id(&row, "user_id")? != Some(user_id) => Err(Refusal::NotFound)?,
            Some(row) => {
                let whose = (user_id, *conversation_id);
                let leaf = messages::active_leaf(&mut *connection, whose, &row).await?;
                (leaf, optional_text(&row, "model")?)
            }
            None => {
                let title = title_from(text);
                let created = EventBody::ConversationCreated {
                    title: title.clone(),
                    created_at: self.at,
                };
                let position = self
                    .log(connection, user_id, *conversation_id, None, created)
                    .await?;
                sqlx::query(
                    "INSERT INTO conversations (id, user_id, title, created_at, updated_at, activity) \
                     VALUES (?1, ?2, ?3, ?4, ?4, ?5)",
                )
                .bind(conversation_id.to_string())
                .bind(user_id.to_string())
                .bind(&title)
                .bind(self.at.0)
                .bind(position.0.cast_signed())
                .execute(&mut *connection)
                .await?;
                (None, None)
            }
        };
        let interaction = self.interaction(connection, user_id, parent_id, intent).await?;
        let saved = EventBody::UserMessageSaved {
            user_message_id: *user_message_id,
            expected_assistant_message_id: run,
            parent_id,
            text: text.clone(),
            interaction: interaction.clone(),
            created_at: self.at,
        };
        let position = self
            .log(connection, user_id, *conversation_id, Some(run), saved)
            .await?;
        let body = MessageBody::User {
            text: text.clone(),
            interaction,
        };
        let place = Place {
            user_id,
            conversation_id: *conversation_id,
            parent_id,
            position,
        };
        insert_message(connection, place, *user_message_id, self.at, &body).await?;
        if let Some(parameters) = &start.parameters {
            self.set_parameters(connection, user_id, *conversation_id, parameters)
                .await?;
        }
        if let Some(looking) = &start.looking {
            keep_looking(connection, user_id, *user_message_id, looking).await?;
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
        self.start(connection, key, *user_message_id, &model, Some(position))
            .await?;
        force_tools(connection, key, &intent.force_tools).await?;
        Ok(Started {
            conversation_id: *conversation_id,
            user_message_id: *user_message_id,
            assistant_message_id: run,
        })
    }

    pub(super) async fn regenerate(
        &mut self,
        connection: &mut SqliteConnection,
        user_id: UserId,
        intent: &Regenerate,
        start: &Start,
    ) -> Result<Started, Failure> {
        let Some((conversation_id, message)) =
            messages::message(connection, user_id, intent.message_id).await?
        else {
            Err(Refusal::NotFound)?
        };
        let (Some(_), Some(parent_id)) = (message.assistant(), message.parent_id) else {
            Err(Refusal::NotFound)?
        };
        if conversation_id != intent.conversation_id {
            Err(Refusal::NotFound)?;
        }
        let chosen = read::model(&mut *connection, user_id, conversation_id).await?;
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
        self.start(connection, key, parent_id, &model, None).await?;
        Ok(Started {
            conversation_id,
            user_message_id: parent_id,
            assistant_message_id: start.run,
        })
    }

    /// Lets a run that was broken off go on: it begins anew at this place of the log, with what it had in its message.
    pub(super) async fn go_on(
        &mut self,
        connection: &mut SqliteConnection,
        user_id: UserId,
        intent: &Continue,
    ) -> Result<Started, Failure> {
        let Continue {
            conversation_id,
            message_id,
            ..
        } = *intent;
        let Some((found_in, mut message)) = messages::message(connection, user_id, message_id).await? else {
            Err(Refusal::NotFound)?
        };
        let parent_id = message.parent_id;
        let (Some(assistant), Some(user_message_id)) = (message.assistant_mut(), parent_id) else {
            Err(Refusal::NotFound)?
        };
        if found_in != conversation_id {
            Err(Refusal::NotFound)?;
        }
        match assistant.status {
            RunStatus::Running | RunStatus::Waiting => Err(Refusal::RunActive)?,
            RunStatus::Complete if !assistant.is_cut_short() => Err(Refusal::NotContinuable)?,
            // What it had is kept as it is, unreadable: going on would write over it.
            _ if assistant.is_damaged() && assistant.is_empty() => Err(Refusal::NotContinuable)?,
            RunStatus::Complete | RunStatus::Stopped | RunStatus::Failed | RunStatus::Interrupted => {}
        }
        let followers: i64 =
            sqlx::query_scalar("SELECT count(*) FROM messages WHERE user_id = ? AND parent_id = ?")
                .bind(user_id.to_string())
                .bind(message_id.to_string())
                .fetch_one(&mut *connection)
                .await?;
        if followers > 0 {
            Err(Refusal::NotContinuable)?;
        }
        let event = EventBody::RunContinued { created_at: self.at };
        apply_to_run(assistant, &event);
        store_answer(connection, user_id, message_id, assistant).await?;
        let position = self
            .log(connection, user_id, conversation_id, Some(message_id), event)
            .await?;
        sqlx::query(GO_ON)
            .bind(user_id.to_string())
            .bind(conversation_id.to_string())
            .bind(message_id.to_string())
            .bind(self.at.0)
            .bind(position.0.cast_signed())
            .execute(connection)
            .await
            .map_err(|error| taken(error, Refusal::RunActive))?;
        Ok(Started {
            conversation_id,
            user_message_id,
            assistant_message_id: message_id,
        })
    }

    /// Starts a run that answers `parent_id`. Its first event is at `first`; without that, it is the start itself.
    async fn start(
        &mut self,
        connection: &mut SqliteConnection,
        run: RunKey,
        parent_id: MessageId,
        model: &str,
        first: Option<Position>,
    ) -> Result<(), Failure> {
        let started = EventBody::RunStarted {
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
            .log(connection, user_id, conversation_id, Some(message_id), started)
            .await?;
        let body = MessageBody::Assistant(AssistantMessage::started(model));
        sqlx::query(START)
            .bind(user_id.to_string())
            .bind(conversation_id.to_string())
            .bind(message_id.to_string())
            .bind(parent_id.to_string())
            .bind(position.0.cast_signed())
            .bind(self.at.0)
            .bind(serde_json::to_string(&body)?)
            .bind(first.unwrap_or(position).0.cast_signed())
            .bind(model)
            .execute(connection)
            .await
            .map_err(|error| {
                let refusal = if is_of_runs(&error) {
                    Refusal::RunActive
                } else {
                    Refusal::IntentReused
                };
                taken(error, refusal)
            })?;
        Ok(())
    }
}

/// A run begins, perhaps with another model: its message is the one that is shown, and its conversation goes to the top of the list.
pub(super) const START: &str = "INSERT INTO messages (id, user_id, conversation_id, parent_id, position, created_at, body) \
         VALUES (?3, ?1, ?2, ?4, ?5, ?6, ?7); \
     INSERT INTO runs (id, user_id, conversation_id, status, first_position) VALUES (?3, ?1, ?2, 'running', ?8); \
     UPDATE conversations SET active_leaf = ?3, updated_at = ?6, activity = ?5, unseen = 0, model = ?9 \
         WHERE user_id = ?1 AND id = ?2";

/// A run that was broken off goes on.
pub(super) const GO_ON: &str = "UPDATE runs SET status = 'running', first_position = ?5, last_position = NULL WHERE user_id = ?1 AND id = ?3; \
     UPDATE conversations SET active_leaf = ?3, updated_at = ?4, activity = ?5, unseen = 0 WHERE user_id = ?1 AND id = ?2";

/// The first call of the model has to use these, in this run and in every other one that answers the same message.
async fn force_tools(
    connection: &mut SqliteConnection,
    run: RunKey,
    tools: &[String],
) -> Result<(), Failure> {
    if tools.is_empty() {
        return Ok(());
    }
    sqlx::query("UPDATE runs SET force_tools = ? WHERE user_id = ? AND id = ?")
        .bind(serde_json::to_string(tools)?)
        .bind(run.user_id.to_string())
        .bind(run.message_id.to_string())
        .execute(connection)
        .await?;
    Ok(())
}

/// Where a message belongs.
struct Place {
    user_id: UserId,
    conversation_id: ConversationId,
    parent_id: Option<MessageId>,
    position: Position,
}

async fn insert_message(
    connection: &mut SqliteConnection,
    place: Place,
    id: MessageId,
    at: Timestamp,
    body: &MessageBody,
) -> Result<(), Failure> {
    sqlx::query(
        "INSERT INTO messages (id, user_id, conversation_id, parent_id, position, created_at, body) \
         VALUES (?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(id.to_string())
    .bind(place.user_id.to_string())
    .bind(place.conversation_id.to_string())
    .bind(place.parent_id.map(|id| id.to_string()))
    .bind(place.position.0.cast_signed())
    .bind(at.0)
    .bind(serde_json::to_string(body)?)
    .execute(connection)
    .await
    .map_err(|error| taken(error, Refusal::IntentReused))?;
    Ok(())
}

/// Whether it is a run that is in the way of something.
fn is_of_runs(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Database(cause) if cause.message().contains("runs."))
}

/// A row with this key is there already: the request's fault, not the database's.
fn taken(error: sqlx::Error, refusal: Refusal) -> Failure {
    match &error {
        sqlx::Error::Database(cause) if cause.is_unique_violation() => Failure::Refused(refusal),
        _ => Failure::Broken(error.into()),
    }
}
