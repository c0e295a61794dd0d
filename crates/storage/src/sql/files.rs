//! Reads attached files' rows, skips damaged ones, and lists the locations of stored and deleted content.

use crate::sql::database::{Connection, Row, query, query_scalar};

use uuid::Uuid;

use super::{id, read_undamaged_rows, text};
use crate::{
    AttachedFile, AttachmentRow, FileKinds, FileLocation, StorageError, StoredFile,
    damage::{name_damaged, skip_damaged},
};
use parlor_protocol::{Attachment, AttachmentId, FileProblem, MessageId, ProjectId, UserId};

/// The columns of a file.
macro_rules! select_files {
    ($rest:literal) => {
        concat!(
            "SELECT id, coalesce(stored_by, user_id) AS stored_by, stored_in, stored_name, name, media_type, bytes, width, height, text_bytes, problem FROM files ",
            $rest
        )
    };
}

/// A file, unless its conversation is deleted.
pub(crate) const SELECT_FILE: &str = select_files!(
    "WHERE user_id = $1 AND id = $2 AND NOT EXISTS \
         (SELECT 1 FROM conversations c WHERE c.id = files.conversation_id AND c.trashed_at IS NOT NULL)"
);
pub(crate) const SELECT_MESSAGE_FILES: &str =
    select_files!("WHERE user_id = $1 AND message_id = $2 ORDER BY place, id");

pub(crate) const SELECT_PROJECT_FILES: &str =
    select_files!("WHERE user_id = $1 AND project_id = $2 ORDER BY created_at, id");

/// Returns the files of a project, oldest first. Damaged rows are left out.
pub(super) async fn project_files(
    connection: &mut Connection,
    user_id: UserId,
    project_id: ProjectId,
) -> Result<Vec<StoredFile>, StorageError> {
    let rows = query(SELECT_PROJECT_FILES)
        .bind_value(user_id)
        .bind_value(project_id)
        .fetch_all(connection)
        .await?;
    read_undamaged_rows("files", "id", &rows, read_file)
}

/// Returns a file.
pub(super) async fn file(
    connection: &mut Connection,
    user_id: UserId,
    id: AttachmentId,
) -> Result<Option<StoredFile>, StorageError> {
    let row = query(SELECT_FILE)
        .bind_value(user_id)
        .bind_value(id)
        .fetch_optional(connection)
        .await?;
    let read = |row: &Row| name_damaged("files", id.0, read_file(row));
    row.as_ref().map(read).transpose()
}

/// Returns the files of a message of the user, sent or queued, in their order. Damaged rows are left out.
pub(super) async fn message_files(
    connection: &mut Connection,
    user_id: UserId,
    message_id: MessageId,
) -> Result<Vec<StoredFile>, StorageError> {
    let rows = query(SELECT_MESSAGE_FILES)
        .bind_value(user_id)
        .bind_value(message_id)
        .fetch_all(connection)
        .await?;
    read_undamaged_rows("files", "id", &rows, read_file)
}

/// The files of some kinds in messages of a user, with their conversations. A message is hidden with those that follow it.
/// Versions of a message and branches share a content.
const SELECT_ATTACHED_FILES: &str = "WITH RECURSIVE hidden (id) AS ( \
         SELECT message_id FROM hidden_messages WHERE user_id = $1 \
         UNION SELECT m.id FROM hidden h JOIN messages m ON m.user_id = $1 AND m.parent_id = h.id), \
     found AS (SELECT f.*, c.id AS found_in, c.title, row_number() OVER (PARTITION BY f.stored_name ORDER BY f.created_at DESC, f.id DESC) AS version \
         FROM files f JOIN messages m ON m.id = f.message_id AND m.user_id = f.user_id \
             JOIN conversations c ON c.id = f.conversation_id AND c.user_id = f.user_id \
         WHERE f.user_id = $1 AND c.trashed_at IS NULL AND c.temporary = 0 AND f.message_id NOT IN (SELECT id FROM hidden) \
             AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.id = f.message_id) \
             AND (f.media_type IN (SELECT value FROM json_each($2)) \
                 OR EXISTS (SELECT 1 FROM json_each($3) e WHERE lower(f.name) LIKE '%.' || e.value))) \
     SELECT id, coalesce(stored_by, user_id) AS stored_by, stored_in, stored_name, name, media_type, bytes, width, height, text_bytes, problem, \
         found_in, title FROM found WHERE version = 1 ORDER BY created_at DESC, id DESC LIMIT $4";

