//! Server functions of projects, under `/rpc`.

use leptos::prelude::*;
use server_fn::codec::{GetUrl, Json};

use parlor_protocol::{
    ApiError, ListedProject, Project, ProjectConversations, ProjectDeleted, ProjectId, ProjectList,
};

server_functions! {
    trait ProjectFunctions;

    /// Returns the user's projects.
    GetUrl "projects" as LoadProjects
    fn projects() -> ProjectList;

    /// Saves a project: a new one, or another version of one, which must exist.
    Json "save_project"
    fn save_project(id: ProjectId, project: Project, is_new: bool) -> ListedProject;

    /// Deletes a project. Its conversations stay, or are deleted.
    Json "delete_project"
    fn delete_project(id: ProjectId, conversations: ProjectConversations) -> ProjectDeleted;
}
