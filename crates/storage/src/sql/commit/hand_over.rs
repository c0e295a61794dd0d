//! The hand-over of a user's conversations, projects, files and library to another user, before the account is deleted.
//!
//! The rows change their owner and nothing else: the contents of files stay where they are. Positions are those of the
//! former owner's log. They only order the messages of a conversation, so they are moved below the first position of a log,
//! before all that is added later. The new owner's log gets the same events as for a branch of a conversation: they ask for
//! snapshots.

use crate::sql::database::{Connection, query, query_scalar};

use super::{
    super::{id, literature, log_page, optional_id, optional_text, projects},
    Batch, ChangeError,
};
use crate::{ChangeRejection, Outcome, audit::Actor, damage::skip_damaged};
use parlor_protocol::{
    ConversationEvent, ConversationId, UserId,
    literature::{Library, LibraryChange},
};

/// Deletes the owner's private content: messages that are hidden or were never sent, with their files.
const DELETE_UNSHARED: [&str; 3] = [
    "DELETE FROM messages WHERE user_id = $1 AND id IN (SELECT message_id FROM hidden_messages WHERE user_id = $1)",
    "DELETE FROM files WHERE user_id = $1 AND project_id IS NULL AND (message_id IS NULL OR message_id IN (SELECT id FROM queued_messages WHERE user_id = $1))",
    "DELETE FROM queued_messages WHERE user_id = $1",
];

/// Ends the jobs of the owner that a request has continued since all were stopped. What works on them can store nothing afterwards.
const INTERRUPT_JOBS: &str = "UPDATE jobs SET status = 'interrupted', waits_for = NULL, left_ms = NULL, ended_at = $2 \
     WHERE user_id = $1 AND status = 'running'";

/// Changes the owner (`$1`) to another one (`$2`). `$3` is the last position of the former owner's log. The records of model
/// calls and the permissions for tools stay, and are deleted with the account: they have the former owner's instructions and
/// decisions. An article that both have saved stays as the new owner has it.
pub(crate) const CHANGE_OWNER: [&str; 17] = [
    "UPDATE messages SET user_id = $2, position = position - $3 WHERE user_id = $1",
    // The log has no events of these runs: each ends before it begins, so that no client waits for more.
    "UPDATE runs SET user_id = $2, first_position = c.activity, last_position = c.activity - 1, stored_position = 0 \
     FROM conversations c WHERE c.id = runs.conversation_id AND runs.user_id = $1",
    "UPDATE payload_verdicts SET user_id = $2, position = position - $3 WHERE user_id = $1",
    "UPDATE payloads SET user_id = $2 WHERE user_id = $1",
    "UPDATE summaries SET user_id = $2 WHERE user_id = $1",
    "UPDATE contexts SET user_id = $2 WHERE user_id = $1",
    "UPDATE opaque SET user_id = $2 WHERE user_id = $1",
    "UPDATE attachments SET user_id = $2 WHERE user_id = $1",
    "UPDATE files SET user_id = $2, stored_by = coalesce(stored_by, user_id) WHERE user_id = $1",
    "UPDATE articles SET user_id = $2 WHERE user_id = $1 \
     AND NOT EXISTS (SELECT 1 FROM articles kept WHERE kept.user_id = $2 AND kept.pmid = articles.pmid)",
    "UPDATE projects SET user_id = $2 WHERE user_id = $1",
    // Those of no project are about the former owner.
    "UPDATE memories SET user_id = $2 WHERE user_id = $1 AND project_id IS NOT NULL",
    "UPDATE streams SET user_id = $2 WHERE user_id = $1",
    // The events of a job are snapshots, and the new owner's list is loaded.
    // The newest job of columns has the answers that are shown: it must not hide the new owner's.
    "UPDATE jobs SET user_id = $2 WHERE user_id = $1 AND (kind <> 'columns' \
     OR NOT EXISTS (SELECT 1 FROM jobs own WHERE own.user_id = $2 AND own.kind = 'columns' AND own.input = jobs.input))",
    "UPDATE job_steps SET user_id = $2 WHERE user_id = $1 AND job_id IN (SELECT id FROM jobs WHERE user_id = $2)",
    "UPDATE row_columns SET user_id = $2 WHERE user_id = $1",
    "UPDATE corrected_cells SET user_id = $2 WHERE user_id = $1",
];

