//! Server functions of projects, under `/rpc`.

use leptos::prelude::*;
use server_fn::codec::{GetUrl, Json};

use parlor_protocol::{
    ApiError, AttachmentId, ListedProject, Memory, OfferedTool, Project, ProjectConversations,
    ProjectDeleted, ProjectFiles, ProjectId, ProjectList, ProjectReaders, SharedProjectContent,
};

server_functions! {
    trait ProjectFunctions;

    /// Returns the user's projects.
    GetUrl "projects" as LoadProjects
    fn projects() -> ProjectList;

    /// Saves a project: a new one, or another version of one, which must exist. `replaces` is the version that the user has seen.
    Json "save_project"
    fn save_project(id: ProjectId, project: Project, is_new: bool, #[server(default)] replaces: Option<Project>) -> ListedProject;

    /// Returns the tools that a project may switch off.
    GetUrl "project_tools" as LoadProjectTools
    fn project_tools() -> Vec<OfferedTool>;

    /// Returns the memories of a project, newest first.
    GetUrl "project_memories" as LoadProjectMemories
    fn project_memories(id: ProjectId) -> Vec<Memory>;

    /// Restores a memory of a project that was deleted by mistake.
    Json "restore_project_memory"
    fn restore_project_memory(id: ProjectId, memory: Memory) -> ();

    /// Deletes all memories of a project.
    Json "forget_project_memories"
    fn forget_project_memories(id: ProjectId) -> ();

    /// Returns the files of a project.
    GetUrl "project_files" as LoadProjectFiles
    fn project_files(id: ProjectId) -> ProjectFiles;

    /// Deletes a file of a project.
    Json "delete_project_file"
    fn delete_project_file(project_id: ProjectId, id: AttachmentId) -> ();

    /// Returns the people who may read a project.
    GetUrl "project_readers" as LoadProjectReaders
    fn project_readers(id: ProjectId) -> ProjectReaders;

    /// Lets people with these names read a project. Returns all who may.
    Json "add_project_readers"
    fn add_project_readers(id: ProjectId, names: Vec<String>) -> ProjectReaders;

    /// Ends the right of a person to read a project.
    Json "remove_project_reader"
    fn remove_project_reader(id: ProjectId, name: String) -> ();

    /// Returns what the user may read of another's project. `cursor` is that of a further page of its conversations.
    GetUrl "shared_project" as LoadSharedProject
    fn shared_project(id: ProjectId, cursor: Option<String>) -> SharedProjectContent;

    /// Ends the right of the user to read another's project.
    Json "leave_shared_project"
    fn leave_shared_project(id: ProjectId) -> ();

    /// Deletes a project with its files. Its conversations stay, or are deleted.
    Json "delete_project"
    fn delete_project(id: ProjectId, conversations: ProjectConversations) -> ProjectDeleted;
}