/// Returns the newest files of some kinds in messages of a user, newest first. Damaged rows are left out.
pub(super) async fn attached_files(
    connection: &mut Connection,
    user_id: UserId,
    kinds: FileKinds<'_>,
    limit: usize,
) -> Result<Vec<AttachedFile>, StorageError> {
    let rows = query(SELECT_ATTACHED_FILES)
        .bind_value(user_id)
        .bind_list(kinds.media_types)
        .bind_list(kinds.name_ends)
        .bind(i64::try_from(limit).unwrap_or(i64::MAX))
        .fetch_all(connection)
        .await?;
    read_undamaged_rows("files", "id", &rows, |row| {
        Ok(AttachedFile {
            file: read_file(row)?,
            conversation_id: id(row, "found_in")?,
            title: text(row, "title")?,
        })
    })
}

/// Returns the size of the contents of all files of a user. Files that share one count once.
pub(super) async fn stored_bytes(connection: &mut Connection, user_id: UserId) -> Result<u64, StorageError> {
    let sum: i64 = query_scalar(
        "SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM (SELECT MAX(bytes) AS bytes FROM files WHERE user_id = $1 AND typeof(bytes) = 'integer' \
             GROUP BY stored_name) contents",
    )
    .bind_value(user_id)
    .fetch_one(connection)
    .await?;
    Ok(sum.try_into().unwrap_or_default())
}

pub(super) fn read_file(row: &Row) -> Result<StoredFile, StorageError> {
    let size = |column: &str| -> Result<Option<usize>, StorageError> {
        let number: Option<i64> = row.try_get(column)?;
        Ok(number.and_then(|number| number.try_into().ok()))
    };
    let problem: Option<String> = row.try_get("problem")?;
    Ok(StoredFile {
        attachment: Attachment {
            id: id(row, "id")?,
            name: text(row, "name")?,
            media_type: text(row, "media_type")?,
            bytes: size("bytes")?.unwrap_or_default(),
            width: size("width")?,
            height: size("height")?,
            text_bytes: size("text_bytes")?,
            problem: problem.as_deref().and_then(FileProblem::parse),
        },
        location: read_location(row)?,
    })
}

fn read_location(row: &Row) -> Result<FileLocation, StorageError> {
    Ok(FileLocation {
        user_id: id(row, "stored_by")?,
        conversation_id: id(row, "stored_in")?,
        stored_name: id(row, "stored_name")?,
    })
}

/// Returns the locations of all contents that have a row.
pub(super) async fn file_locations(connection: &mut Connection) -> Result<Vec<FileLocation>, StorageError> {
    let rows = query("SELECT coalesce(stored_by, user_id) AS stored_by, stored_in, stored_name FROM files")
        .fetch_all(connection)
        .await?;
    // A damaged row may name any file: none must be taken for an orphan.
    rows.iter().map(read_location).collect()
}

/// Returns the locations of contents whose rows were deleted.
pub(super) async fn deleted_files(connection: &mut Connection) -> Result<Vec<FileLocation>, StorageError> {
    let rows = query("SELECT user_id AS stored_by, stored_in, stored_name FROM deleted_files LIMIT 1000")
        .fetch_all(connection)
        .await?;
    read_undamaged_rows("deleted_files", "stored_name", &rows, read_location)
}

/// Returns a row of the former table of tools' files, with its content. Damaged rows stay there.
pub(super) async fn next_attachment_row(
    connection: &mut Connection,
) -> Result<Option<AttachmentRow>, StorageError> {
    let ids = query("SELECT id FROM attachments ORDER BY id")
        .fetch_all(&mut *connection)
        .await?;
    for found in &ids {
        let name = text(found, "id")?;
        let row = query(
            "SELECT id, user_id, conversation_id, message_id, name, media_type, data FROM attachments WHERE id = $1",
        )
        .bind(&name)
        .fetch_one(&mut *connection)
        .await?;
        if let Some(row) = skip_damaged("attachments", name, read_attachment_row(&row))? {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

fn read_attachment_row(row: &Row) -> Result<AttachmentRow, StorageError> {
    let data: Vec<u8> = row.try_get("data")?;
    Ok(AttachmentRow {
        message_id: id(row, "message_id")?,
        file: StoredFile {
            attachment: Attachment {
                id: id(row, "id")?,
                name: text(row, "name")?,
                media_type: text(row, "media_type")?,
                bytes: data.len(),
                width: None,
                height: None,
                text_bytes: None,
                problem: None,
            },
            location: FileLocation {
                user_id: id(row, "user_id")?,
                conversation_id: id(row, "conversation_id")?,
                stored_name: Uuid::new_v4(),
            },
        },
        data,
    })
}
