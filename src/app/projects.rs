//! Projects and their files: saving and deleting them.

use axum::body::Body;
use parlor_base::clock;
use parlor_files::FileOwner;
use parlor_markup::markdown::is_invisible;
use parlor_protocol::{
    ApiError, Attachment, AttachmentId, ErrorCode, ListedProject, Memory, OfferedTool, Project,
    ProjectConversations, ProjectDeleted, ProjectFiles, ProjectId, ProjectList,
};
use parlor_storage::{Change, ChangeRejection, PersonalChange, projects::ProjectChange};

use super::{Caller, deletion, not_found, shared_projects};

/// The maximum length of the name of a tool, in bytes.
const MAX_TOOL_NAME_BYTES: usize = 200;

/// Returns the caller's projects.
pub async fn list(caller: &Caller) -> Result<ProjectList, ApiError> {
    // Before the list is read: a change between both is reported once more, and none is missed.
    let as_of = caller.app.storage.last_position(caller.user_id).await?;
    Ok(ProjectList {
        as_of,
        projects: caller.app.storage.projects(caller.user_id).await?,
        limit: caller.app.settings.projects.per_user,
        shared: shared_projects::list(caller).await?,
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
    save_over(caller, id, project, None).await
}

/// Saves a project over this version of it; over any if none is named.
async fn save_over(
    caller: &Caller,
    id: ProjectId,
    project: Project,
    replaces: Option<Project>,
) -> Result<ListedProject, ApiError> {
    let known = caller.app.storage.project(caller.user_id, id).await?;
    let project = check(caller, project, known.as_ref()).await?;
    if let Some(known) = known.filter(|known| known.project == project) {
        return Ok(known);
    }
    let change = ProjectChange::Save {
        id,
        project: Box::new(project),
        replaces: replaces.map(Box::new),
        limit: caller.app.settings.projects.per_user,
    };
    let user_id = caller.user_id;
    caller.commit(Change::Project { user_id, change }).await?;
    get(caller, id).await
}

/// Saves another version of a project over the one that the user has seen. One that was deleted meanwhile, perhaps in another tab, is
/// not made again.
///
/// # Errors
///
/// As for [`save`], or if there is no such project, or another version of it.
pub async fn change(
    caller: &Caller,
    id: ProjectId,
    project: Project,
    replaces: Option<Project>,
) -> Result<ListedProject, ApiError> {
    get(caller, id).await?;
    save_over(caller, id, project, replaces).await
}

/// Returns the tools that a project of the caller may switch off.
pub async fn tools(caller: &Caller) -> Result<Vec<OfferedTool>, ApiError> {
    let permissions = caller.app.runs.permissions(caller.user_id).await?;
    let tools = caller.app.runs.common_tools(&permissions).into_iter();
    Ok(tools.map(|(name, label)| OfferedTool { name, label }).collect())
}

/// Returns the memories of one of the caller's projects, newest first.
///
/// # Errors
///
/// If there is no such project.
pub async fn memories(caller: &Caller, id: ProjectId) -> Result<Vec<Memory>, ApiError> {
    get(caller, id).await?;
    Ok(caller.app.storage.project_memories(caller.user_id, id).await?)
}

/// Restores a memory of a project that was deleted by mistake.
///
/// # Errors
///
/// If it is not valid, the limit is reached, or there is no such project.
pub async fn restore_memory(caller: &Caller, id: ProjectId, memory: Memory) -> Result<(), ApiError> {
    get(caller, id).await?;
    let limit = caller.app.settings.projects.memories;
    super::personal::add_memory(caller, memory, Some(id), limit).await
}

/// Deletes all memories of a project.
///
/// # Errors
///
/// If there is no such project.
pub async fn forget_all_memories(caller: &Caller, id: ProjectId) -> Result<(), ApiError> {
    get(caller, id).await?;
    let change = PersonalChange::DeleteAllMemories { project_id: Some(id) };
    let user_id = caller.user_id;
    caller.commit(Change::Personal { user_id, change }).await?;
    Ok(())
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
        app.access.recheck();
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
/// names it. The same upload again, by the id that the client has chosen for the file, stores nothing.
///
/// # Errors
///
/// If there is no such project, it has as many files as it can have, or the file is not accepted.
pub async fn add_file(
    caller: &Caller,
    (id, file_id): (ProjectId, Option<AttachmentId>),
    name: &str,
    length: Option<u64>,
    body: Body,
) -> Result<Attachment, ApiError> {
    let settings = &caller.app.settings.projects;
    // Before anything of it is read.
    let listed = get(caller, id).await?;
    if let Some(stored) = stored_file(caller, id, file_id).await? {
        return Ok(stored);
    }
    if listed.files >= settings.files {
        Err(ChangeRejection::ProjectFilesFull)?;
    }
    let owner = FileOwner::Project {
        id,
        file_id,
        max_files: settings.files,
        text_bytes: settings.text_bytes,
    };
    let uploaded = match super::files::upload(caller, owner, name, length, body).await {
        Ok(uploaded) => uploaded,
        // An earlier upload has ended meanwhile.
        Err(error) if error.code == ErrorCode::IntentReused => {
            return stored_file(caller, id, file_id).await?.ok_or(error);
        }
        Err(error) => return Err(error),
    };
    // Its name may have a number now. It is stored, whatever becomes of this.
    let stored = caller.app.storage.file(caller.user_id, uploaded.id).await;
    Ok(stored.ok().flatten().map_or(uploaded, |stored| stored.attachment))
}

/// Returns a file of a project that was stored under an id.
async fn stored_file(
    caller: &Caller,
    project_id: ProjectId,
    id: Option<AttachmentId>,
) -> Result<Option<Attachment>, ApiError> {
    let Some(id) = id else { return Ok(None) };
    let files = caller
        .app
        .storage
        .project_files(caller.user_id, project_id)
        .await?;
    let mut files = files.into_iter().map(|file| file.attachment);
    Ok(files.find(|file| file.id == id))
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
    let limit = settings.projects.disabled_tools;
    let is_name = |name: &String| (1..=MAX_TOOL_NAME_BYTES).contains(&name.len());
    if project.disabled_tools.len() > limit || !project.disabled_tools.iter().all(is_name) {
        let message = format!(
            "A project can switch off at most {limit} tools, by their names (setting projects.disabled_tools). Nothing was saved."
        );
        return Err(ApiError::new(ErrorCode::BadRequest, message));
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