/// Notes that an account is being deleted.
pub(super) async fn begin_deletion(
    connection: &mut Connection,
    (user_id, heir): (UserId, Option<UserId>),
    by: &Actor,
) -> Result<Outcome, ChangeError> {
    if let Some(heir) = heir {
        require_heir(&mut *connection, user_id, heir).await?;
    }
    query(
        "INSERT INTO pending_deletions (user_id, heir, actor, address) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (user_id) DO UPDATE SET heir = excluded.heir, actor = excluded.actor, address = excluded.address",
    )
    .bind_value(user_id)
    .bind_value(heir)
    .bind_value(by.user_id)
    .bind(&by.address)
    .execute(connection)
    .await?;
    Ok(Outcome::DataDeleted)
}

/// Checks that a deletion with this heir has begun and was not given up, nor begun again with another one.
pub(super) async fn require_begun(
    connection: &mut Connection,
    user_id: UserId,
    heir: Option<UserId>,
) -> Result<(), ChangeError> {
    let has_begun: bool = query_scalar(
        "SELECT EXISTS (SELECT 1 FROM pending_deletions WHERE user_id = $1 AND heir IS NOT DISTINCT FROM $2)",
    )
    .bind_value(user_id)
    .bind_value(heir)
    .fetch_one(connection)
    .await?;
    if !has_begun {
        Err(ChangeRejection::DeletionGivenUp)?;
    }
    Ok(())
}

/// Checks that an heir is another user with an account.
async fn require_heir(connection: &mut Connection, user_id: UserId, heir: UserId) -> Result<(), ChangeError> {
    let has_account: bool = query_scalar("SELECT EXISTS (SELECT 1 FROM accounts WHERE user_id = $1)")
        .bind_value(heir)
        .fetch_one(connection)
        .await?;
    if !has_account || heir == user_id {
        Err(ChangeRejection::NoHeir)?;
    }
    Ok(())
}

