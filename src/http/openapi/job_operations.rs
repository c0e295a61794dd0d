//! The descriptions of the operations on jobs.

use serde_json::json;

use super::{
    generator::{add_problems, response_schema},
    parts::{Operation, set_request_example, with_created, with_file, with_idempotency_key, with_status},
};
use crate::http::jobs::JobDetails;

pub fn list_jobs(operation: Operation<'_>) -> Operation<'_> {
    operation.id("listJobs").summary("List your jobs").description(
        "Newest first, as they stand at as_of. The event stream has job_changed for each later change, with the whole job.",
    )
}

pub fn start_job(operation: Operation<'_>) -> Operation<'_> {
    let mut operation = operation.id("startJob").summary("Start a job").description(
        "It goes on while nobody looks, also after a restart of the server. Idempotency-Key is its id. A report searches PubMed for the query of a \
         stream, judges which articles are relevant, reads the fields of the stream's schema out of them, and summarises them; every \
         answer of the model has a passage, which is checked. Columns ask the questions that you have added (PUT /api/columns/{column_id}) to \
         your saved articles or a table: {\"kind\": \"columns\", \"input\": {\"source\": \"articles\"}}. 409 if another job fills the columns of \
         the same rows.",
    );
    set_request_example(
        &mut operation,
        json!({ "kind": "report", "input": { "stream_id": "01a2217b-0246-7346-8b45-a4bcd684a3d1" }, "cost_limit": 0.5 }),
    );
    add_problems(operation.inner_mut(), &[404, 409, 413, 422, 429]);
    let operation = with_idempotency_key(operation);
    with_created(operation, "The job.", response_schema::<JobDetails>())
}

pub fn get_job(operation: Operation<'_>) -> Operation<'_> {
    operation
        .id("getJob")
        .summary("Get a job with its input and its result")
}

pub fn delete_job(operation: Operation<'_>) -> Operation<'_> {
    let operation = operation
        .id("deleteJob")
        .summary("Delete a job and end its work")
        .description("Its steps, its result and its diagnostics are deleted, too.");
    with_status(operation, 204, "Deleted, or already deleted.")
}

pub fn stop_job(operation: Operation<'_>) -> Operation<'_> {
    operation
        .id("stopJob")
        .summary("Stop a job")
        .description("The finished steps are kept. A job that has ended stays as it is.")
}

pub fn continue_job(operation: Operation<'_>) -> Operation<'_> {
    let mut operation = operation.id("continueJob").summary("Continue a job").description(
        "One that was stopped, failed, was interrupted or waits. Finished steps are not repeated. If waits_for names a step, its outcome is unknown: \
         continuing runs it again. With cost_limit, that is the limit from now on.",
    );
    set_request_example(&mut operation, json!({ "cost_limit": 1.5 }));
    add_problems(operation.inner_mut(), &[409, 429]);
    operation
}

pub fn export_report(operation: Operation<'_>) -> Operation<'_> {
    let mut operation = operation
        .id("exportReport")
        .summary("Download a report")
        .description(
            "For reading (markdown, html), for spreadsheets (csv: all articles), for reference managers (bibtex, ris: the relevant articles). \
             400 if it is not complete, or no report.",
        );
    add_problems(operation.inner_mut(), &[400]);
    with_file(operation, 200, "The file, with its name in Content-Disposition.")
}

pub fn list_job_steps(operation: Operation<'_>) -> Operation<'_> {
    operation.id("listJobSteps").summary("List the steps of a job")
}

pub fn get_job_diagnostics(operation: Operation<'_>) -> Operation<'_> {
    operation
        .id("getJobDiagnostics")
        .summary("Get the diagnostics of a job")
        .description("The model calls of its steps, each with the key of its step.")
}
