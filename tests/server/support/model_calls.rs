//! The model calls that the scripted server received, without the requests for the list of models.

use serde_json::Value;
use upstream::{Upstream, without_metadata};

/// Returns the model calls so far, oldest first, as they were sent in any protocol.
pub fn raw_model_calls(upstream: &Upstream) -> Vec<Value> {
    let bodies = upstream.requests().into_iter().map(|request| request.body);
    let fields = ["messages", "contents", "input"];
    let is_call = |body: &Value| fields.iter().any(|field| body[field].is_array());
    bodies.filter(is_call).collect()
}

/// Returns the last model call.
pub fn last_model_call(upstream: &Upstream) -> Value {
    raw_model_calls(upstream).pop().expect("a call of the model")
}

/// Returns the model calls without their system prompts and the messages' metadata.
pub fn model_calls(upstream: &Upstream) -> Vec<Value> {
    let mut calls = raw_model_calls(upstream);
    for body in &mut calls {
        system_prompt_of(body);
        let messages = body["messages"].as_array_mut().expect("messages");
        messages.remove(0);
        for message in messages {
            if let Some(text) = message["content"].as_str() {
                message["content"] = without_metadata(text).into();
            }
        }
    }
    calls
}

/// Returns the system prompt of a call.
pub fn system_prompt_of(call: &Value) -> &str {
    let first = &call["messages"][0];
    assert_eq!(first["role"], "system");
    first["content"].as_str().expect("a prompt")
}

/// Returns the system prompt of the last call.
pub fn last_system_prompt(upstream: &Upstream) -> String {
    system_prompt_of(&last_model_call(upstream)).to_owned()
}

/// Returns a message's text without its metadata.
pub fn message_text(message: &Value) -> &str {
    without_metadata(message["content"].as_str().expect("a text"))
}

/// Returns the role and the text of the last call's messages, without the system prompt and the metadata.
pub fn last_messages(upstream: &Upstream) -> Vec<(String, String)> {
    let call = model_calls(upstream).pop().expect("a call of the model");
    let messages = call["messages"].as_array().expect("messages").iter();
    let field = |message: &Value, field: &str| message[field].as_str().unwrap_or_default().to_owned();
    messages
        .map(|message| (field(message, "role"), field(message, "content")))
        .collect()
}
