//! Queries about projects.

use async_trait::async_trait;

use super::{SqlStorage, files, id, json, personal, project_readers, queries, read_undamaged_rows, search};
use crate::{
    SearchRequest, StorageError, StoredFile,
    projects::{FoundPassage, GivenMemory, ProjectInUse, ProjectStorage, SharedProjectPage},
    sql::database::{Connection, Row, query},
};
use parlor_protocol::{
    AttachmentId, ConversationId, ConversationList, ListedProject, Memory, Project, ProjectId, ProjectReader,
    SharedProject, UserId, conversation_list::ListCursor,
};

/// `select!("…")`: the query for a user's projects (`$1`) with this condition.
macro_rules! select {
    ($condition:literal) => {
        concat!(
            "SELECT p.id, p.definition, (SELECT count(*) FROM conversations c \
                 WHERE c.user_id = p.user_id AND c.project_id = p.id AND c.trashed_at IS NULL) AS conversations, \
                 (SELECT count(*) FROM files f WHERE f.user_id = p.user_id AND f.project_id = p.id) AS files, \
                 (SELECT count(*) FROM project_readers r WHERE r.project_id = p.id) AS readers \
             FROM projects p WHERE p.user_id = $1",
            $condition
        )
    };
}

const OF_USER: &str = select!(" ORDER BY p.id");
const ONE: &str = select!(" AND p.id = $2");

#[async_trait]
impl ProjectStorage for SqlStorage {
    async fn projects(&self, user_id: UserId) -> Result<Vec<ListedProject>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        projects(&mut connection, user_id).await
    }

    async fn project(&self, user_id: UserId, id: ProjectId) -> Result<Option<ListedProject>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        project(&mut connection, user_id, id).await
    }

    async fn project_files(&self, user_id: UserId, id: ProjectId) -> Result<Vec<StoredFile>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        files::project_files(&mut connection, user_id, id).await
    }

    async fn project_memories(&self, user_id: UserId, id: ProjectId) -> Result<Vec<Memory>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        personal::project_memories(&mut connection, user_id, id).await
    }

    async fn memories_for(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<Vec<GivenMemory>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        personal::memories_for(&mut connection, user_id, conversation_id).await
    }

    async fn project_of(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<Option<ProjectInUse>, StorageError> {
        let mut tx = self.readers.begin().await?;
        let row = query(OF_CONVERSATION)
            .bind_value(user_id)
            .bind_value(conversation_id)
            .fetch_optional(&mut tx)
            .await?;
        let read = |row: &Row| Ok((id(row, "id")?, json(row, "definition")?));
        let found = read_undamaged_rows("projects", "id", row.as_slice(), read)?;
        match found.into_iter().next() {
            Some((id, project)) => Ok(Some(in_use(&mut tx, user_id, id, project).await?)),
            None => Ok(None),
        }
    }

    async fn search_project_files(
        &self,
        user_id: UserId,
        id: ProjectId,
        request: &SearchRequest,
    ) -> Result<Vec<FoundPassage>, StorageError> {
        let mut tx = self.readers.begin().await?;
        search::search_project_files(&mut tx, user_id, id, request).await
    }

    async fn unindexed_project_files(
        &self,
        user_id: UserId,
        project_id: ProjectId,
    ) -> Result<Vec<AttachmentId>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let rows = query(UNINDEXED_FILES)
            .bind_value(user_id)
            .bind_value(project_id)
            .fetch_all(&mut connection)
            .await?;
        read_undamaged_rows("files", "id", &rows, |row| id(row, "id"))
    }

    async fn project_conversations(
        &self,
        user_id: UserId,
        id: ProjectId,
        before: Option<ListCursor>,
        limit: usize,
    ) -> Result<ConversationList, StorageError> {
        let mut tx = self.readers.begin().await?;
        queries::project_conversations(&mut tx, (user_id, id), before, limit).await
    }

    async fn project_readers(
        &self,
        user_id: UserId,
        id: ProjectId,
    ) -> Result<Vec<ProjectReader>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        project_readers::readers(&mut connection, user_id, id).await
    }

    async fn shared_projects(&self, reader: UserId) -> Result<Vec<SharedProject>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        project_readers::shared_projects(&mut connection, reader).await
    }

    async fn shared_project(
        &self,
        reader: UserId,
        id: ProjectId,
        before: Option<ListCursor>,
        limit: usize,
    ) -> Result<Option<SharedProjectPage>, StorageError> {
        let mut tx = self.readers.begin().await?;
        project_readers::shared_project(&mut tx, (reader, id), before, limit).await
    }

    async fn shared_project_file(
        &self,
        reader: UserId,
        id: ProjectId,
        file_id: AttachmentId,
    ) -> Result<Option<StoredFile>, StorageError> {
        let mut tx = self.readers.begin().await?;
        project_readers::shared_project_file(&mut tx, (reader, id), file_id).await
    }
}

const OF_CONVERSATION: &str = "SELECT p.id, p.definition FROM conversations c \
     JOIN projects p ON p.user_id = c.user_id AND p.id = c.project_id WHERE c.user_id = $1 AND c.id = $2";

const UNINDEXED_FILES: &str = "SELECT f.id FROM files f JOIN search_pending s ON s.source = f.id \
     WHERE f.user_id = $1 AND f.project_id = $2 AND s.kind = 'text'";

/// Adds its files to a project.
pub(super) async fn in_use(
    connection: &mut Connection,
    user_id: UserId,
    id: ProjectId,
    project: Project,
) -> Result<ProjectInUse, StorageError> {
    let files = files::project_files(connection, user_id, id).await?;
    Ok(ProjectInUse { id, project, files })
}

/// Returns the projects of a user, oldest first.
pub(super) async fn projects(
    connection: &mut Connection,
    user_id: UserId,
) -> Result<Vec<ListedProject>, StorageError> {
    let rows = query(OF_USER).bind_value(user_id).fetch_all(connection).await?;
    read_undamaged_rows("projects", "id", &rows, read_project)
}

/// Returns a project of a user. A damaged one counts as missing.
pub(super) async fn project(
    connection: &mut Connection,
    user_id: UserId,
    id: ProjectId,
) -> Result<Option<ListedProject>, StorageError> {
    let row = query(ONE)
        .bind_value(user_id)
        .bind_value(id)
        .fetch_optional(connection)
        .await?;
    let read = read_undamaged_rows("projects", "id", row.as_slice(), read_project)?;
    Ok(read.into_iter().next())
}

fn read_project(row: &Row) -> Result<ListedProject, StorageError> {
    let count = |column: &str| -> Result<usize, StorageError> {
        Ok(usize::try_from(row.try_get::<i64>(column)?).unwrap_or_default())
    };
    Ok(ListedProject {
        id: id(row, "id")?,
        project: json(row, "definition")?,
        conversations: count("conversations")?,
        files: count("files")?,
        readers: count("readers")?,
    })
}
