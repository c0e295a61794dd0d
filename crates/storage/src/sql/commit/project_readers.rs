//! Changes of who may read a project. Readers are told of them, and of what changes for them, in their own logs: an event that names
//! the project and nothing else.

use std::collections::BTreeSet;

use super::{Batch, ChangeError, audit, list_place::Key, projects::require_project};
use crate::{
    ChangeRejection, ConversationChange, Outcome,
    audit::AuditAction,
    damage::skip_damaged,
    sql::{
        database::{Connection, Query, Row, query, query_scalar},
        id,
    },
};
use parlor_protocol::{ConversationId, ProjectId, UserEvent, UserId};

/// People, each with a project that they are told about. In the order in which their logs are locked.
pub(super) type Readers = BTreeSet<(UserId, ProjectId)>;

impl Batch<'_> {
    /// Lets other people read a project, or none of them.
    pub(super) async fn add_readers(
        &mut self,
        connection: &mut Connection,
        (user_id, project_id): (UserId, ProjectId),
        readers: &[UserId],
        (limit, limit_shared): (usize, usize),
    ) -> Result<Outcome, ChangeError> {
        require_project(&mut *connection, user_id, project_id).await?;
        let known = readers_of_project(&mut *connection, project_id).await?;
        let is_new = |reader: &&UserId| **reader != user_id && !known.contains(&(**reader, project_id));
        let added: BTreeSet<UserId> = readers.iter().filter(is_new).copied().collect();
        if added.is_empty() {
            return Ok(Outcome::Unchanged);
        }
        if known.len() + added.len() > limit {
            Err(ChangeRejection::ProjectReadersFull)?;
        }
        for &reader in &added {
            let count: i64 = query_scalar("SELECT count(*) FROM project_readers WHERE user_id = $1")
                .bind_value(reader)
                .fetch_one(&mut *connection)
                .await?;
            if usize::try_from(count).is_ok_and(|count| count >= limit_shared) {
                Err(ChangeRejection::SharedProjectsFull)?;
            }
            let row = query(
                "INSERT INTO project_readers (project_id, user_id, added_at) \
                 SELECT $1, $2, $3 WHERE EXISTS (SELECT 1 FROM accounts WHERE user_id = $2)",
            )
            .bind_value(project_id)
            .bind_value(reader)
            .bind_value(self.at)
            .execute(&mut *connection)
            .await?;
            if row.rows_affected() == 0 {
                Err(ChangeRejection::NotFound)?;
            }
            self.note_reader(&mut *connection, user_id, reader, AuditAction::ProjectShared)
                .await?;
        }
        // Nobody else sees who the readers are.
        self.log_project_of_owner(&mut *connection, (user_id, project_id), false)
            .await?;
        let told = added.into_iter().map(|reader| (reader, project_id));
        self.tell(connection, told.collect(), false).await?;
        Ok(Outcome::Done)
    }

    /// Ends the right of a person to read a project. Has no effect if there is none.
    pub(super) async fn remove_reader(
        &mut self,
        connection: &mut Connection,
        (user_id, project_id): (UserId, ProjectId),
        reader: UserId,
    ) -> Result<Outcome, ChangeError> {
        require_project(&mut *connection, user_id, project_id).await?;
        self.end_reading(connection, (user_id, project_id), reader).await
    }

    /// Ends the right of a user to read another's project. Has no effect if there is none.
    pub(super) async fn leave_project(
        &mut self,
        connection: &mut Connection,
        reader: UserId,
        project_id: ProjectId,
    ) -> Result<Outcome, ChangeError> {
        let owner = query("SELECT user_id FROM projects WHERE id = $1")
            .bind_value(project_id)
            .fetch_optional(&mut *connection)
            .await?;
        // As for one that is not shared: nobody learns that it exists.
        let Some(owner) = owner else {
            return Ok(Outcome::Unchanged);
        };
        let owner = id(&owner, "user_id")?;
        self.end_reading(connection, (owner, project_id), reader).await
    }

    async fn end_reading(
        &mut self,
        connection: &mut Connection,
        (owner, project_id): (UserId, ProjectId),
        reader: UserId,
    ) -> Result<Outcome, ChangeError> {
        let ended = query("DELETE FROM project_readers WHERE project_id = $1 AND user_id = $2")
            .bind_value(project_id)
            .bind_value(reader)
            .execute(&mut *connection)
            .await?;
        if ended.rows_affected() == 0 {
            return Ok(Outcome::Unchanged);
        }
        self.note_reader(&mut *connection, owner, reader, AuditAction::ProjectShareEnded)
            .await?;
        self.log_project_of_owner(&mut *connection, (owner, project_id), false)
            .await?;
        self.tell(connection, Readers::from([(reader, project_id)]), true)
            .await?;
        Ok(Outcome::DataDeleted)
    }

    /// Adds an entry about a reader to the audit log.
    async fn note_reader(
        &self,
        connection: &mut Connection,
        owner: UserId,
        reader: UserId,
        action: AuditAction,
    ) -> Result<(), ChangeError> {
        let name = audit::load_name(&mut *connection, reader)
            .await?
            .unwrap_or_default();
        let entry = audit::NewEntry::by_user(owner, action).about(name);
        entry.store(connection, self.at).await
    }

    /// Ends all rights to read the projects of a user, whose account is being deleted, and all rights of that user. Tells the readers
    /// and the owners.
    pub(super) async fn end_sharing_of_projects(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
    ) -> Result<(), ChangeError> {
        let readers = readers_of_user(&mut *connection, user_id).await?.into_iter();
        let owners = owners_of_read_projects(&mut *connection, user_id)
            .await?
            .into_iter();
        query(
            "DELETE FROM project_readers WHERE user_id = $1 \
             OR project_id IN (SELECT id FROM projects WHERE user_id = $1)",
        )
        .bind_value(user_id)
        .execute(&mut *connection)
        .await?;
        let readers = readers.map(|(reader, project_id)| (reader, project_id, true));
        let owners = owners.map(|(owner, project_id)| (owner, project_id, false));
        self.tell_each(connection, readers.chain(owners).collect()).await
    }

    /// Tells the readers of a user's projects that they can read them again, or can't, since the account was enabled or disabled.
    pub(super) async fn tell_readers_of_user(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
    ) -> Result<(), ChangeError> {
        let readers = readers_of_user(&mut *connection, user_id).await?;
        self.tell(connection, readers, false).await
    }

    /// Tells the readers of a conversation's project that they see it now, or see another title.
    pub(super) async fn tell_readers_of_conversation(
        &mut self,
        connection: &mut Connection,
        key: Key,
    ) -> Result<(), ChangeError> {
        let readers = readers_of_conversation(&mut *connection, key).await?;
        self.tell(connection, readers, false).await
    }

    /// Logs for readers that a project has changed, or can't be read any more.
    pub(super) async fn tell(
        &mut self,
        connection: &mut Connection,
        readers: Readers,
        deleted: bool,
    ) -> Result<(), ChangeError> {
        let told = readers
            .into_iter()
            .map(|(reader, project_id)| (reader, project_id, deleted));
        self.tell_each(connection, told.collect()).await
    }

    /// Logs for people, in the order of their logs, that a project has changed or, if true, can't be read any more.
    async fn tell_each(
        &mut self,
        connection: &mut Connection,
        told: BTreeSet<(UserId, ProjectId, bool)>,
    ) -> Result<(), ChangeError> {
        for (person, project_id, deleted) in told {
            let event = UserEvent::ProjectChanged { project_id, deleted };
            self.log_event(&mut *connection, person, ConversationId::NONE, None, event)
                .await?;
        }
        Ok(())
    }
}

