//! The descriptions of the operations on projects.

use serde_json::json;

use super::{
    generator::add_problems,
    parts::{Operation, set_request_example, with_status},
};

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

pub fn delete_project(operation: Operation<'_>) -> Operation<'_> {
    let operation = operation
        .id("deleteProject")
        .summary("Delete a project")
        .description("Its conversations stay, in no project, unless you ask for their deletion.");
    with_status(operation, 204, "Deleted, or deleted before.")
}
