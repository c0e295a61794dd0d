//! The descriptions of the operations on projects.

use serde_json::json;

use super::{
    generator::{add_problems, response_schema},
    parts::{Operation, set_file_body, set_request_example, with_created, with_file, with_status},
};
use parlor_protocol::Attachment;

pub fn list_projects(operation: Operation<'_>) -> Operation<'_> {
    operation.id("listProjects").summary("List the projects").description(
        "Conversations that belong together, with instructions and a model of their own. project_changed says that one has \
         changed.",
    )
}

pub fn get_project(operation: Operation<'_>) -> Operation<'_> {
    operation.id("getProject").summary("Get a project")
}

pub fn save_project(operation: Operation<'_>) -> Operation<'_> {
    let mut operation = operation.id("saveProject").summary("Save a project").description(
        "A new one, under an id of your choice, or another version of one. The same request again changes nothing. Its \
             instructions count from the next answer on.",
    );
    set_request_example(
        &mut operation,
        json!({ "name": "Garden", "colour": "green", "instructions": "Answer as a gardener in Denmark would." }),
    );
    add_problems(operation.inner_mut(), &[404, 422]);
    operation
}

pub fn list_project_files(operation: Operation<'_>) -> Operation<'_> {
    operation
        .id("listProjectFiles")
        .summary("List the files of a project")
        .description("What each of its conversations can read. Their contents are at /api/files/{file_id}.")
}

pub fn add_project_file(operation: Operation<'_>) -> Operation<'_> {
    let mut operation = operation
        .id("addProjectFile")
        .summary("Add a file to a project")
        .description(
            "The body is the file, of a type that messages take, too. Its conversations can read it from the next answer on: short \
             texts whole, others by a tool that searches them.",
        );
    set_file_body(operation.inner_mut());
    add_problems(operation.inner_mut(), &[404, 408, 413, 415, 507]);
    with_created(operation, "The file.", response_schema::<Attachment>())
}

pub fn delete_project_file(operation: Operation<'_>) -> Operation<'_> {
    let operation = operation
        .id("deleteProjectFile")
        .summary("Delete a file of a project");
    with_status(operation, 204, "It is deleted, or was never there.")
}

pub fn delete_project(operation: Operation<'_>) -> Operation<'_> {
    let operation = operation
        .id("deleteProject")
        .summary("Delete a project")
        .description("Its files are deleted. Its conversations stay, in no project, unless you ask for their deletion.");
    with_status(operation, 204, "Deleted, or deleted before.")
}

pub fn list_project_readers(operation: Operation<'_>) -> Operation<'_> {
    operation
        .id("listProjectReaders")
        .summary("List the readers of a project")
        .description("The people who may read it. project_changed says that they have changed.")
}

pub fn add_project_reader(operation: Operation<'_>) -> Operation<'_> {
    let mut operation = operation
        .id("addProjectReader")
        .summary("Share a project with a person")
        .description(
            "The person with this name of an account may read the project from now on: its name, its instructions, its files and its \
             conversations, also what comes, but not its memories. Somebody who may read it already is no error.",
        );
    add_problems(operation.inner_mut(), &[400, 404, 413]);
    operation
}

pub fn remove_project_reader(operation: Operation<'_>) -> Operation<'_> {
    let operation = operation
        .id("removeProjectReader")
        .summary("Share a project with a person no more")
        .description("Takes effect at once, also for streams that are open.");
    with_status(operation, 204, "The person may not read it.")
}

pub fn get_shared_project(operation: Operation<'_>) -> Operation<'_> {
    let mut operation = operation
        .id("getSharedProject")
        .summary("Get a project of another person")
        .description(
            "GET /api/projects lists those that the user may read, in shared. The conversations are on their pages, /shared/{id}.",
        );
    add_problems(operation.inner_mut(), &[400]);
    operation
}

pub fn leave_shared_project(operation: Operation<'_>) -> Operation<'_> {
    let operation = operation
        .id("leaveSharedProject")
        .summary("Leave a project of another person")
        .description("The user may not read it any more.");
    with_status(operation, 204, "The user may not read it.")
}

pub fn get_shared_project_file(operation: Operation<'_>) -> Operation<'_> {
    let operation = operation
        .id("getSharedProjectFile")
        .summary("Download a file of a project of another person")
        .description(
            "Of images only the pixels, without place, camera or comments. Everything else is application/octet-stream.",
        );
    with_file(operation, 200, "The bytes.")
}