/// Returns true if a change of a conversation may concern those who read its project.
pub(super) fn concerns_readers(change: &ConversationChange) -> bool {
    match change {
        ConversationChange::Rename { .. }
        | ConversationChange::Move { .. }
        | ConversationChange::Keep
        | ConversationChange::Trash { .. }
        | ConversationChange::Restore
        | ConversationChange::Erase { .. }
        | ConversationChange::Expire { .. }
        | ConversationChange::Delete => true,
        ConversationChange::Queue { .. }
        | ConversationChange::AllowTool { .. }
        | ConversationChange::ChooseModel { .. }
        | ConversationChange::SelectBranch { .. }
        | ConversationChange::DeleteMessage { .. }
        | ConversationChange::RestoreMessage { .. }
        | ConversationChange::EraseMessage { .. }
        | ConversationChange::MarkRead
        | ConversationChange::Pin { .. }
        | ConversationChange::Archive { .. } => false,
    }
}

/// Returns the readers of a conversation's project; none of a temporary or deleted conversation, which they do not see.
pub(super) async fn readers_of_conversation(
    connection: &mut Connection,
    key: Key,
) -> Result<Readers, ChangeError> {
    let select = query(
        "SELECT r.user_id, r.project_id FROM conversations c JOIN project_readers r ON r.project_id = c.project_id \
         WHERE c.user_id = $1 AND c.id = $2 AND c.temporary = 0 AND c.trashed_at IS NULL",
    );
    read(connection, select.bind_value(key.0).bind_value(key.1)).await
}

/// Returns the readers of a project.
pub(super) async fn readers_of_project(
    connection: &mut Connection,
    project_id: ProjectId,
) -> Result<Readers, ChangeError> {
    let select = query("SELECT user_id, project_id FROM project_readers WHERE project_id = $1");
    read(connection, select.bind_value(project_id)).await
}

async fn readers_of_user(connection: &mut Connection, user_id: UserId) -> Result<Readers, ChangeError> {
    let select = query(
        "SELECT r.user_id, r.project_id FROM projects p JOIN project_readers r ON r.project_id = p.id WHERE p.user_id = $1",
    );
    read(connection, select.bind_value(user_id)).await
}

/// Returns the owners of the projects that a user may read, each with a project.
async fn owners_of_read_projects(
    connection: &mut Connection,
    user_id: UserId,
) -> Result<Readers, ChangeError> {
    let select = query(
        "SELECT p.user_id, p.id AS project_id FROM project_readers r JOIN projects p ON p.id = r.project_id \
         WHERE r.user_id = $1",
    );
    read(connection, select.bind_value(user_id)).await
}

/// Reads readers. A damaged row is nobody's.
async fn read(connection: &mut Connection, select: Query) -> Result<Readers, ChangeError> {
    let rows = select.fetch_all(connection).await?;
    let mut readers = Readers::new();
    for row in &rows {
        let read = |row: &Row| Ok((id(row, "user_id")?, id(row, "project_id")?));
        readers.extend(skip_damaged("project_readers", "of a project", read(row))?);
    }
    Ok(readers)
}
