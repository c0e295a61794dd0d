//! Changes to projects, and the move of a conversation into or out of one.

use super::{
    Batch, ChangeError, file_deletion::refuse_unfinished, files::FilePlace, list_place::Key,
    personal::ensure_user, project_readers::readers_of_project,
};
use crate::{
    ChangeRejection, Outcome, StoredFile,
    damage::skip_damaged,
    projects::ProjectChange,
    sql::{
        database::{Connection, query, query_scalar},
        files, id, projects,
    },
};
use parlor_base::crash_point;
use parlor_protocol::{
    AttachmentId, ConversationId, Project, ProjectConversations, ProjectId, Timestamp, UserEvent, UserId,
};

impl Batch<'_> {
    pub(super) async fn change_projects(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        change: &ProjectChange,
    ) -> Result<Outcome, ChangeError> {
        match change {
            ProjectChange::Save {
                id,
                project,
                replaces,
                limit,
            } => {
                if let Some(replaces) = replaces {
                    require_version(&mut *connection, (user_id, *id), replaces).await?;
                }
                self.save_project(connection, (user_id, *id), project, *limit)
                    .await
            }
            ProjectChange::AddFile {
                project_id,
                file,
                limit,
            } => {
                self.add_project_file(connection, (user_id, *project_id), file, *limit)
                    .await
            }
            ProjectChange::AddReaders {
                id,
                readers,
                limit,
                limit_shared,
            } => {
                let limits = (*limit, *limit_shared);
                self.add_readers(connection, (user_id, *id), readers, limits)
                    .await
            }
            ProjectChange::RemoveReader { id, reader } => {
                self.remove_reader(connection, (user_id, *id), *reader).await
            }
            ProjectChange::Leave { id } => self.leave_project(connection, user_id, *id).await,
            ProjectChange::DeleteFile { project_id, id } => {
                self.delete_project_file(connection, (user_id, *project_id), *id)
                    .await
            }
            ProjectChange::Delete {
                id,
                conversations,
                deleted_at,
            } => {
                if *conversations == ProjectConversations::Delete {
                    self.trash_conversations_of(&mut *connection, (user_id, *id), *deleted_at)
                        .await?;
                }
                self.delete_project(connection, (user_id, *id)).await
            }
        }
    }

    /// Saves a project. The client chooses the id, which is unique over all users: another user's project is not found.
    async fn save_project(
        &mut self,
        connection: &mut Connection,
        (user_id, id): (UserId, ProjectId),
        project: &Project,
        limit: usize,
    ) -> Result<Outcome, ChangeError> {
        ensure_user(&mut *connection, user_id).await?;
        let row = query(
            "SELECT count(*) AS count, EXISTS (SELECT 1 FROM projects WHERE user_id = $1 AND id = $2) AS known \
             FROM projects WHERE user_id = $1",
        )
        .bind_value(user_id)
        .bind_value(id)
        .fetch_one(&mut *connection)
        .await?;
        let (count, is_known): (i64, bool) = (row.try_get("count")?, row.try_get("known")?);
        if !is_known && usize::try_from(count).is_ok_and(|count| count >= limit) {
            Err(ChangeRejection::ProjectsFull)?;
        }
        let saved = query(
            "INSERT INTO projects (id, user_id, definition) VALUES ($1, $2, $3) \
             ON CONFLICT (id) DO UPDATE SET definition = $3 WHERE projects.user_id = $2",
        )
        .bind_value(id)
        .bind_value(user_id)
        .bind(serde_json::to_string(project)?)
        .execute(&mut *connection)
        .await?;
        if saved.rows_affected() == 0 {
            Err(ChangeRejection::NotFound)?;
        }
        self.log_project(connection, (user_id, id), false).await?;
        // The former instructions count as deleted data.
        Ok(if is_known {
            Outcome::DataDeleted
        } else {
            Outcome::Done
        })
    }

    /// Stores a file of a project under a name that no other file of the project has.
    async fn add_project_file(
        &mut self,
        connection: &mut Connection,
        (user_id, project_id): (UserId, ProjectId),
        file: &StoredFile,
        limit: usize,
    ) -> Result<Outcome, ChangeError> {
        require_project(&mut *connection, user_id, project_id).await?;
        // The response to an earlier upload under this id was lost.
        let is_known = query("SELECT 1 FROM files WHERE id = $1")
            .bind_value(file.attachment.id)
            .fetch_optional(&mut *connection)
            .await?;
        if is_known.is_some() {
            Err(ChangeRejection::IntentReused)?;
        }
        let others = files::project_files(&mut *connection, user_id, project_id).await?;
        if others.len() >= limit {
            Err(ChangeRejection::ProjectFilesFull)?;
        }
        let mut file = file.clone();
        let names: Vec<&str> = others.iter().map(|other| &*other.attachment.name).collect();
        file.attachment.name = free_name(&file.attachment.name, &names);
        let owner = (user_id, file.location.conversation_id);
        self.insert_file(&mut *connection, &file, owner, FilePlace::Project(project_id))
            .await?;
        self.log_project(connection, (user_id, project_id), false).await?;
        Ok(Outcome::Done)
    }

    /// Deletes a file of a project, unless one of its conversations is being answered. Deleting a missing one has no effect.
    async fn delete_project_file(
        &mut self,
        connection: &mut Connection,
        (user_id, project_id): (UserId, ProjectId),
        id: AttachmentId,
    ) -> Result<Outcome, ChangeError> {
        let deleted = query("DELETE FROM files WHERE user_id = $1 AND project_id = $2 AND id = $3")
            .bind_value(user_id)
            .bind_value(project_id)
            .bind_value(id)
            .execute(&mut *connection)
            .await?;
        if deleted.rows_affected() > 0 {
            refuse_unfinished(&mut *connection, user_id, &[], &[project_id]).await?;
            self.delete_derived(&mut *connection, user_id, &[], &[project_id])
                .await?;
            self.log_project(connection, (user_id, project_id), false).await?;
        }
        Ok(Outcome::DataDeleted)
    }

    /// Deletes the conversations of a project so that they can be restored.
    async fn trash_conversations_of(
        &mut self,
        connection: &mut Connection,
        (user_id, project_id): (UserId, ProjectId),
        trashed_at: Timestamp,
    ) -> Result<(), ChangeError> {
        let rows = query(
            "SELECT id FROM conversations WHERE user_id = $1 AND project_id = $2 AND trashed_at IS NULL ORDER BY activity",
        )
        .bind_value(user_id)
        .bind_value(project_id)
        .fetch_all(&mut *connection)
        .await?;
        for row in &rows {
            let found = skip_damaged("conversations", "of a project", id::<ConversationId>(row, "id"))?;
            if let Some(conversation_id) = found {
                self.trash_conversation(&mut *connection, (user_id, conversation_id), trashed_at)
                    .await?;
            }
        }
        Ok(())
    }

    /// Deletes a project with its files. Its conversations leave it. Deleting a missing one has no effect.
    async fn delete_project(
        &mut self,
        connection: &mut Connection,
        (user_id, id): (UserId, ProjectId),
    ) -> Result<Outcome, ChangeError> {
        // Its files and memories go with it.
        self.delete_derived(&mut *connection, user_id, &[], &[id]).await?;
        query("UPDATE conversations SET project_id = NULL WHERE user_id = $1 AND project_id = $2")
            .bind_value(user_id)
            .bind_value(id)
            .execute(&mut *connection)
            .await?;
        crash_point!("projects::left");
        let readers = readers_of_project(&mut *connection, id).await?;
        let deleted = query("DELETE FROM projects WHERE user_id = $1 AND id = $2")
            .bind_value(user_id)
            .bind_value(id)
            .execute(&mut *connection)
            .await?;
        if deleted.rows_affected() > 0 {
            self.log_project(&mut *connection, (user_id, id), true).await?;
            self.tell(connection, readers, true).await?;
        }
        Ok(Outcome::DataDeleted)
    }

    /// Moves a conversation into a project, or out of its project.
    pub(super) async fn move_conversation(
        &mut self,
        connection: &mut Connection,
        key: Key,
        project_id: Option<ProjectId>,
    ) -> Result<Outcome, ChangeError> {
        if let Some(project_id) = project_id {
            require_project(&mut *connection, key.0, project_id).await?;
        }
        let moved = query(
            "UPDATE conversations SET project_id = $3 WHERE user_id = $1 AND id = $2 AND trashed_at IS NULL \
             AND project_id IS DISTINCT FROM $3",
        )
        .bind_value(key.0)
        .bind_value(key.1)
        .bind_value(project_id)
        .execute(&mut *connection)
        .await?;
        self.log_place(connection, key, moved.rows_affected() > 0).await
    }

    /// Logs that a project was changed, for its owner and its readers.
    pub(super) async fn log_project(
        &mut self,
        connection: &mut Connection,
        (user_id, project_id): (UserId, ProjectId),
        deleted: bool,
    ) -> Result<(), ChangeError> {
        self.log_project_of_owner(&mut *connection, (user_id, project_id), deleted)
            .await?;
        let readers = readers_of_project(&mut *connection, project_id).await?;
        self.tell(connection, readers, false).await
    }

    /// Logs for the owner alone that a project was changed: in something that its readers do not see.
    pub(super) async fn log_project_of_owner(
        &mut self,
        connection: &mut Connection,
        (user_id, project_id): (UserId, ProjectId),
        deleted: bool,
    ) -> Result<(), ChangeError> {
        let event = UserEvent::ProjectChanged { project_id, deleted };
        self.log_event(connection, user_id, ConversationId::NONE, None, event)
            .await?;
        Ok(())
    }
}

