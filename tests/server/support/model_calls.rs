//! What the model was asked: the requests that the scripted server has seen, without the lists of models that were asked for.

use serde_json::Value;
use upstream::{Upstream, without_metadata};

/// The model calls so far, oldest first, as they were sent.
pub fn raw_model_calls(upstream: &Upstream) -> Vec<Value> {
    let bodies = upstream.requests().into_iter().map(|request| request.body);
    bodies.filter(|body| body["messages"].is_array()).collect()
}

/// The last of them.
pub fn last_model_call(upstream: &Upstream) -> Value {
    raw_model_calls(upstream).pop().expect("a call of the model")
}

/// The same without their system prompts, and without what is told about each message.
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

/// The system prompt of a call.
pub fn system_prompt_of(call: &Value) -> &str {
    let first = &call["messages"][0];
    assert_eq!(first["role"], "system");
    first["content"].as_str().expect("a prompt")
}

/// The system prompt of the last call.
pub fn last_system_prompt(upstream: &Upstream) -> String {
    system_prompt_of(&last_model_call(upstream)).to_owned()
}

/// A message's text, without what is told about it.
pub fn message_text(message: &Value) -> &str {
    without_metadata(message["content"].as_str().expect("a text"))
}

/// What the model was shown last, without the system prompt and what is told about each message: role and text.
pub fn last_messages(upstream: &Upstream) -> Vec<(String, String)> {
    let call = model_calls(upstream).pop().expect("a call of the model");
    let messages = call["messages"].as_array().expect("messages").iter();
    let field = |message: &Value, field: &str| message[field].as_str().unwrap_or_default().to_owned();
    messages
        .map(|message| (field(message, "role"), field(message, "content")))
        .collect()
}
