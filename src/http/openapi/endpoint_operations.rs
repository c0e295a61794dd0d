//! The descriptions of the operations on model servers.

use serde_json::json;

use super::{
    generator::{add_problems, response_schema},
    parts::{Operation, set_request_example, with_created, with_status},
};
use parlor_protocol::EndpointView;

pub fn list_endpoints(operation: Operation<'_>) -> Operation<'_> {
    operation
        .id("listEndpoints")
        .summary("List the model servers")
        .description(
            "For administrators, not with a token: those of the settings, then those that were added, without their keys.",
        )
}

pub fn add_endpoint(operation: Operation<'_>) -> Operation<'_> {
    let mut operation = operation
        .id("addEndpoint")
        .summary("Add a model server")
        .description(
            "For administrators, not with a token. Its models are offered at once. The same request twice (same id) adds one; another request under \
             an id that is taken gets 409.",
        );
    set_request_example(
        &mut operation,
        json!({
            "id": "01a2217b-0246-7346-8b45-a4bcd684a3d0", "name": "ollama", "kind": "openai",
            "base_url": "http://127.0.0.1:11434/v1",
        }),
    );
    with_added(operation, "The model server.")
}

/// The responses to an operation that adds a model server.
pub(super) fn with_added<'a>(mut operation: Operation<'a>, description: &str) -> Operation<'a> {
    add_problems(operation.inner_mut(), &[409]);
    with_created(operation, description, response_schema::<EndpointView>())
}

/// The response to an operation that removes one.
pub(super) fn with_removed(operation: Operation<'_>) -> Operation<'_> {
    with_status(operation, 204, "Removed, or removed before.")
}

pub fn change_endpoint(operation: Operation<'_>) -> Operation<'_> {
    let mut operation = operation
        .id("changeEndpoint")
        .summary("Change a model server that was added")
        .description("For administrators, not with a token. What is missing stays, also its key. Answers that are being written keep the former one.");
    set_request_example(&mut operation, json!({ "is_enabled": false }));
    operation
}

pub fn remove_endpoint(operation: Operation<'_>) -> Operation<'_> {
    let operation = operation
        .id("removeEndpoint")
        .summary("Remove a model server that was added")
        .description("For administrators, not with a token. Its key is deleted with it.");
    with_removed(operation)
}

pub fn test_endpoint(operation: Operation<'_>) -> Operation<'_> {
    let mut operation = operation
        .id("testEndpoint")
        .summary("Test a model server")
        .description(
            "For administrators, not with a token. Requests its list of models, in at most ten seconds, without adding anything. The reason why there is \
             none is in problem.",
        );
    set_request_example(
        &mut operation,
        json!({ "kind": "openai", "base_url": "http://127.0.0.1:11434/v1" }),
    );
    operation
}
