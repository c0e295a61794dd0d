//! The descriptions of the operations on schedules.

use serde_json::json;

use super::{
    generator::add_problems,
    parts::{Operation, set_request_example, with_idempotency_key, with_status},
};

pub fn list_schedules(operation: Operation<'_>) -> Operation<'_> {
    operation
        .id("listSchedules")
        .summary("List the schedules")
        .description(
            "Prompts that are sent at planned times, each as a conversation of its own. settings_changed says that they have changed.",
        )
}

pub fn get_schedule(operation: Operation<'_>) -> Operation<'_> {
    operation.id("getSchedule").summary("Get a schedule")
}

pub fn save_schedule(operation: Operation<'_>) -> Operation<'_> {
    let mut operation = operation
        .id("saveSchedule")
        .summary("Save a schedule")
        .description(
            "A new one, under an id of your choice, or another version of one. The same request again changes nothing. is_paused \
             pauses and resumes it.",
        );
    set_request_example(
        &mut operation,
        json!({
            "prompt": "What is new about asthma?",
            "days": ["monday"],
            "time": "08:00",
            "time_zone": "Europe/Copenhagen",
        }),
    );
    add_problems(operation.inner_mut(), &[404, 422]);
    operation
}

pub fn delete_schedule(operation: Operation<'_>) -> Operation<'_> {
    let operation = operation
        .id("deleteSchedule")
        .summary("Delete a schedule")
        .description("Its conversations stay.");
    with_status(operation, 204, "Deleted, or deleted before.")
}

pub fn run_schedule(operation: Operation<'_>) -> Operation<'_> {
    let operation = operation
        .id("runSchedule")
        .summary("Send the prompt of a schedule now")
        .description(
            "Besides its planned times, also if it is paused. The answer is written as any other one: follow it at \
             /api/runs/{message_id}/events.",
        );
    let mut operation = with_idempotency_key(operation);
    add_problems(operation.inner_mut(), &[404, 409, 422]);
    operation
}
