//! The descriptions of the operations on columns.

use serde_json::json;

use super::{
    generator::add_problems,
    parts::{Operation, set_request_example, with_status},
};

pub fn list_columns(operation: Operation<'_>) -> Operation<'_> {
    let mut operation = operation.id("listColumns").summary("List the columns of a table with their cells").description(
        "Columns are questions about each row of something: your saved articles, a table of a message, an attached file with one table. A \
         job of the kind columns asks a model (POST /api/jobs). settings_changed says that columns or corrections have changed, job_changed \
         that cells were filled.",
    );
    add_problems(operation.inner_mut(), &[404]);
    operation
}

pub fn list_column_rows(operation: Operation<'_>) -> Operation<'_> {
    let mut operation = operation
        .id("listColumnRows")
        .summary("List the rows of a table that can have columns")
        .description("Of a message or a file. The key of a row is its number, from 1.");
    add_problems(operation.inner_mut(), &[400, 404]);
    operation
}

pub fn estimate_columns(operation: Operation<'_>) -> Operation<'_> {
    let mut operation = operation
        .id("estimateColumns")
        .summary("Count what filling the columns would ask a model")
        .description("The cost is missing if the prices of the model are not known.");
    add_problems(operation.inner_mut(), &[404, 422]);
    operation
}

pub fn save_column(operation: Operation<'_>) -> Operation<'_> {
    let mut operation = operation.id("saveColumn").summary("Save a column").description(
        "A new one, under an id of your choice, or another version of one. A changed question is asked again, and no other. 409 while a job \
         fills the columns.",
    );
    set_request_example(
        &mut operation,
        json!({ "source": "articles", "name": "People", "question": "How many people took part?", "type": "number" }),
    );
    add_problems(operation.inner_mut(), &[404, 409, 413, 422]);
    with_status(operation, 204, "Saved.")
}

pub fn delete_column(operation: Operation<'_>) -> Operation<'_> {
    let operation = operation
        .id("deleteColumn")
        .summary("Delete a column")
        .description("Its answers and your corrections in it are deleted, too.");
    with_status(operation, 204, "Deleted, or already deleted.")
}

pub fn get_cell(operation: Operation<'_>) -> Operation<'_> {
    operation
        .id("getCell")
        .summary("Get a cell with its passage, its model and your correction")
}

pub fn correct_cell(operation: Operation<'_>) -> Operation<'_> {
    let mut operation = operation.id("correctCell").summary("Correct a cell").description(
        "Your answer stays when the columns are filled again, and the model is told it as an example.",
    );
    set_request_example(&mut operation, json!({ "value": "120" }));
    add_problems(operation.inner_mut(), &[404, 413, 422]);
    with_status(operation, 204, "Corrected.")
}

pub fn take_back_correction(operation: Operation<'_>) -> Operation<'_> {
    let operation = operation
        .id("takeBackCorrection")
        .summary("Take the correction of a cell back");
    with_status(operation, 204, "It is taken back, or there was none.")
}
