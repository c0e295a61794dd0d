//! Requests match golden JSON.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::{
    PROVIDER_KIND,
    request::{RequestForm, build_request},
};
use parlor_model::{ModelMessage, ModelRequest, ToolSpec, ToolUse};
use parlor_protocol::{ParameterInput, Parameters, ProviderData, RawJson};

const FORM: RequestForm = RequestForm {
    encrypted_reasoning: true,
    summary: true,
    reasoning: true,
    earlier_reasoning: true,
    phase: true,
    temperature: true,
    tool_choice: true,
    answer_schema: true,
};

/// The form for a server that takes none of the optional fields.
const BARE: RequestForm = RequestForm {
    encrypted_reasoning: false,
    summary: false,
    reasoning: false,
    earlier_reasoning: false,
    phase: false,
    temperature: false,
    tool_choice: false,
    answer_schema: false,
};

fn user(text: &str) -> ModelMessage {
    ModelMessage::User(text.into())
}

fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: "Looks.".into(),
        input_schema: json!({ "type": "object" }),
    }
}

fn tool_use(id: &str) -> ToolUse {
    ToolUse {
        id: id.into(),
        name: "look".into(),
        arguments: "{}".into(),
        provider_data: Vec::new(),
    }
}

fn body(request: &ModelRequest, form: RequestForm) -> Value {
    serde_json::to_value(build_request("m", request, &form)).unwrap()
}

fn tool_loop() -> ModelRequest {
    let reasoning = json!([{ "type": "reasoning", "encrypted_content": "a" }, 3, "call", { "type": "reasoning", "encrypted_content": "b" }]);
    let provider_data = ProviderData {
        kind: PROVIDER_KIND.into(),
        field: "blocks".into(),
        value: RawJson::parse_or_quote(&reasoning.to_string()),
    };
    let output = |id: &str| ModelMessage::Tool {
        tool_use_id: id.into(),
        output: format!("saw {id}"),
    };
    let messages = vec![
        ModelMessage::System("Be brief.".into()),
        user("Look"),
        ModelMessage::Assistant {
            text: "One".into(),
            thinking: Some("Hm.".into()),
            tool_calls: vec![tool_use("c1"), tool_use("c2")],
            provider_data: vec![provider_data],
        },
        output("c1"),
        output("c2"),
    ];
    ModelRequest {
        tools: vec![tool("look").into()],
        ..ModelRequest::new("m", messages)
    }
}

#[test]
fn sends_a_tool_loop_with_its_reasoning() {
    let call =
        |id: &str| json!({ "type": "function_call", "call_id": id, "name": "look", "arguments": "{}" });
    let output =
        |id: &str| json!({ "type": "function_call_output", "call_id": id, "output": format!("saw {id}") });
    let reasoning = |content: &str| json!({ "type": "reasoning", "encrypted_content": content });
    assert_eq!(
        body(&tool_loop(), FORM),
        json!({
            "model": "m", "instructions": "Be brief.", "stream": true, "store": false,
            "include": ["reasoning.encrypted_content"], "reasoning": { "summary": "auto" },
            "input": [
                { "role": "user", "content": "Look" },
                reasoning("a"), { "role": "assistant", "content": "One" }, call("c1"), reasoning("b"), call("c2"),
                output("c1"), output("c2"),
            ],
            "tools": [{
                "type": "function", "name": "look", "description": "Looks.", "parameters": { "type": "object" },
                "strict": false,
            }],
        })
    );
    let bare = body(&tool_loop(), BARE);
    assert_eq!(
        bare["input"],
        json!([
            { "role": "user", "content": "Look" }, { "role": "assistant", "content": "One" }, call("c1"), call("c2"),
            output("c1"), output("c2"),
        ])
    );
    assert!(bare.get("include").is_none() && bare.get("reasoning").is_none());
}

#[test]
fn omits_reasoning_without_a_following_item() {
    let mut request = tool_loop();
    request.messages.truncate(3);
    let Some(ModelMessage::Assistant { tool_calls, .. }) = request.messages.last_mut() else {
        panic!("an answer")
    };
    // The second reasoning and its call were cut off.
    tool_calls.truncate(1);
    request.messages.push(user("And?"));
    let sent = body(&request, FORM);
    let kinds: Vec<&str> = sent["input"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["type"].as_str().unwrap_or("message"))
        .collect();
    assert_eq!(
        kinds,
        ["message", "reasoning", "message", "function_call", "message"]
    );
}

#[test]
fn sends_set_parameters() {
    let input = ParameterInput {
        temperature: "0.5".into(),
        thinking_level: "low".into(),
        thinking_budget: String::new(),
        max_completion_tokens: "100".into(),
    };
    let request = ModelRequest {
        parameters: Parameters::parse(&input).unwrap(),
        ..ModelRequest::new("m", vec![user("Why?")])
    };
    assert_eq!(
        body(&request, FORM),
        json!({
            "model": "m", "stream": true, "store": false, "include": ["reasoning.encrypted_content"],
            "input": [{ "role": "user", "content": "Why?" }], "temperature": 0.5, "max_output_tokens": 100,
            "reasoning": { "effort": "low", "summary": "auto" },
        })
    );
    assert_eq!(
        body(&request, BARE),
        json!({
            "model": "m", "stream": true, "store": false, "input": [{ "role": "user", "content": "Why?" }],
            "max_output_tokens": 100,
        })
    );
}

