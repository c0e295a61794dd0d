//! Server functions of projects, under `/rpc`.

use leptos::prelude::*;
use server_fn::codec::{GetUrl, Json};

use parlor_protocol::{
    ApiError, AttachmentId, ListedProject, Project, ProjectConversations, ProjectDeleted, ProjectFiles,
    ProjectId, ProjectList,
};

server_functions! {
    trait ProjectFunctions;

    /// Returns the user's projects.
    GetUrl "projects" as LoadProjects
    fn projects() -> ProjectList;

    /// Saves a project: a new one, or another version of one, which must exist.
    Json "save_project"
    fn save_project(id: ProjectId, project: Project, is_new: bool) -> ListedProject;

    /// Returns the files of a project.
    GetUrl "project_files" as LoadProjectFiles
    fn project_files(id: ProjectId) -> ProjectFiles;

    /// Deletes a file of a project.
    Json "delete_project_file"
    fn delete_project_file(project_id: ProjectId, id: AttachmentId) -> ();

    /// Deletes a project with its files. Its conversations stay, or are deleted.
    Json "delete_project"
    fn delete_project(id: ProjectId, conversations: ProjectConversations) -> ProjectDeleted;
}