impl Batch<'_> {
    /// Gives a user's conversations, files and library to another user. No run may be active.
    pub(super) async fn hand_over(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        heir: UserId,
    ) -> Result<(), ChangeError> {
        require_heir(&mut *connection, user_id, heir).await?;
        let is_active: bool = query_scalar(
            "SELECT EXISTS (SELECT 1 FROM runs WHERE user_id = $1 AND status IN ('running', 'waiting'))",
        )
        .bind_value(user_id)
        .fetch_one(&mut *connection)
        .await?;
        if is_active {
            Err(ChangeRejection::RunActive)?;
        }
        query("DELETE FROM conversations WHERE user_id = $1 AND (temporary <> 0 OR trashed_at IS NOT NULL)")
            .bind_value(user_id)
            .execute(&mut *connection)
            .await?;
        self.delete_hidden(&mut *connection, user_id).await?;
        for statement in DELETE_UNSHARED {
            query(statement)
                .bind_value(user_id)
                .execute(&mut *connection)
                .await?;
        }
        self.delete_lost_columns(&mut *connection, Some(user_id)).await?;
        query(INTERRUPT_JOBS)
            .bind_value(user_id)
            .bind_value(self.at)
            .execute(&mut *connection)
            .await?;
        let library = literature::library(&mut *connection, user_id).await?;
        let projects = projects::projects(&mut *connection, user_id).await?;
        let head = log_page::last_log_position(&mut *connection, user_id).await?;
        let leaves = self
            .hand_over_conversations(&mut *connection, user_id, heir)
            .await?;
        for statement in CHANGE_OWNER {
            let mut query = query(statement).bind_value(user_id).bind_value(heir);
            if statement.contains("$3") {
                query = query.bind_value(head);
            }
            query.execute(&mut *connection).await?;
        }
        for listed in projects {
            self.log_project(&mut *connection, (heir, listed.id), false)
                .await?;
        }
        for (conversation_id, leaf_id) in leaves {
            // No log has the messages: this asks for a snapshot.
            self.log_event(
                connection,
                heir,
                conversation_id,
                None,
                ConversationEvent::LeafSelected { leaf_id },
            )
            .await?;
        }
        self.log_library(connection, (user_id, heir), library).await
    }

    /// Deletes the hidden messages with all that follow them. What is left has a damaged id and is deleted by its row.
    async fn delete_hidden(&self, connection: &mut Connection, user_id: UserId) -> Result<(), ChangeError> {
        let rows = query("SELECT conversation_id, message_id FROM hidden_messages WHERE user_id = $1")
            .bind_value(user_id)
            .fetch_all(&mut *connection)
            .await?;
        for row in &rows {
            let read = || Ok(((user_id, id(row, "conversation_id")?), id(row, "message_id")?));
            let found = skip_damaged("hidden_messages", "of a deleted user", read())?;
            if let Some((key, message_id)) = found {
                self.delete_subtree(&mut *connection, key, message_id).await?;
            }
        }
        Ok(())
    }

    /// Changes the owner of the conversations, and announces them in their order. Returns their last messages.
    async fn hand_over_conversations(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        heir: UserId,
    ) -> Result<Vec<(ConversationId, parlor_protocol::MessageId)>, ChangeError> {
        let rows =
            query("SELECT id, title, active_leaf, project_id FROM conversations WHERE user_id = $1 ORDER BY activity")
                .bind_value(user_id)
                .fetch_all(&mut *connection)
                .await?;
        let mut leaves = Vec::new();
        for row in &rows {
            let name: String = row.try_get("id")?;
            let found = skip_damaged("conversations", &name, id::<ConversationId>(row, "id"))?;
            let Some(conversation_id) = found else { continue };
            let created = ConversationEvent::ConversationCreated {
                title: optional_text(row, "title")?.unwrap_or_default(),
                created_at: self.at,
                temporary: false,
                project_id: skip_damaged("conversations", &name, optional_id(row, "project_id"))?.flatten(),
            };
            let position = self
                .log_event(&mut *connection, heir, conversation_id, None, created)
                .await?;
            query(
                "UPDATE conversations SET user_id = $2, activity = $3, updated_at = $4, unseen = 0, queue_held = 0, pinned = 0, archived = 0 \
                 WHERE id = $1 AND user_id = $5",
            )
            .bind(&name)
            .bind_value(heir)
            .bind_value(position)
            .bind_value(self.at)
            .bind_value(user_id)
            .execute(&mut *connection)
            .await?;
            let leaf = skip_damaged("conversations", &name, optional_id(row, "active_leaf"))?.flatten();
            leaves.extend(leaf.map(|leaf| (conversation_id, leaf)));
        }
        Ok(leaves)
    }

    /// Logs the additions to the new owner's library.
    async fn log_library(
        &mut self,
        connection: &mut Connection,
        (user_id, heir): (UserId, UserId),
        library: Library,
    ) -> Result<(), ChangeError> {
        let kept = literature::library(&mut *connection, user_id).await?;
        for saved in library.articles {
            let is_known = kept
                .articles
                .iter()
                .any(|kept| kept.article.pmid == saved.article.pmid);
            if !is_known {
                let change = LibraryChange::ArticleSaved(saved);
                self.log_library_change(connection, heir, &change).await?;
            }
        }
        for stream in library.streams {
            let change = LibraryChange::StreamSaved(stream);
            self.log_library_change(connection, heir, &change).await?;
        }
        Ok(())
    }
}
