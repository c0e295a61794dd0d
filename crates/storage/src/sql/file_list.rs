//! Reads the list of all files of a user. Names are compared as the search compares words, the same for every database, so
//! the names, sizes and times of all files are read; what else a page shows is read for its files only.

use std::{cmp::Reverse, collections::HashMap};

use async_trait::async_trait;

use super::{
    SqlStorage,
    database::{Connection, Row, query},
    files::read_file,
    id, json, optional_id, optional_text, read_undamaged_rows, text,
};
use crate::{
    StorageError, StoredFile,
    file_list::{FileListRequest, FileListStorage, FilePage},
    search::fold::fold,
};
use parlor_protocol::{
    AttachmentId, ConversationId, FileSort, FileUse, FileUseState, ListedFile, Project, ProjectId, Timestamp,
    UserId, file_list::FileCursor,
};
use uuid::Uuid;

/// The newest row of each content.
const SELECT_CONTENTS: &str = "WITH found AS (SELECT id, name, bytes, created_at, \
         row_number() OVER (PARTITION BY stored_name ORDER BY created_at DESC, id DESC) AS version FROM files WHERE user_id = $1) \
     SELECT id, name, bytes, created_at FROM found WHERE version = 1";

const SELECT_BY_IDS: &str = "SELECT id, coalesce(stored_by, user_id) AS stored_by, stored_in, stored_name, name, media_type, bytes, \
         width, height, text_bytes, problem, created_at FROM files WHERE user_id = $1 AND id IN (SELECT value FROM json_each($2))";

/// All rows of some contents, newest first, with what each is in.
const SELECT_USES: &str = "SELECT f.id, f.stored_name, f.message_id, f.conversation_id, f.project_id, p.definition, c.title, \
         coalesce(c.archived, 0) <> 0 AS archived, c.trashed_at IS NOT NULL AS trashed \
     FROM files f LEFT JOIN conversations c ON c.user_id = f.user_id AND c.id = f.conversation_id \
         LEFT JOIN projects p ON p.user_id = f.user_id AND p.id = f.project_id \
     WHERE f.user_id = $1 AND f.stored_name IN (SELECT value FROM json_each($2)) ORDER BY f.created_at DESC, f.id DESC";

const SELECT_CONVERSATIONS: &str = "SELECT DISTINCT o.conversation_id FROM files f JOIN files o ON o.user_id = f.user_id \
         AND o.stored_name = f.stored_name AND o.project_id IS NULL WHERE f.user_id = $1 AND f.id = $2";

#[async_trait]
impl FileListStorage for SqlStorage {
    async fn listed_files(
        &self,
        user_id: UserId,
        request: &FileListRequest,
    ) -> Result<FilePage, StorageError> {
        let mut tx = self.readers.begin().await?;
        let mut contents = contents(&mut tx, user_id).await?;
        let words: Vec<String> = request.query.split_whitespace().map(fold).collect();
        if !words.is_empty() {
            contents.retain(|content| {
                let name = fold_name(&content.name);
                words.iter().all(|word| name.contains(word.as_str()))
            });
        }
        let total = contents.len();
        // Each cursor is the sort key of its file, so it stays valid when the file is deleted.
        let key = |cursor: FileCursor| match request.sort {
            FileSort::Newest | FileSort::Largest => (Reverse(cursor.value), Reverse(cursor.id)),
            FileSort::Oldest | FileSort::Smallest => {
                (Reverse(cursor.value.saturating_neg()), Reverse(cursor.id))
            }
        };
        let cursor = |content: &Content| FileCursor {
            value: match request.sort {
                FileSort::Newest | FileSort::Oldest => content.created_at.0,
                FileSort::Largest | FileSort::Smallest => content.bytes,
            },
            id: content.id,
        };
        contents.sort_by_key(|content| key(cursor(content)));
        if let Some(after) = request.after {
            contents.retain(|content| key(cursor(content)) > key(after));
        }
        let next = match contents.len() > request.limit {
            true => request
                .limit
                .checked_sub(1)
                .and_then(|last| contents.get(last))
                .map(cursor),
            false => None,
        };
        contents.truncate(request.limit);
        let ids: Vec<AttachmentId> = contents.iter().map(|content| content.id).collect();
        Ok(FilePage {
            files: described(&mut tx, user_id, &ids).await?,
            total,
            next,
        })
    }

