//! Queries about projects.

use async_trait::async_trait;

use super::{SqlStorage, id, json, queries, read_undamaged_rows};
use crate::{
    StorageError,
    projects::ProjectStorage,
    sql::database::{Connection, Row, query},
};
use parlor_protocol::{ConversationList, ListedProject, ProjectId, UserId, conversation_list::ListCursor};

/// `select!("…")`: the query for a user's projects (`$1`) with this condition.
macro_rules! select {
    ($condition:literal) => {
        concat!(
            "SELECT p.id, p.definition, (SELECT count(*) FROM conversations c \
                 WHERE c.user_id = p.user_id AND c.project_id = p.id AND c.trashed_at IS NULL) AS conversations \
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
    Ok(ListedProject {
        id: id(row, "id")?,
        project: json(row, "definition")?,
        conversations: usize::try_from(row.try_get::<i64>("conversations")?).unwrap_or_default(),
    })
}