/// Returns a file's name with the first number that makes it different from the others: `a.pdf`, `a (2).pdf`.
fn free_name(name: &str, others: &[&str]) -> String {
    let (stem, extension) = match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => (stem, format!(".{extension}")),
        _ => (name, String::new()),
    };
    let numbered = (2..).map(|number: usize| format!("{stem} ({number}){extension}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names
        .find(|name| !others.contains(&name.as_str()))
        .unwrap_or_default()
}

/// Rejects a change that needs a project of the user.
pub(super) async fn require_project(
    connection: &mut Connection,
    user_id: UserId,
    project_id: ProjectId,
) -> Result<(), ChangeError> {
    let exists: bool = query_scalar("SELECT EXISTS (SELECT 1 FROM projects WHERE user_id = $1 AND id = $2)")
        .bind_value(user_id)
        .bind_value(project_id)
        .fetch_one(connection)
        .await?;
    if !exists {
        Err(ChangeRejection::ProjectNotFound)?;
    }
    Ok(())
}

/// Rejects a change of another version of a project than the stored one.
async fn require_version(
    connection: &mut Connection,
    (user_id, id): (UserId, ProjectId),
    version: &Project,
) -> Result<(), ChangeError> {
    let found = projects::project(connection, user_id, id).await?;
    let found = found.ok_or(ChangeRejection::NotFound)?;
    match found.project == *version {
        true => Ok(()),
        false => Err(ChangeRejection::ProjectChanged)?,
    }
}
