//! The descriptions of the operations. Parameters, bodies and most responses come from the handlers' types.

use schemars::json_schema;
use serde_json::json;

use super::{
    generator::{add_problems, response_schema, set_response},
    parts::{
        LAST_EVENT_ID, Operation, answer_example, any_of, parameters_example, pending_answer_example,
        plain_problem, problem_response, response, set_file_body, set_request_example, set_response_example,
        with_created, with_example, with_file, with_header, with_header_parameter, with_idempotency_key,
        with_run_stream, with_status, with_stream,
    },
};
use crate::http::{
    batch::{AnswerLocation, FailedAnswer, PendingAnswer},
    chat_stream::QueuedTurn,
    files::UploadedFile,
    problem::Body,
    run_result::RunResult,
};

/// The former URL of files.
pub fn get_attachment(operation: Operation<'_>) -> Operation<'_> {
    let operation = operation
        .id("getAttachment")
        .summary("Download a file")
        .description("The same as GET /api/files/{file_id}.");
    with_content(operation)
}

pub fn upload_file(operation: Operation<'_>) -> Operation<'_> {
    let mut operation = operation
        .id("uploadFile")
        .summary("Upload a file for a message")
        .description(
            "The body is the file: a PNG, JPEG, GIF or WebP image, a PDF file, a workbook, a text document, slides, a notebook or a text. Its \
             content decides the type, whatever Content-Type says. Models that don't read a document get its text; text_bytes is \
             its size, or problem the reason why there is none. Name the id in files of a message in the same conversation; a file that no message has \
             is deleted after the setting files.keep_unsent.",
        );
    set_file_body(operation.inner_mut());
    add_problems(operation.inner_mut(), &[404, 408, 413, 415, 507]);
    with_created(operation, "The file.", response_schema::<UploadedFile>())
}

pub fn list_files(operation: Operation<'_>) -> Operation<'_> {
    operation.id("listFiles").summary("List all files").description(
        "Files of messages, of answers and of projects, with the places where each is used. Versions of a message and branches \
         share a file, which is listed once.",
    )
}

pub fn delete_file(operation: Operation<'_>) -> Operation<'_> {
    let mut operation = operation
        .id("deleteFile")
        .summary("Delete a file")
        .description(
            "Without `everywhere`, only an uploaded file that no message has: one of a message is deleted with the message.",
        );
    add_problems(operation.inner_mut(), &[409]);
    with_status(
        operation,
        204,
        "It is deleted, or (without everywhere) in a message, or was never there.",
    )
}

pub fn get_file(operation: Operation<'_>) -> Operation<'_> {
    let operation = operation
        .id("getFile")
        .summary("Download a file of the user or of a tool")
        .description(
            "Images (PNG, JPEG, GIF, WebP) and sounds have their own type; everything else is application/octet-stream, \
             as a download. The content never changes.",
        );
    with_content(operation)
}

fn with_content(operation: Operation<'_>) -> Operation<'_> {
    let operation = with_file(operation, 200, "The bytes.");
    let operation = with_file(operation, 206, "The requested range.");
    let operation = with_status(operation, 304, "Not modified: the ETag matches.");
    with_status(
        operation,
        416,
        "The range has no byte of the file. Content-Range has the size.",
    )
}

pub fn chat_batch(operation: Operation<'_>) -> Operation<'_> {
    let operation = operation
        .id("chatBatch")
        .summary("Send a message and wait for the answer")
        .description(
            "The run continues if the client disconnects. A repeated request (same Idempotency-Key) waits for the same \
             run.",
        );
    let mut operation = with_idempotency_key(operation);
    set_request_example(
        &mut operation,
        json!({ "message": "Hello", "model": "openai/gpt-4o" }),
    );
    let target = operation.inner_mut();
    let answer = response(
        "The answer is complete or was stopped (see status).",
        "application/json",
        response_schema::<RunResult>(),
    );
    set_response(target, 200, with_example(answer, answer_example()));
    let later = response(
        "The answer is not complete yet: it takes longer than the setting timeouts.batch, or waits for an \
         approval (status waiting). Location is its URL. Or the message waits in the queue (status queued).",
        "application/json",
        any_of([
            response_schema::<PendingAnswer>(),
            response_schema::<QueuedTurn>(),
        ]),
    );
    set_response(
        target,
        202,
        with_header(with_example(later, pending_answer_example()), "Location"),
    );
    let located = || {
        any_of([
            response_schema::<Body<'static, AnswerLocation>>(),
            plain_problem(),
        ])
    };
    let revoked = problem_response(
        "The token is invalid (unauthorized). If it became invalid before the answer was complete, message_id and \
         Location name the answer, which continues.",
        located(),
    );
    set_response(
        target,
        401,
        with_header(with_header(revoked, "WWW-Authenticate"), "Location"),
    );
    let failed = problem_response(
        "The run failed (run_failed) or was interrupted (run_interrupted). payload has the partial answer.",
        response_schema::<Body<'static, FailedAnswer>>(),
    );
    set_response(target, 502, failed);
    let unavailable = problem_response(
        "Storage is temporarily unavailable, or Parlor is shutting down. If the answer was started, message_id and \
         Location name it.",
        located(),
    );
    set_response(target, 503, with_header(unavailable, "Location"));
    add_problems(target, &[404, 409, 422]);
    operation
}

pub fn chat_stream(operation: Operation<'_>) -> Operation<'_> {
    let operation = operation
        .id("chatStream")
        .summary("Send a message and stream the answer")
        .description("Disconnecting does not stop the run; its stream can be resumed.");
    let mut operation = with_run_stream(with_idempotency_key(operation));
    let example = json!({ "message": "Hello", "model": "openai/gpt-4o", "diagnostics": true });
    set_request_example(&mut operation, example);
    let queued = response(
        "The message waits in the queue of its conversation (only with queue). GET /api/events reports its run, and \
         GET /api/messages/{message_id} returns the answer, once the run has begun.",
        "application/json",
        response_schema::<QueuedTurn>(),
    );
    set_response(operation.inner_mut(), 202, queued);
    add_problems(operation.inner_mut(), &[404, 409, 422]);
    operation
}

pub fn list_conversations(operation: Operation<'_>) -> Operation<'_> {
    operation.id("listConversations").summary(
        "List conversations: all pinned ones on the first page, then the others, newest activity first",
    )
}

pub fn search(operation: Operation<'_>) -> Operation<'_> {
    operation
        .id("search")
        .summary("Search messages, tool results, titles, files and saved articles")
}

pub fn get_conversation(operation: Operation<'_>) -> Operation<'_> {
    operation.id("getConversation").summary("Get a conversation")
}

pub fn update_conversation(operation: Operation<'_>) -> Operation<'_> {
    let mut operation = operation
        .id("updateConversation")
        .summary("Rename, pin, archive or move a conversation");
    set_request_example(&mut operation, json!({ "title": "Plans", "pinned": true }));
    operation
}

pub fn delete_conversation(operation: Operation<'_>) -> Operation<'_> {
    let operation = operation
        .id("deleteConversation")
        .summary("Delete a conversation and stop its run");
    with_status(operation, 204, "Deleted, or already deleted.")
}

pub fn list_messages(operation: Operation<'_>) -> Operation<'_> {
    operation
        .id("listMessages")
        .summary("List messages of the shown branch, page by page from its end")
}

pub fn save_notebook(operation: Operation<'_>) -> Operation<'_> {
    let mut operation = operation
        .id("saveNotebook")
        .summary("Download a conversation as a notebook")
        .description(
            "The shown branch as a file of Jupyter (nbformat 4.5): messages as Markdown, the finished calls of execute_code, \
             jupyter_notebook and sql_query as code cells with their outputs. 400 if there are none.",
        );
    add_problems(operation.inner_mut(), &[400]);
    with_file(operation, 200, "The file, with its name in Content-Disposition.")
}

pub fn get_parameters(operation: Operation<'_>) -> Operation<'_> {
    let mut operation = operation
        .id("getParameters")
        .summary("Get the model parameters of a conversation");
    set_response_example(&mut operation, parameters_example());
    operation
}

pub fn set_parameters(operation: Operation<'_>) -> Operation<'_> {
    let operation = operation
        .id("setParameters")
        .summary("Replace the model parameters of a conversation")
        .description("Replaces all parameters from the next answer on; missing ones are unset.");
    let mut operation = with_idempotency_key(operation);
    set_request_example(&mut operation, parameters_example());
    set_response_example(&mut operation, parameters_example());
    add_problems(operation.inner_mut(), &[409, 422]);
    operation
}

pub fn get_payload(operation: Operation<'_>) -> Operation<'_> {
    operation.id("getPayload").summary("Get a payload")
}

pub fn save_payload(operation: Operation<'_>) -> Operation<'_> {
    let operation = operation
        .id("savePayload")
        .summary("Download a payload as a file")
        .description(
            "A text_document as Markdown, a table and the data of a chart as CSV, everything else as JSON.",
        );
    with_file(operation, 200, "The file, with its name in Content-Disposition.")
}

pub fn judge_payload(operation: Operation<'_>) -> Operation<'_> {
    let operation = operation
        .id("judgePayload")
        .summary("Accept or reject a proposal");
    let mut operation = with_idempotency_key(operation);
    set_request_example(&mut operation, json!({ "verdict": "accepted" }));
    add_problems(operation.inner_mut(), &[409]);
    operation
}

pub fn follow_events(operation: Operation<'_>) -> Operation<'_> {
    let operation = operation.id("followEvents").summary("Stream the whole event log");
    let operation = with_header_parameter(operation, LAST_EVENT_ID);
    let description = "The log of the user as a stream, in order, without gaps. It has no end.";
    with_stream(operation, description)
}

pub fn delete_message(operation: Operation<'_>) -> Operation<'_> {
    let mut operation = operation
        .id("deleteMessage")
        .summary("Delete a message")
        .description(
            "With all that follow it. They are hidden at once, and erased after the setting timeouts.undo. The question of an \
             answer stays, with its other answers. 409 while the conversation has an active run.",
        );
    add_problems(operation.inner_mut(), &[404, 409]);
    with_status(operation, 204, "It is deleted, or was before.")
}

pub fn branch_conversation(operation: Operation<'_>) -> Operation<'_> {
    let operation = operation
        .id("branchConversation")
        .summary("Copy a branch into a new conversation")
        .description(
            "An answer and all that leads up to it; of a message of the user, what leads up to it, without the message. The id of \
             the new conversation is the Idempotency-Key. 409 while the answer is being written.",
        );
    let mut operation = with_idempotency_key(operation);
    add_problems(operation.inner_mut(), &[404, 409]);
    operation
}

pub fn get_message(operation: Operation<'_>) -> Operation<'_> {
    operation
        .id("getMessage")
        .summary("Get a message in its current state, also during its run")
}

pub fn get_diagnostics(operation: Operation<'_>) -> Operation<'_> {
    operation
        .id("getDiagnostics")
        .summary("Get the diagnostics of an answer, also during its run")
}

pub fn list_models(operation: Operation<'_>) -> Operation<'_> {
    operation.id("listModels").summary("List the available models")
}

pub fn get_open_api(operation: Operation<'_>) -> Operation<'_> {
    let mut operation = operation.id("getOpenApi").summary("Get this document");
    let document = response(
        "This document.",
        "application/json",
        json_schema!({ "type": "object" }),
    );
    set_response(operation.inner_mut(), 200, document);
    operation
}

pub fn get_run(operation: Operation<'_>) -> Operation<'_> {
    operation.id("getRun").summary("Get the state of a run")
}

pub fn answer_approval(operation: Operation<'_>) -> Operation<'_> {
    let mut operation = operation
        .id("answerApproval")
        .summary("Allow or deny a tool call");
    set_request_example(&mut operation, json!({ "index": 0, "answer": "allow" }));
    with_status(
        operation,
        204,
        "Accepted. Only the first answer to an approval counts.",
    )
}

pub fn continue_run(operation: Operation<'_>) -> Operation<'_> {
    let operation = operation
        .id("continueRun")
        .summary("Continue an answer that was stopped, failed, was interrupted or was cut short");
    let mut operation = with_run_stream(with_idempotency_key(operation));
    add_problems(operation.inner_mut(), &[409]);
    operation
}

pub fn follow_run(operation: Operation<'_>) -> Operation<'_> {
    let operation = operation.id("followRun").summary("Resume the stream of a run");
    let operation = with_run_stream(with_header_parameter(operation, LAST_EVENT_ID));
    with_status(operation, 204, "No events after the given position.")
}

pub fn regenerate_run(operation: Operation<'_>) -> Operation<'_> {
    let operation = operation
        .id("regenerateRun")
        .summary("Regenerate an answer")
        .description("The new answer is a sibling of this one.");
    let mut operation = with_run_stream(with_idempotency_key(operation));
    add_problems(operation.inner_mut(), &[409]);
    operation
}

pub fn stop_run(operation: Operation<'_>) -> Operation<'_> {
    operation
        .id("stopRun")
        .summary("Stop a run; an ended run is unchanged")
}
