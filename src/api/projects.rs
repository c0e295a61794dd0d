//! The functions of projects.

use async_trait::async_trait;

use super::Api;
use crate::app;
use parlor_protocol::{
    ApiError, AttachmentId, ListedProject, Memory, OfferedTool, Project, ProjectConversations,
    ProjectDeleted, ProjectFiles, ProjectId, ProjectList, ProjectReaders, SharedProjectContent,
};
use parlor_ui::api::projects::ProjectFunctions;

#[async_trait]
impl ProjectFunctions for Api {
    async fn projects(&self) -> Result<ProjectList, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::projects::list(&caller).await)
    }

    async fn save_project(
        &self,
        id: ProjectId,
        project: Project,
        is_new: bool,
        replaces: Option<Project>,
    ) -> Result<ListedProject, ApiError> {
        let caller = app::current_caller()?;
        let saved = match is_new {
            true => app::projects::save(&caller, id, project).await,
            false => app::projects::change(&caller, id, project, replaces).await,
        };
        caller.set_error_status(saved)
    }

    async fn project_tools(&self) -> Result<Vec<OfferedTool>, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::projects::tools(&caller).await)
    }

    async fn project_memories(&self, id: ProjectId) -> Result<Vec<Memory>, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::projects::memories(&caller, id).await)
    }

    async fn restore_project_memory(&self, id: ProjectId, memory: Memory) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::projects::restore_memory(&caller, id, memory).await)
    }

    async fn forget_project_memories(&self, id: ProjectId) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::projects::forget_all_memories(&caller, id).await)
    }

    async fn project_files(&self, id: ProjectId) -> Result<ProjectFiles, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::projects::files(&caller, id).await)
    }

    async fn delete_project_file(&self, project_id: ProjectId, id: AttachmentId) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::projects::delete_file(&caller, project_id, id).await)
    }

    async fn project_readers(&self, id: ProjectId) -> Result<ProjectReaders, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::shared_projects::readers(&caller, id).await)
    }

    async fn add_project_readers(
        &self,
        id: ProjectId,
        names: Vec<String>,
    ) -> Result<ProjectReaders, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::shared_projects::add_readers(&caller, id, &names).await)
    }

    async fn remove_project_reader(&self, id: ProjectId, name: String) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::shared_projects::remove_reader(&caller, id, &name).await)
    }

    async fn shared_project(
        &self,
        id: ProjectId,
        cursor: Option<String>,
    ) -> Result<SharedProjectContent, ApiError> {
        let caller = app::current_caller()?;
        let content = app::shared_projects::content(&caller, id, cursor.as_deref()).await;
        caller.set_error_status(content)
    }

    async fn leave_shared_project(&self, id: ProjectId) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::shared_projects::leave(&caller, id).await)
    }

    async fn delete_project(
        &self,
        id: ProjectId,
        conversations: ProjectConversations,
    ) -> Result<ProjectDeleted, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::projects::delete(&caller, id, conversations).await)
    }
}
