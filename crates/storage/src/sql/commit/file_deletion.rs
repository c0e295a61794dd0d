//! The deletion of a file by its user, wherever it is used.

use std::collections::BTreeMap;

use super::{
    super::{id, messages, optional_id},
    Batch, ChangeError,
    run_output::update_body,
};
use crate::{
    ChangeRejection, Outcome,
    damage::skip_damaged,
    sql::database::{Connection, query},
};
use parlor_protocol::{AttachmentId, ConversationEvent, ConversationId, MessageId, ProjectId, UserId};

/// All files that share the content of one (`$2`).
const SELECT_SHARING: &str = "SELECT o.id, o.message_id, o.project_id FROM files f JOIN files o ON o.user_id = f.user_id \
         AND o.stored_name = f.stored_name WHERE f.user_id = $1 AND f.id = $2 ORDER BY o.id";

/// True if an answer in a conversation of some messages (`$2`) or projects (`$3`) is being written, or one of the messages waits in a queue.
const HAS_UNFINISHED: &str = "SELECT EXISTS (SELECT 1 FROM runs r WHERE r.user_id = $1 AND r.status IN ('running', 'waiting') \
         AND r.conversation_id IN (SELECT conversation_id FROM messages WHERE user_id = $1 AND id IN (SELECT value FROM json_each($2)) \
         UNION SELECT id FROM conversations WHERE user_id = $1 AND project_id IN (SELECT value FROM json_each($3)))) \
     OR EXISTS (SELECT 1 FROM queued_messages WHERE user_id = $1 AND id IN (SELECT value FROM json_each($2))) AS unfinished";

/// The messages in conversations of some (`$2`) whose bodies name a file (`$3`): answers that show it again have no row of it.
const SELECT_NAMING: &str = "SELECT m.id FROM messages m WHERE m.user_id = $1 AND m.conversation_id IN \
         (SELECT conversation_id FROM messages WHERE user_id = $1 AND id IN (SELECT value FROM json_each($2))) \
     AND EXISTS (SELECT 1 FROM json_each($3) file WHERE instr(m.body, file.value) > 0) ORDER BY m.id";

const DELETE_FILES: &str = "DELETE FROM files WHERE user_id = $1 AND id IN (SELECT value FROM json_each($2))";

/// Deletes what the server has made of the conversations of some messages (`$2`) or projects (`$3`), in which a model was given their files:
/// the records of model calls have the texts, and a summary may.
const DELETE_DERIVED: [&str; 2] = [
    "DELETE FROM model_calls WHERE user_id = $1 AND conversation_id IN \
         (SELECT conversation_id FROM messages WHERE user_id = $1 AND id IN (SELECT value FROM json_each($2)) \
         UNION SELECT id FROM conversations WHERE user_id = $1 AND project_id IN (SELECT value FROM json_each($3)))",
    "DELETE FROM summaries WHERE user_id = $1 AND conversation_id IN \
         (SELECT conversation_id FROM messages WHERE user_id = $1 AND id IN (SELECT value FROM json_each($2)) \
         UNION SELECT id FROM conversations WHERE user_id = $1 AND project_id IN (SELECT value FROM json_each($3)))",
];

/// Refuses to delete files that an answer may be using: its next model call would be recorded with their texts.
pub(super) async fn refuse_unfinished(
    connection: &mut Connection,
    user_id: UserId,
    message_ids: &[MessageId],
    project_ids: &[ProjectId],
) -> Result<(), ChangeError> {
    let unfinished = query(HAS_UNFINISHED)
        .bind_value(user_id)
        .bind_list(message_ids)
        .bind_list(project_ids)
        .fetch_one(&mut *connection)
        .await?;
    match unfinished.try_get("unfinished")? {
        true => Err(ChangeRejection::FileInUse)?,
        false => Ok(()),
    }
}

impl Batch<'_> {
    /// Deletes what may have the texts of files that are being deleted: of messages, and of projects. Summaries are made again
    /// without them.
    pub(super) async fn delete_derived(
        &self,
        connection: &mut Connection,
        user_id: UserId,
        message_ids: &[MessageId],
        project_ids: &[ProjectId],
    ) -> Result<(), ChangeError> {
        for delete in DELETE_DERIVED {
            query(delete)
                .bind_value(user_id)
                .bind_list(message_ids)
                .bind_list(project_ids)
                .execute(&mut *connection)
                .await?;
        }
        Ok(())
    }

    /// Deletes a content with all files that share it. Deleting a missing one has no effect.
    pub(super) async fn delete_content(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        file_id: AttachmentId,
    ) -> Result<Outcome, ChangeError> {
        let rows = query(SELECT_SHARING)
            .bind_value(user_id)
            .bind_value(file_id)
            .fetch_all(&mut *connection)
            .await?;
        let (mut ids, mut in_messages, mut projects) = (Vec::new(), Vec::new(), Vec::new());
        for row in &rows {
            let found = skip_damaged("files", file_id, id::<AttachmentId>(row, "id"))?;
            let Some(found) = found else { continue };
            ids.push(found);
            let message_id = optional_id::<MessageId>(row, "message_id");
            if let Some(Some(message_id)) = skip_damaged("files", found, message_id)? {
                in_messages.push(message_id);
            }
            let project_id = optional_id::<ProjectId>(row, "project_id");
            if let Some(Some(project_id)) = skip_damaged("files", found, project_id)?
                && !projects.contains(&project_id)
            {
                projects.push(project_id);
            }
        }
        refuse_unfinished(&mut *connection, user_id, &in_messages, &projects).await?;
        let naming = query(SELECT_NAMING)
            .bind_value(user_id)
            .bind_list(&in_messages)
            .bind_list(&ids)
            .fetch_all(&mut *connection)
            .await?;
        for row in &naming {
            if let Some(message_id) = skip_damaged("messages", file_id, id::<MessageId>(row, "id"))?
                && !in_messages.contains(&message_id)
            {
                in_messages.push(message_id);
            }
        }
        self.mark_deleted_files(&mut *connection, user_id, &ids, &in_messages)
            .await?;
        self.delete_derived(&mut *connection, user_id, &in_messages, &projects)
            .await?;
        query(DELETE_FILES)
            .bind_value(user_id)
            .bind_list(&ids)
            .execute(&mut *connection)
            .await?;
        for project_id in projects {
            self.log_project(&mut *connection, (user_id, project_id), false)
                .await?;
        }
        Ok(Outcome::DataDeleted)
    }

    /// Marks files in the messages that name them, and logs it once a conversation.
    async fn mark_deleted_files(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        ids: &[AttachmentId],
        message_ids: &[MessageId],
    ) -> Result<(), ChangeError> {
        let mut marked: BTreeMap<ConversationId, Vec<AttachmentId>> = BTreeMap::new();
        for message_id in message_ids {
            let found = messages::message(&mut *connection, user_id, *message_id).await?;
            let Some((conversation_id, mut message)) = found else {
                continue;
            };
            // The rows of a result are named by its payload only.
            if message.mark_deleted_files(ids) {
                update_body(&mut *connection, user_id, *message_id, &message.body).await?;
                let named = message.files().into_iter().map(|file| file.id);
                let of_conversation = marked.entry(conversation_id).or_default();
                for id in named.filter(|id| ids.contains(id)) {
                    if !of_conversation.contains(&id) {
                        of_conversation.push(id);
                    }
                }
            }
        }
        for (conversation_id, file_ids) in marked {
            let event = ConversationEvent::FilesDeleted { file_ids };
            self.log_event(&mut *connection, user_id, conversation_id, None, event)
                .await?;
        }
        Ok(())
    }
}
