//! Files: uploads, files of tools, and their deletion.

use crate::sql::database::{Connection, query};

use super::{
    super::{files, optional_text},
    Batch, ChangeError,
    personal::ensure_user,
};
use crate::{ChangeRejection, FileLocation, Outcome, RunKey, StoredFile};
use parlor_protocol::{Attachment, AttachmentId, ConversationId, MessageId, ProjectId, Timestamp, UserId};

/// The place of a stored file.
#[derive(Clone, Copy, Debug)]
pub(super) enum FilePlace {
    /// An upload whose message is not sent.
    Unsent,
    /// A message, with the order in it.
    Message(MessageId, usize),
    Project(ProjectId),
}

impl Batch<'_> {
    /// Stores an uploaded file, whose message is not sent yet.
    pub(super) async fn store_upload(
        &mut self,
        connection: &mut Connection,
        file: &StoredFile,
    ) -> Result<Outcome, ChangeError> {
        ensure_user(&mut *connection, file.location.user_id).await?;
        let owner = query(
            "SELECT CASE WHEN trashed_at IS NULL THEN user_id END AS user_id FROM conversations WHERE id = $1 \
             UNION ALL SELECT NULL FROM deleted_conversations WHERE id = $1",
        )
        .bind_value(file.location.conversation_id)
        .fetch_optional(&mut *connection)
        .await?;
        if let Some(row) = owner
            && optional_text(&row, "user_id")? != Some(file.location.user_id.to_string())
        {
            Err(ChangeRejection::NotFound)?;
        }
        let owner = (file.location.user_id, file.location.conversation_id);
        self.insert_file(connection, file, owner, FilePlace::Unsent)
            .await?;
        Ok(Outcome::Done)
    }

    /// Stores a file of a tool. A run that has ended gets none any more.
    pub(super) async fn store_attachment(
        &mut self,
        connection: &mut Connection,
        run: &RunKey,
        file: &StoredFile,
    ) -> Result<Outcome, ChangeError> {
        let active =
            query("SELECT 1 FROM runs WHERE user_id = $1 AND id = $2 AND status IN ('running', 'waiting')")
                .bind_value(run.user_id)
                .bind_value(run.message_id)
                .fetch_optional(&mut *connection)
                .await?;
        if active.is_none() {
            Err(ChangeRejection::NotFound)?;
        }
        let owner = (run.user_id, run.conversation_id);
        self.insert_file(connection, file, owner, FilePlace::Message(run.message_id, 0))
            .await?;
        Ok(Outcome::Done)
    }

    pub(super) async fn insert_file(
        &mut self,
        connection: &mut Connection,
        StoredFile { attachment, location }: &StoredFile,
        (user_id, conversation_id): (UserId, ConversationId),
        file_place: FilePlace,
    ) -> Result<(), ChangeError> {
        let (message_id, place, project_id) = match file_place {
            FilePlace::Unsent => (None, 0, None),
            FilePlace::Message(id, place) => (Some(id), place, None),
            FilePlace::Project(id) => (None, 0, Some(id)),
        };
        let number = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        query(
            "INSERT INTO files (id, user_id, conversation_id, message_id, place, stored_name, stored_in, name, media_type, \
             bytes, width, height, text_bytes, problem, created_at, stored_by, project_id) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)",
        )
        .bind_value(attachment.id)
        .bind_value(user_id)
        .bind_value(conversation_id)
        .bind_value(message_id)
        .bind(number(place))
        .bind_value(location.stored_name)
        .bind_value(location.conversation_id)
        .bind(&attachment.name)
        .bind(&attachment.media_type)
        .bind(number(attachment.bytes))
        .bind(attachment.width.map(number))
        .bind(attachment.height.map(number))
        .bind(attachment.text_bytes.map(number))
        .bind_value(attachment.problem)
        .bind_value(self.at)
        .bind_value((location.user_id != user_id).then_some(location.user_id))
        .bind_value(project_id)
        .execute(connection)
        .await?;
        Ok(())
    }

    /// Makes uploaded files those of a message, sent or queued, and returns them in their order. A version of a message
    /// (`replaced`) that names none gets copies of its files.
    pub(super) async fn attach_files(
        &mut self,
        connection: &mut Connection,
        (user_id, conversation_id): (UserId, ConversationId),
        message_id: MessageId,
        ids: &[AttachmentId],
        replaced: Option<MessageId>,
    ) -> Result<Vec<Attachment>, ChangeError> {
        if ids.is_empty() {
            return match replaced {
                Some(replaced) => {
                    self.copy_files(connection, (user_id, conversation_id), replaced, message_id)
                        .await
                }
                None => Ok(Vec::new()),
            };
        }
        let attached = query(
            "UPDATE files SET message_id = $3, place = (SELECT min(key) FROM json_each($4) WHERE value = files.id) \
             WHERE user_id = $1 AND conversation_id = $2 AND id IN (SELECT value FROM json_each($4)) \
                 AND (message_id IS NULL OR message_id = $3)",
        )
        .bind_value(user_id)
        .bind_value(conversation_id)
        .bind_value(message_id)
        .bind_list(ids)
        .execute(&mut *connection)
        .await?;
        let files = files::message_files(connection, user_id, message_id).await?;
        let files: Vec<Attachment> = files.into_iter().map(|file| file.attachment).collect();
        // An id may not be named twice either.
        if attached.rows_affected() != ids.len() as u64 || !files.iter().map(|file| &file.id).eq(ids) {
            Err(ChangeRejection::FileNotFound)?;
        }
        Ok(files)
    }

    /// Gives another version of a message the files of the first one. Both share the contents.
    async fn copy_files(
        &mut self,
        connection: &mut Connection,
        (user_id, conversation_id): (UserId, ConversationId),
        replaced: MessageId,
        message_id: MessageId,
    ) -> Result<Vec<Attachment>, ChangeError> {
        let mut copies = Vec::new();
        for (place, mut file) in files::message_files(&mut *connection, user_id, replaced)
            .await?
            .into_iter()
            .enumerate()
        {
            file.attachment.id = AttachmentId::new();
            let owner = (user_id, conversation_id);
            self.insert_file(
                &mut *connection,
                &file,
                owner,
                FilePlace::Message(message_id, place),
            )
            .await?;
            copies.push(file.attachment);
        }
        Ok(copies)
    }

    /// Gives a file of a message a second row, as an upload that is in no message.
    pub(super) async fn copy_file(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        id: AttachmentId,
        copy: AttachmentId,
    ) -> Result<Outcome, ChangeError> {
        let copied = query(
            "INSERT INTO files (id, user_id, conversation_id, message_id, place, stored_name, stored_in, name, media_type, \
             bytes, width, height, text_bytes, problem, created_at, stored_by) \
             SELECT $3, user_id, conversation_id, NULL, 0, stored_name, stored_in, name, media_type, bytes, width, height, \
             text_bytes, problem, $4, stored_by FROM files WHERE user_id = $1 AND id = $2 AND project_id IS NULL",
        )
        .bind_value(user_id)
        .bind_value(id)
        .bind_value(copy)
        .bind_value(self.at)
        .execute(connection)
        .await?;
        match copied.rows_affected() {
            0 => Err(ChangeRejection::NotFound)?,
            _ => Ok(Outcome::Done),
        }
    }

    /// Deletes an uploaded file that is in no message. Has no effect on others.
    pub(super) async fn delete_upload(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        id: AttachmentId,
    ) -> Result<Outcome, ChangeError> {
        query(
            "DELETE FROM files WHERE user_id = $1 AND id = $2 AND message_id IS NULL AND project_id IS NULL",
        )
        .bind_value(user_id)
        .bind_value(id)
        .execute(connection)
        .await?;
        Ok(Outcome::DataDeleted)
    }

    /// Deletes the files of a message that is removed from its queue.
    pub(super) async fn delete_queued_files(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        message_id: MessageId,
    ) -> Result<(), ChangeError> {
        query("DELETE FROM files WHERE user_id = $1 AND message_id = $2")
            .bind_value(user_id)
            .bind_value(message_id)
            .execute(connection)
            .await?;
        Ok(())
    }

    /// Deletes the uploaded files of all users that were not sent for a long time.
    pub(super) async fn expire_uploads(
        &mut self,
        connection: &mut Connection,
        before: Timestamp,
    ) -> Result<Outcome, ChangeError> {
        query("DELETE FROM files WHERE message_id IS NULL AND project_id IS NULL AND created_at < $1")
            .bind_value(before)
            .execute(connection)
            .await?;
        Ok(Outcome::DataDeleted)
    }

    /// Forgets deleted contents that are not in the data folder any more.
    pub(super) async fn forget_deleted_files(
        &mut self,
        connection: &mut Connection,
        locations: &[FileLocation],
    ) -> Result<Outcome, ChangeError> {
        let names = locations.iter().map(|location| location.stored_name.to_string());
        query("DELETE FROM deleted_files WHERE stored_name IN (SELECT value FROM json_each($1))")
            .bind_list(names)
            .execute(connection)
            .await?;
        Ok(Outcome::Done)
    }

    /// Replaces a row of the former table of tools' files, whose content was moved.
    pub(super) async fn replace_attachment_row(
        &mut self,
        connection: &mut Connection,
        file: &StoredFile,
        message_id: MessageId,
    ) -> Result<Outcome, ChangeError> {
        self.insert_file(
            &mut *connection,
            file,
            (file.location.user_id, file.location.conversation_id),
            FilePlace::Message(message_id, 0),
        )
        .await?;
        query("DELETE FROM attachments WHERE id = $1")
            .bind_value(file.attachment.id)
            .execute(connection)
            .await?;
        Ok(Outcome::DataDeleted)
    }
}