#[test]
fn forces_one_tool_by_field_several_in_text() {
    let mut request = tool_loop();
    request.tools.push(tool("listen").into());
    request.force_tools = vec!["look".into()];
    let sent = body(&request, FORM);
    assert_eq!(sent["tool_choice"], json!({ "type": "function", "name": "look" }));
    assert_eq!(sent["instructions"], "Be brief.");
    request.force_tools.push("listen".into());
    let sent = body(&request, FORM);
    assert!(sent.get("tool_choice").is_none());
    assert!(
        sent["instructions"].as_str().unwrap().contains("look, listen"),
        "{sent}"
    );
}

/// Returns an answer of a decoder as it goes back to the server.
fn sent_back(events: &[Value], calls: &[&str], form: RequestForm) -> Value {
    let (events, error) = super::decode_events(events);
    assert_eq!(error, None);
    let mut text = String::new();
    let mut provider_data = Vec::new();
    for event in events {
        match event {
            parlor_model::ModelEvent::Text(delta) => text.push_str(&delta),
            parlor_model::ModelEvent::ProviderData { data, .. } => provider_data.push(data),
            _ => {}
        }
    }
    let answer = ModelMessage::Assistant {
        text,
        thinking: None,
        tool_calls: calls.iter().map(|id| tool_use(id)).collect(),
        provider_data,
    };
    body(&ModelRequest::new("x", vec![answer]), form)["input"].take()
}

fn message(phase: Option<&str>, text: &str) -> Value {
    json!({ "type": "message", "phase": phase, "content": [{ "type": "output_text", "text": text }] })
}

#[test]
fn each_phase_goes_back_as_its_message() {
    let call = json!({ "type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}" });
    let events = [
        super::done(0, message(Some("commentary"), "I look.")),
        super::done(1, call),
        super::done(2, message(Some("final_answer"), "So.")),
        super::end("completed", json!({})),
    ];
    let call = json!({ "type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}" });
    assert_eq!(
        sent_back(&events, &["c1"], FORM),
        json!([
            { "role": "assistant", "content": "I look.", "phase": "commentary" },
            call,
            { "role": "assistant", "content": "So.", "phase": "final_answer" },
        ])
    );
    let two = [
        super::done(0, message(Some("commentary"), "I look.")),
        super::done(1, message(Some("final_answer"), "So.")),
        super::end("completed", json!({})),
    ];
    assert_eq!(
        sent_back(&two, &[], FORM),
        json!([
            { "role": "assistant", "content": "I look.", "phase": "commentary" },
            { "role": "assistant", "content": "So.", "phase": "final_answer" },
        ])
    );
    assert_eq!(
        sent_back(&two, &[], BARE),
        json!([{ "role": "assistant", "content": "I look." }, { "role": "assistant", "content": "So." }])
    );
    let plain = [
        super::done(0, message(None, "So.")),
        super::end("completed", json!({})),
    ];
    assert_eq!(
        sent_back(&plain, &[], FORM),
        json!([{ "role": "assistant", "content": "So." }])
    );
}

#[test]
fn reasoning_that_ends_after_its_call_stays_before_it() {
    let added = |index: u64, item: &Value| json!({ "type": "response.output_item.added", "output_index": index, "item": item });
    let reasoning = |content: Option<&str>| json!({ "type": "reasoning", "id": "r1", "encrypted_content": content, "summary": [] });
    let call = json!({ "type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}" });
    let events = |end_of_reasoning: Vec<Value>| {
        let mut events = vec![
            added(0, &reasoning(None)),
            added(1, &call),
            super::done(1, call.clone()),
        ];
        events.extend(end_of_reasoning);
        events.push(super::end("completed", json!({})));
        events
    };
    let call = json!({ "type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}" });
    assert_eq!(
        sent_back(&events(vec![super::done(0, reasoning(Some("e")))]), &["c1"], FORM),
        json!([reasoning(Some("e")), call])
    );
    // It has no content, or no end.
    assert_eq!(
        sent_back(&events(vec![super::done(0, reasoning(None))]), &["c1"], FORM),
        json!([call])
    );
    assert_eq!(sent_back(&events(vec![]), &["c1"], FORM), json!([call]));
}

#[test]
fn sends_the_schema_of_an_answer() {
    let mut request = ModelRequest::new("m", vec![user("Why?")]);
    request.answer_schema = Some(Arc::new(json!({ "type": "object" })));
    assert_eq!(
        body(&request, FORM)["text"],
        json!({ "format": { "type": "json_schema", "name": "answer", "schema": { "type": "object" } } })
    );
    assert!(body(&request, BARE).get("text").is_none());
}
