//! The descriptions of the operations on keys of users' own.

use serde_json::json;

use super::{
    endpoint_operations::{with_added, with_removed},
    parts::{Operation, set_request_example, with_status},
};

pub fn list_own_keys(operation: Operation<'_>) -> Operation<'_> {
    operation
        .id("listOwnKeys")
        .summary("List your own keys")
        .description(
            "Not with a token: the services that you may bring a key for, and your keys, each as a model server and without the key itself.",
        )
}

pub fn add_own_key(operation: Operation<'_>) -> Operation<'_> {
    let mut operation = operation
        .id("addOwnKey")
        .summary("Add a key of your own")
        .description(
            "If an administrator allows it, and not with a token. Its models are offered to you alone, at once. The same request twice (same \
             id) adds one; another request under an id that is taken gets 409.",
        );
    set_request_example(
        &mut operation,
        json!({ "id": "01a2217b-0246-7346-8b45-a4bcd684a3d1", "service": "openai", "key": "sk-example" }),
    );
    with_added(operation, "The model server of the key.")
}

pub fn change_own_key(operation: Operation<'_>) -> Operation<'_> {
    let mut operation = operation
        .id("changeOwnKey")
        .summary("Change a key of your own")
        .description("If an administrator allows it, and not with a token. What is missing stays, also the key itself.");
    set_request_example(&mut operation, json!({ "is_enabled": false }));
    operation
}

pub fn remove_own_key(operation: Operation<'_>) -> Operation<'_> {
    let operation = operation
        .id("removeOwnKey")
        .summary("Remove a key of your own")
        .description("Not with a token. It is possible also when keys of one’s own are not allowed.");
    with_removed(operation)
}

pub fn test_own_key(operation: Operation<'_>) -> Operation<'_> {
    let mut operation = operation
        .id("testOwnKey")
        .summary("Test a key")
        .description(
            "If an administrator allows it, and not with a token. Requests the models of the service with the key, in at most ten seconds, without \
             adding anything. The reason why there is none is in problem.",
        );
    set_request_example(
        &mut operation,
        json!({ "service": "openai", "key": "sk-example" }),
    );
    operation
}

pub fn allow_own_keys(operation: Operation<'_>) -> Operation<'_> {
    let mut operation = operation
        .id("allowOwnKeys")
        .summary("Allow keys of people’s own, or forbid them")
        .description("For administrators, not with a token. When they are forbidden, those that are stored stay and are not used.");
    set_request_example(&mut operation, json!({ "is_allowed": false }));
    with_status(operation, 204, "It is stored.")
}
