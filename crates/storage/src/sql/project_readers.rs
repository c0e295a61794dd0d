//! Queries about the readers of projects, and about what they may read. Each of them checks the reader.

use super::{files, id, json, log_page::last_log_position, number_or_zero, read_undamaged_rows, text};
use crate::{
    StorageError, StoredFile,
    projects::SharedProjectPage,
    shares::{Audience, StoredShare},
    sql::database::{Connection, Row, query},
};
use parlor_protocol::{
    AttachmentId, ConversationId, Position, Project, ProjectId, ProjectReader, ShareId, SharedChat,
    SharedProject, Timestamp, UserId, conversation_list::ListCursor,
};

const SELECT_READERS: &str = "SELECT r.user_id, a.name, r.added_at FROM project_readers r \
     JOIN projects p ON p.id = r.project_id JOIN accounts a ON a.user_id = r.user_id \
     WHERE p.user_id = $1 AND p.id = $2 ORDER BY a.name";

/// `select!("…")`: the projects that a person (`$1`) may read, with this condition. A disabled account shares nothing.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT p.id, p.user_id, p.definition, o.name AS owner FROM project_readers r \
             JOIN projects p ON p.id = r.project_id JOIN accounts o ON o.user_id = p.user_id AND o.disabled = 0 \
             WHERE r.user_id = $1",
            $rest
        )
    };
}

const SELECT_SHARED: &str = select!(" ORDER BY r.added_at, p.id");
const SELECT_ONE_SHARED: &str = select!(" AND p.id = $2");

/// `visible!("…", "…")`: the conversations (`c`) that the readers of their project see, with these columns, joins and condition.
macro_rules! visible {
    ($columns:literal, $rest:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM conversations c JOIN projects p ON p.id = c.project_id AND p.user_id = c.user_id ",
            $rest,
            " AND c.temporary = 0 AND c.trashed_at IS NULL"
        )
    };
}

const SELECT_CONVERSATIONS: &str = concat!(
    visible!(
        "c.id, c.title, c.updated_at, c.activity",
        "WHERE p.user_id = $1 AND p.id = $2 AND c.activity < $3"
    ),
    " ORDER BY c.activity DESC LIMIT $4"
);

const SELECT_CONVERSATION: &str = visible!(
    "c.id, c.user_id, c.project_id, r.added_at",
    "JOIN project_readers r ON r.project_id = p.id WHERE c.id = $1 AND r.user_id = $2"
);

/// Returns the people who may read a user's project, by name.
pub(super) async fn readers(
    connection: &mut Connection,
    user_id: UserId,
    project_id: ProjectId,
) -> Result<Vec<ProjectReader>, StorageError> {
    let rows = query(SELECT_READERS)
        .bind_value(user_id)
        .bind_value(project_id)
        .fetch_all(connection)
        .await?;
    read_undamaged_rows("project_readers", "user_id", &rows, |row| {
        Ok(ProjectReader {
            name: text(row, "name")?,
            since: Timestamp(number_or_zero("project_readers", project_id, row, "added_at")?),
        })
    })
}

/// Returns the projects of others that a person may read.
pub(super) async fn shared_projects(
    connection: &mut Connection,
    reader: UserId,
) -> Result<Vec<SharedProject>, StorageError> {
    let rows = query(SELECT_SHARED)
        .bind_value(reader)
        .fetch_all(connection)
        .await?;
    read_undamaged_rows("projects", "id", &rows, |row| Ok(read_shared(row)?.listed))
}

/// Returns what a person may read of another's project.
pub(super) async fn shared_project(
    connection: &mut Connection,
    (reader, project_id): (UserId, ProjectId),
    before: Option<ListCursor>,
    limit: usize,
) -> Result<Option<SharedProjectPage>, StorageError> {
    let as_of = last_log_position(&mut *connection, reader).await?;
    let Some(shared) = find(&mut *connection, reader, project_id).await? else {
        return Ok(None);
    };
    let files = files::project_files(&mut *connection, shared.owner, project_id).await?;
    let mut rows = query(SELECT_CONVERSATIONS)
        .bind_value(shared.owner)
        .bind_value(project_id)
        .bind(before.map_or(i64::MAX, |cursor| cursor.activity.0.cast_signed()))
        .bind(limit as i64 + 1)
        .fetch_all(connection)
        .await?;
    let has_more = rows.len() > limit;
    rows.truncate(limit);
    let read = read_undamaged_rows("conversations", "id", &rows, |row| {
        let id = id(row, "id")?;
        let number = |column| number_or_zero("conversations", id, row, column);
        let chat = SharedChat {
            id,
            title: text(row, "title")?,
            updated_at: Timestamp(number("updated_at")?),
        };
        let activity = Position(number("activity")?.unsigned_abs());
        Ok((chat, ListCursor { activity }))
    })?;
    let next = read.last().map(|(_, place)| *place).filter(|_| has_more);
    Ok(Some(SharedProjectPage {
        as_of,
        listed: shared.listed,
        instructions: shared.instructions,
        files,
        conversations: read.into_iter().map(|(chat, _)| chat).collect(),
        next,
    }))
}

/// Returns a file of another's project that a person may read.
pub(super) async fn shared_project_file(
    connection: &mut Connection,
    (reader, project_id): (UserId, ProjectId),
    file_id: AttachmentId,
) -> Result<Option<StoredFile>, StorageError> {
    let Some(shared) = find(&mut *connection, reader, project_id).await? else {
        return Ok(None);
    };
    let files = files::project_files(connection, shared.owner, project_id).await?;
    Ok(files.into_iter().find(|file| file.attachment.id == file_id))
}

/// Returns a conversation as the live share that it is for a reader of its project.
pub(super) async fn share_of_project(
    connection: &mut Connection,
    conversation_id: ConversationId,
    reader: UserId,
) -> Result<Option<StoredShare>, StorageError> {
    let row = query(SELECT_CONVERSATION)
        .bind_value(conversation_id)
        .bind_value(reader)
        .fetch_optional(connection)
        .await?;
    let read = |row: &Row| {
        Ok(StoredShare {
            // Neither stored nor shown: the open streams of a share are counted by it.
            id: ShareId(conversation_id.0),
            user_id: id(row, "user_id")?,
            conversation_id,
            audience: Audience::Project(id(row, "project_id")?),
            snapshot: None,
            created_at: Timestamp(number_or_zero(
                "project_readers",
                conversation_id,
                row,
                "added_at",
            )?),
        })
    };
    let found = read_undamaged_rows("conversations", "id", row.as_slice(), read)?;
    Ok(found.into_iter().next())
}

/// A project with its owner, for a reader.
struct Shared {
    owner: UserId,
    listed: SharedProject,
    instructions: String,
}

async fn find(
    connection: &mut Connection,
    reader: UserId,
    project_id: ProjectId,
) -> Result<Option<Shared>, StorageError> {
    let row = query(SELECT_ONE_SHARED)
        .bind_value(reader)
        .bind_value(project_id)
        .fetch_optional(connection)
        .await?;
    let found = read_undamaged_rows("projects", "id", row.as_slice(), read_shared)?;
    Ok(found.into_iter().next())
}

fn read_shared(row: &Row) -> Result<Shared, StorageError> {
    let Project {
        name,
        colour,
        instructions,
        ..
    } = json(row, "definition")?;
    Ok(Shared {
        owner: id(row, "user_id")?,
        listed: SharedProject {
            id: id(row, "id")?,
            name,
            colour,
            owner: text(row, "owner")?,
        },
        instructions,
    })
}
