//! Projects that their owners share for reading: who may read one, and what a reader sees. The conversations are read as live
//! shares ([`sharing`]), each under its own id; files of the project are those of readers of a share, too.

use parlor_base::settings::AuthMode;
use parlor_files::has_rows;
use parlor_protocol::{
    ApiError, AttachmentId, ErrorCode, Position, ProjectId, ProjectReaders, SharedProject,
    SharedProjectContent, conversation_list::ListCursor,
};
use parlor_storage::{Change, StoredFile, projects::ProjectChange};

use super::{
    Caller, not_found, projects,
    sharing::{self, projection},
};

/// Returns the people who may read one of the caller's projects.
///
/// # Errors
///
/// If there is no such project.
pub async fn readers(caller: &Caller, id: ProjectId) -> Result<ProjectReaders, ApiError> {
    projects::get(caller, id).await?;
    Ok(ProjectReaders {
        readers: caller.app.storage.project_readers(caller.user_id, id).await?,
        limit: caller.app.settings.projects.readers,
    })
}

/// Lets the people with these names read one of the caller's projects. Returns all its readers.
///
/// # Errors
///
/// If there is no such project, nobody has one of the names, or a limit is reached. Nobody is added then.
pub async fn add_readers(
    caller: &Caller,
    id: ProjectId,
    names: &[String],
) -> Result<ProjectReaders, ApiError> {
    projects::get(caller, id).await?;
    let settings = &caller.app.settings.projects;
    let too_many = || {
        let limit = settings.readers;
        format!("A project has at most {limit} readers (setting projects.readers). Nobody was added.")
    };
    let found = sharing::find_readers(caller, names, settings.readers, too_many).await?;
    let change = ProjectChange::AddReaders {
        id,
        readers: found.into_iter().map(|(user_id, _)| user_id).collect(),
        limit: settings.readers,
        limit_shared: settings.shared_with_user,
    };
    commit(caller, change).await?;
    readers(caller, id).await
}

/// Ends the right of a person to read one of the caller's projects, also on pages that are open. One who has none is not an error.
///
/// # Errors
///
/// If there is no such project, or nobody with the name: the person may have another one now, and still read it.
pub async fn remove_reader(caller: &Caller, id: ProjectId, name: &str) -> Result<(), ApiError> {
    projects::get(caller, id).await?;
    let account = caller.app.accounts.account_by_name(name).await?;
    let account = account.ok_or_else(|| {
        let message =
            format!("There is nobody here with the name “{name}” any more. Nothing was changed; look at the list of readers again.");
        ApiError::new(ErrorCode::NotFound, message)
    })?;
    let reader = account.user_id;
    commit(caller, ProjectChange::RemoveReader { id, reader }).await?;
    caller.app.access.recheck();
    Ok(())
}

/// Ends the right of the caller to read another's project. One who has none is not an error.
pub async fn leave(caller: &Caller, id: ProjectId) -> Result<(), ApiError> {
    commit(caller, ProjectChange::Leave { id }).await?;
    caller.app.access.recheck();
    Ok(())
}

/// Returns the projects of others that the caller may read.
pub async fn list(caller: &Caller) -> Result<Vec<SharedProject>, ApiError> {
    match has_accounts(caller) {
        true => Ok(caller.app.storage.shared_projects(caller.user_id).await?),
        false => Ok(Vec::new()),
    }
}

/// Returns what the caller may read of another's project. `cursor` is `next` of the previous page.
///
/// # Errors
///
/// If the project is not shared with the caller, or the cursor is not that of a page.
pub async fn content(
    caller: &Caller,
    id: ProjectId,
    cursor: Option<&str>,
) -> Result<SharedProjectContent, ApiError> {
    let before = cursor.map(|cursor| cursor.parse().map(Position)).transpose();
    let before = before.map_err(|_| {
        let message = "The place in the list is not valid. Begin with the first page.";
        ApiError::new(ErrorCode::BadRequest, message)
    })?;
    if !has_accounts(caller) {
        return Err(not_found());
    }
    let storage = &caller.app.storage;
    let before = before.map(|activity| ListCursor { activity });
    let limit = caller.app.settings.limits.conversations_page;
    let found = storage.shared_project(caller.user_id, id, before, limit).await?;
    let page = found.ok_or_else(not_found)?;
    let files = page.files.iter().map(|file| &file.attachment);
    Ok(SharedProjectContent {
        as_of: page.as_of,
        project: page.listed,
        instructions: page.instructions,
        files: files
            .filter(|file| !has_rows(file))
            .map(projection::file)
            .collect(),
        conversations: page.conversations,
        next: page.next.map(|next| next.activity.0.to_string()),
    })
}

/// Returns a file of another's project that the caller may read.
///
/// # Errors
///
/// If there is none.
pub async fn file(caller: &Caller, id: ProjectId, file_id: AttachmentId) -> Result<StoredFile, ApiError> {
    if !has_accounts(caller) {
        return Err(not_found());
    }
    let storage = &caller.app.storage;
    let file = storage.shared_project_file(caller.user_id, id, file_id).await?;
    file.filter(|file| !has_rows(&file.attachment))
        .ok_or_else(not_found)
}

/// Without accounts there is nobody to share with. Rights of an earlier time with accounts remain stored.
fn has_accounts(caller: &Caller) -> bool {
    caller.app.accounts.mode() != AuthMode::None
}

async fn commit(caller: &Caller, change: ProjectChange) -> Result<(), ApiError> {
    let user_id = caller.user_id;
    caller.commit(Change::Project { user_id, change }).await
}