    async fn conversations_with_file(
        &self,
        user_id: UserId,
        id: AttachmentId,
    ) -> Result<Vec<ConversationId>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let rows = query(SELECT_CONVERSATIONS)
            .bind_value(user_id)
            .bind_value(id)
            .fetch_all(&mut connection)
            .await?;
        read_undamaged_rows("files", "conversation_id", &rows, |row| {
            super::id(row, "conversation_id")
        })
    }
}

/// Returns a name without case and accents, with its spaces.
fn fold_name(name: &str) -> String {
    name.split_whitespace().map(fold).collect::<Vec<_>>().join(" ")
}

/// A content, by its newest file.
struct Content {
    id: AttachmentId,
    name: String,
    bytes: i64,
    created_at: Timestamp,
}

async fn contents(connection: &mut Connection, user_id: UserId) -> Result<Vec<Content>, StorageError> {
    let rows = query(SELECT_CONTENTS)
        .bind_value(user_id)
        .fetch_all(connection)
        .await?;
    read_undamaged_rows("files", "id", &rows, |row| {
        Ok(Content {
            id: id(row, "id")?,
            name: text(row, "name")?,
            bytes: row.try_get("bytes")?,
            created_at: Timestamp(row.try_get("created_at")?),
        })
    })
}

/// Returns files with all that uses them, in the order of the ids.
async fn described(
    connection: &mut Connection,
    user_id: UserId,
    ids: &[AttachmentId],
) -> Result<Vec<ListedFile>, StorageError> {
    let rows = query(SELECT_BY_IDS)
        .bind_value(user_id)
        .bind_list(ids)
        .fetch_all(&mut *connection)
        .await?;
    let read = |row: &Row| Ok((read_file(row)?, Timestamp(row.try_get("created_at")?)));
    let stored: Vec<(StoredFile, Timestamp)> = read_undamaged_rows("files", "id", &rows, read)?;
    let names: Vec<Uuid> = stored.iter().map(|(file, _)| file.location.stored_name).collect();
    let mut uses = uses(connection, user_id, &names).await?;
    let mut listed: HashMap<AttachmentId, ListedFile> = HashMap::new();
    for (StoredFile { attachment, location }, created_at) in stored {
        let mut uses = uses.remove(&location.stored_name).unwrap_or_default();
        let more_uses = uses.len().saturating_sub(ListedFile::MAX_USES);
        uses.truncate(ListedFile::MAX_USES);
        let file = ListedFile {
            file: attachment,
            created_at,
            uses,
            more_uses,
        };
        listed.insert(file.file.id, file);
    }
    Ok(ids.iter().filter_map(|id| listed.remove(id)).collect())
}

/// Returns the places of contents, newest first: each conversation and each project once.
async fn uses(
    connection: &mut Connection,
    user_id: UserId,
    stored_names: &[Uuid],
) -> Result<HashMap<Uuid, Vec<FileUse>>, StorageError> {
    let rows = query(SELECT_USES)
        .bind_value(user_id)
        .bind_list(stored_names)
        .fetch_all(connection)
        .await?;
    let read = |row: &Row| -> Result<(Uuid, FileUse), StorageError> {
        let project_id: Option<ProjectId> = optional_id(row, "project_id")?;
        let message_id = optional_id(row, "message_id")?;
        let conversation_id: ConversationId = id(row, "conversation_id")?;
        let title = match project_id {
            Some(_) => json::<Project>(row, "definition")?.name,
            None => optional_text(row, "title")?.unwrap_or_default(),
        };
        let state = match (project_id, message_id) {
            (Some(_), _) => FileUseState::Shown,
            (None, _) if row.try_get("trashed")? => FileUseState::Deleted,
            (None, None) => FileUseState::Unsent,
            (None, Some(_)) if row.try_get("archived")? => FileUseState::Archived,
            (None, Some(_)) => FileUseState::Shown,
        };
        let place = FileUse {
            title,
            state,
            conversation_id: project_id.is_none().then_some(conversation_id),
            message_id,
            project_id,
        };
        Ok((id(row, "stored_name")?, place))
    };
    let mut found: HashMap<Uuid, Vec<FileUse>> = HashMap::new();
    for (stored_name, place) in read_undamaged_rows("files", "id", &rows, read)? {
        let places = found.entry(stored_name).or_default();
        let is_known = places.iter().any(|known| {
            (known.conversation_id, known.project_id, known.state)
                == (place.conversation_id, place.project_id, place.state)
        });
        if !is_known {
            places.push(place);
        }
    }
    Ok(found)
}
