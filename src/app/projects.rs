//! Projects and their files: saving and deleting them.

use axum::body::Body;
use parlor_base::clock;
use parlor_files::FileOwner;
use parlor_markup::markdown::is_invisible;
use parlor_protocol::{
    ApiError, Attachment, AttachmentId, ErrorCode, ListedProject, Project, ProjectConversations,
    ProjectDeleted, ProjectFiles, ProjectId, ProjectList,
};
use parlor_storage::{Change, ChangeRejection, projects::ProjectChange};

use super::{Caller, deletion, not_found};

/// Returns the caller's projects.
pub async fn list(caller: &Caller) -> Result<ProjectList, ApiError> {
    // Before the list is read: a change between both is reported once more, and none is missed.
    let as_of = caller.app.storage.last_position(caller.user_id).await?;
    Ok(ProjectList {
        as_of,
        projects: caller.app.storage.projects(caller.user_id).await?,
        limit: caller.app.settings.projects.per_user,
    })
}

/// Returns one of the caller's projects.
///
/// # Errors
///
/// If there is none.
pub async fn get(caller: &Caller, id: ProjectId) -> Result<ListedProject, ApiError> {
    let found = caller.app.storage.project(caller.user_id, id).await?;
    found.ok_or_else(not_found)
}

/// Saves a project: a new one, or another version of one. Its instructions count from the next answer on. A request that
/// changes nothing has no effect.
///
/// # Errors
///
/// If a field is not valid, or the limit of projects is reached. The saved one is kept.
pub async fn save(caller: &Caller, id: ProjectId, project: Project) -> Result<ListedProject, ApiError> {
    let known = caller.app.storage.project(caller.user_id, id).await?;
    let project = check(caller, project, known.as_ref()).await?;
    if let Some(known) = known.filter(|known| known.project == project) {
        return Ok(known);
    }
    let change = ProjectChange::Save {
        id,
        project: Box::new(project),
        limit: caller.app.settings.projects.per_user,
    };
    let user_id = caller.user_id;
    caller.commit(Change::Project { user_id, change }).await?;
    get(caller, id).await
}

/// Saves another version of a project. One that was deleted meanwhile, perhaps in another tab, is not made again.
///
/// # Errors
///
/// As for [`save`], or if there is no such project.
pub async fn change(caller: &Caller, id: ProjectId, project: Project) -> Result<ListedProject, ApiError> {
    get(caller, id).await?;
    save(caller, id, project).await
}

/// Deletes a project. Its conversations stay, in none, or are deleted, which can be undone for some time. Deleting it again is
/// not an error.
pub async fn delete(
    caller: &Caller,
    id: ProjectId,
    conversations: ProjectConversations,
) -> Result<ProjectDeleted, ApiError> {
    let (app, user_id) = (caller.app.clone(), caller.user_id);
    // In a task of its own: the caller may go away, and what is deleted must be erased.
    let deleting = tokio::spawn(async move {
        let deleted_at = clock::now();
        let change = ProjectChange::Delete {
            id,
            conversations,
            deleted_at,
        };
        app.journal.submit(Change::Project { user_id, change }).await?;
        let conversations = match conversations {
            ProjectConversations::Keep => Vec::new(),
            ProjectConversations::Delete => deletion::finish_trashed(&app, user_id, deleted_at).await?,
        };
        Ok::<_, ApiError>(ProjectDeleted { conversations })
    });
    let broke = |_| ApiError::new(ErrorCode::Internal, "Something went wrong. Load the page again.");
    deleting.await.map_err(broke)?
}

/// Returns the files of one of the caller's projects.
///
/// # Errors
///
/// If there is no such project.
pub async fn files(caller: &Caller, id: ProjectId) -> Result<ProjectFiles, ApiError> {
    get(caller, id).await?;
    let files = caller.app.storage.project_files(caller.user_id, id).await?;
    Ok(ProjectFiles {
        files: files.into_iter().map(|file| file.attachment).collect(),
        limit: caller.app.settings.projects.files,
    })
}

/// Stores a file of a project, which its conversations can read from their next answer on. `length` is its size, if the request
/// names it.
///
/// # Errors
///
/// If there is no such project, it has as many files as it can have, or the file is not accepted.
pub async fn add_file(
    caller: &Caller,
    id: ProjectId,
    name: &str,
    length: Option<u64>,
    body: Body,
) -> Result<Attachment, ApiError> {
    let settings = &caller.app.settings.projects;
    // Before anything of it is read.
    let listed = get(caller, id).await?;
    if listed.files >= settings.files {
        Err(ChangeRejection::ProjectFilesFull)?;
    }
    let owner = FileOwner::Project {
        id,
        max_files: settings.files,
        text_bytes: settings.text_bytes,
    };
    let uploaded = super::files::upload(caller, owner, name, length, body).await?;
    // Its name may have a number now. It is stored, whatever becomes of this.
    let stored = caller.app.storage.file(caller.user_id, uploaded.id).await;
    Ok(stored.ok().flatten().map_or(uploaded, |stored| stored.attachment))
}

/// Deletes a file of a project. Deleting it again is not an error.
pub async fn delete_file(caller: &Caller, project_id: ProjectId, id: AttachmentId) -> Result<(), ApiError> {
    let change = ProjectChange::DeleteFile { project_id, id };
    let user_id = caller.user_id;
    caller.commit(Change::Project { user_id, change }).await?;
    Ok(())
}

/// Checks the fields of a project, and completes them. The model that is saved already may be unavailable just now.
async fn check(
    caller: &Caller,
    mut project: Project,
    known: Option<&ListedProject>,
) -> Result<Project, ApiError> {
    let settings = &caller.app.settings;
    project.name = project.name.split_whitespace().collect::<Vec<_>>().join(" ");
    let max = settings.limits.title_characters;
    if project.name.chars().all(|c| c == ' ' || is_invisible(c)) || project.name.chars().count() > max {
        let message = format!("A name has 1 to {max} characters, one of them visible. Nothing was saved.");
        return Err(ApiError::new(ErrorCode::BadRequest, message));
    }
    let limit = settings.projects.instructions_bytes;
    if project.instructions.len() > limit {
        let message = format!(
            "The instructions are too long: {} of at most {limit} bytes (setting projects.instructions_bytes). Nothing was saved.",
            project.instructions.len()
        );
        return Err(ApiError::new(ErrorCode::TooLarge, message));
    }
    if project.model.as_deref() == Some("") {
        project.model = None;
    }
    if known.is_none_or(|known| known.project.model != project.model) {
        let runs = &caller.app.runs;
        project.model = runs
            .find_named_model(caller.user_id, project.model.as_deref())
            .await?;
    }
    Ok(project)
}
