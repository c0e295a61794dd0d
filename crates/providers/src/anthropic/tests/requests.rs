//! Requests match golden JSON.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::{
    PROVIDER_KIND,
    models::read_list,
    request::{RequestForm, build_request},
    thinking::ThinkingForm,
};
use crate::known_models::known_capabilities;
use parlor_model::{ModelMessage, ModelRequest, ToolSpec, ToolUse};
use parlor_protocol::{ParameterInput, Parameters, ProviderData, RawJson};

const FORM: RequestForm = RequestForm {
    thinking: ThinkingForm::Adaptive,
    thinking_off: true,
    effort: true,
    earlier_thinking: true,
    temperature: true,
    tool_choice: true,
    cache_marks: true,
    answer_schema: true,
    max_tokens: 32_000,
};

const PLAIN: RequestForm = RequestForm {
    cache_marks: false,
    ..FORM
};

fn parameters(temperature: &str, thinking_level: &str, longest: &str) -> Parameters {
    Parameters::parse(&ParameterInput {
        temperature: temperature.into(),
        thinking_level: thinking_level.into(),
        thinking_budget: String::new(),
        max_completion_tokens: longest.into(),
    })
    .unwrap()
}

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
        arguments: format!("{{\"id\": \"{id}\"}}"),
        provider_data: Vec::new(),
    }
}

fn output(id: &str) -> ModelMessage {
    ModelMessage::Tool {
        tool_use_id: id.into(),
        output: format!("saw {id}"),
    }
}

/// Returns a conversation in the middle of a loop of two parallel calls.
fn tool_loop(blocks: &[Value]) -> Vec<ModelMessage> {
    let provider_data = blocks.iter().map(|value| ProviderData {
        kind: PROVIDER_KIND.into(),
        field: "blocks".into(),
        value: RawJson::parse_or_quote(&value.to_string()),
    });
    vec![
        ModelMessage::System("Be brief.".into()),
        user("Hi"),
        ModelMessage::assistant("Hello"),
        user("Look"),
        ModelMessage::Assistant {
            text: "OneTwo".into(),
            thinking: Some("Hm.".into()),
            tool_calls: vec![tool_use("t1"), tool_use("t2")],
            provider_data: provider_data.collect(),
        },
        output("t1"),
        output("t2"),
    ]
}

fn body(request: &ModelRequest, form: RequestForm) -> Value {
    serde_json::to_value(build_request(&request.model, request, &form)).unwrap()
}

#[test]
fn sends_a_plain_question() {
    let request = ModelRequest::new("claude-x", vec![user("Why?")]);
    assert_eq!(
        body(&request, PLAIN),
        json!({
            "model": "claude-x", "max_tokens": 32_000, "stream": true,
            "messages": [{ "role": "user", "content": [{ "type": "text", "text": "Why?" }] }],
        })
    );
}

#[test]
fn the_summary_of_a_compaction_goes_back() {
    let compaction = json!({ "type": "compaction", "content": "They spoke." });
    let request = ModelRequest::new("m", tool_loop(&[json!([compaction])]));
    let sent = body(&request, PLAIN);
    assert_eq!(sent["messages"][3]["content"][0], compaction);
}

#[test]
fn sends_a_tool_loop_with_cache_marks() {
    let thinking = |text: &str| json!({ "type": "thinking", "thinking": text, "signature": "s" });
    let mut request = ModelRequest::new(
        "claude-x",
        tool_loop(&[json!([thinking("a")]), json!([3, thinking("b")])]),
    );
    request.tools = vec![tool("look").into(), tool("listen").into()];
    let mark = json!({ "type": "ephemeral" });
    let call = |id: &str| json!({ "type": "tool_use", "id": id, "name": "look", "input": { "id": id } });
    assert_eq!(
        body(&request, FORM),
        json!({
            "model": "claude-x", "max_tokens": 32_000, "stream": true,
            "system": [{ "type": "text", "text": "Be brief.", "cache_control": mark }],
            "tools": [
                { "name": "look", "description": "Looks.", "input_schema": { "type": "object" } },
                { "name": "listen", "description": "Looks.", "input_schema": { "type": "object" }, "cache_control": mark },
            ],
            "messages": [
                { "role": "user", "content": [{ "type": "text", "text": "Hi" }] },
                { "role": "assistant", "content": [{ "type": "text", "text": "Hello", "cache_control": mark }] },
                { "role": "user", "content": [{ "type": "text", "text": "Look" }] },
                { "role": "assistant", "content": [
                    thinking("a"), { "type": "text", "text": "One" }, thinking("b"), { "type": "text", "text": "Two" },
                    call("t1"), call("t2"),
                ] },
                { "role": "user", "content": [
                    { "type": "tool_result", "tool_use_id": "t1", "content": "saw t1" },
                    { "type": "tool_result", "tool_use_id": "t2", "content": "saw t2", "cache_control": mark },
                ] },
            ],
        })
    );
}

#[test]
fn sends_thinking_as_the_model_takes_it() {
    let mut request = ModelRequest::new("m", vec![user("Why?")]);
    request.parameters = parameters("0.5", "high", "");
    let adaptive = body(&request, PLAIN);
    assert_eq!(
        (&adaptive["thinking"], &adaptive["output_config"]),
        (
            &json!({ "type": "adaptive", "display": "summarized" }),
            &json!({ "effort": "high" })
        )
    );
    request.parameters = parameters("0.5", "off", "");
    let off = body(&request, PLAIN);
    assert_eq!(
        (&off["thinking"], &off["temperature"]),
        (&json!({ "type": "disabled" }), &json!(0.5))
    );
    request.parameters = parameters("0.5", "high", "");
    // A thinking model takes no temperature.
    assert!(adaptive.get("temperature").is_none());
    let budget = RequestForm {
        thinking: ThinkingForm::Budget,
        ..PLAIN
    };
    let sent = body(&request, budget);
    assert_eq!(
        sent["thinking"],
        json!({ "type": "enabled", "budget_tokens": 24_000 })
    );
    assert!(sent.get("output_config").is_none() && sent.get("temperature").is_none());
    // A short answer has no room for thinking.
    request.parameters = parameters("0.5", "high", "1000");
    let sent = body(&request, budget);
    assert_eq!(
        (sent.get("thinking"), &sent["max_tokens"], &sent["temperature"]),
        (None, &json!(1000), &json!(0.5))
    );
    let none = RequestForm {
        thinking: ThinkingForm::None,
        ..PLAIN
    };
    request.parameters = parameters("1.7", "low", "");
    let sent = body(&request, none);
    assert_eq!((sent.get("thinking"), &sent["temperature"]), (None, &json!(1.0)));
}

#[test]
fn thinks_with_a_budget_only_after_signed_thinking() {
    let form = RequestForm {
        thinking: ThinkingForm::Budget,
        ..PLAIN
    };
    let thinking = json!([{ "type": "thinking", "thinking": "a", "signature": "s" }]);
    for (blocks, thinks) in [(vec![thinking], true), (vec![], false)] {
        let mut request = ModelRequest::new("m", tool_loop(&blocks));
        request.tools = vec![tool("look").into()];
        request.parameters = parameters("", "low", "");
        assert_eq!(body(&request, form).get("thinking").is_some(), thinks);
    }
}

#[test]
fn forces_one_tool_by_field_several_in_text() {
    let mut request = ModelRequest::new("m", vec![ModelMessage::System("Be brief.".into()), user("Look")]);
    request.tools = vec![tool("look").into(), tool("listen").into()];
    request.parameters = parameters("", "high", "");
    request.force_tools = vec!["look".into(), "gone".into()];
    let sent = body(&request, PLAIN);
    // The API rejects thinking together with a forced tool.
    assert_eq!(
        (&sent["tool_choice"], sent.get("thinking")),
        (&json!({ "type": "tool", "name": "look" }), None)
    );
    let refused = RequestForm {
        tool_choice: false,
        ..PLAIN
    };
    request.force_tools = vec!["look".into(), "listen".into()];
    for form in [PLAIN, refused] {
        let sent = body(&request, form);
        let prompt = sent["system"][0]["text"].as_str().unwrap();
        assert!(prompt.contains("look, listen"), "{prompt}");
        assert!(sent.get("tool_choice").is_none() && sent.get("thinking").is_some());
    }
}

#[test]
fn declares_used_tools_when_none_is_offered() {
    let sent = body(&ModelRequest::new("m", tool_loop(&[])), PLAIN);
    assert_eq!(
        sent["tools"],
        json!([{ "name": "look", "input_schema": { "type": "object" } }])
    );
    assert_eq!(sent["tool_choice"], json!({ "type": "none" }));
}

#[test]
fn leaves_out_what_the_server_rejects() {
    let thinking = json!([{ "type": "redacted_thinking", "data": "x" }]);
    let request = ModelRequest::new("m", tool_loop(&[thinking]));
    let form = RequestForm {
        earlier_thinking: false,
        ..PLAIN
    };
    let sent = body(&request, form);
    assert_eq!(
        sent["messages"][3]["content"][0],
        json!({ "type": "text", "text": "OneTwo" })
    );
    // Whitespace is no content.
    let request = ModelRequest::new("m", vec![user("Hi"), ModelMessage::assistant(" \n"), user("Ho")]);
    let texts = json!([{ "type": "text", "text": "Hi" }, { "type": "text", "text": "Ho" }]);
    assert_eq!(
        body(&request, PLAIN)["messages"],
        json!([{ "role": "user", "content": texts }])
    );
}

#[test]
fn chooses_thinking_by_list_name_and_rejections() {
    use super::super::Feature;
    let listed = |adaptive: bool, enabled: bool| {
        let entry = json!({ "id": "m", "capabilities": { "thinking": {
            "supported": adaptive || enabled,
            "types": { "adaptive": { "supported": adaptive }, "enabled": { "supported": enabled } },
        } } });
        let listed = read_list(vec![json!({ "data": [entry] })]).unwrap();
        listed[0].capabilities.clone()
    };
    for (model, listed, rejected, expected) in [
        ("claude-opus-4-8", None, vec![], ThinkingForm::Adaptive),
        ("claude-sonnet-4-20250514", None, vec![], ThinkingForm::Budget),
        ("claude-3-5-haiku-20241022", None, vec![], ThinkingForm::None),
        (
            "claude-opus-4-8",
            Some(listed(false, true)),
            vec![],
            ThinkingForm::Budget,
        ),
        (
            "claude-sonnet-4-5",
            Some(listed(true, true)),
            vec![],
            ThinkingForm::Adaptive,
        ),
        (
            "claude-opus-4-8",
            Some(listed(false, false)),
            vec![],
            ThinkingForm::None,
        ),
        ("glm", None, vec![Feature::AdaptiveThinking], ThinkingForm::Budget),
        (
            "glm",
            None,
            vec![Feature::AdaptiveThinking, Feature::BudgetThinking],
            ThinkingForm::None,
        ),
    ] {
        let known = listed.unwrap_or_default().or(known_capabilities(model));
        let form = ThinkingForm::choose(&known, |feature| !rejected.contains(&feature));
        assert_eq!(form, expected, "{model} {rejected:?}");
    }
}

#[test]
fn omits_thinking_at_the_end_of_an_answer() {
    let thinking = |signature: &str| json!({ "type": "thinking", "thinking": "", "signature": signature });
    let mut messages = tool_loop(&[json!([thinking("a"), [6, "OneTwo"], thinking("b")])]);
    messages.truncate(5);
    if let Some(ModelMessage::Assistant { tool_calls, .. }) = messages.last_mut() {
        tool_calls.clear();
    }
    messages.push(user("Go on"));
    let sent = body(&ModelRequest::new("claude-x", messages), PLAIN);
    assert_eq!(
        sent["messages"][3]["content"],
        json!([thinking("a"), { "type": "text", "text": "OneTwo" }])
    );
}

#[test]
fn continuation_request_depends_on_final_block() {
    let search = json!({ "type": "server_tool_use", "id": "s1", "name": "web_search", "input": {} });
    let found = json!({ "type": "web_search_tool_result", "tool_use_id": "s1", "content": [] });
    let begun = json!({ "type": "text", "text": "One" });
    let prompt = json!({ "role": "user", "content": [{ "type": "text", "text": "Go on" }] });
    let (open, answered) = (json!([[3, "One"], search]), json!([[3, "One"], search, found]));
    for (layout, continues_answer, content, has_prompt) in [
        (&open, true, json!([begun, search]), false),
        // The user has written the message, which the server rejects after an unfinished call.
        (&open, false, json!([begun]), true),
        (&answered, false, json!([begun, search, found]), true),
        // The server has finished its tool.
        (&answered, true, json!([begun, search, found]), true),
        (&json!([]), true, json!([begun]), true),
    ] {
        let answer = ModelMessage::Assistant {
            text: "One".into(),
            thinking: None,
            tool_calls: Vec::new(),
            provider_data: vec![ProviderData {
                kind: PROVIDER_KIND.into(),
                field: "blocks".into(),
                value: RawJson::parse_or_quote(&layout.to_string()),
            }],
        };
        let request = ModelRequest {
            continues_answer,
            ..ModelRequest::new("claude-x", vec![user("Why?"), answer, user("Go on")])
        };
        let sent = body(&request, PLAIN);
        let mut expected = vec![json!({ "role": "assistant", "content": content })];
        expected.extend(has_prompt.then(|| prompt.clone()));
        assert_eq!(sent["messages"].as_array().unwrap()[1..], expected);
    }
}

#[test]
fn sends_the_schema_of_an_answer() {
    let mut request = ModelRequest::new("m", vec![user("Why?")]);
    request.parameters = parameters("", "high", "");
    request.answer_schema = Some(Arc::new(json!({ "type": "object" })));
    let format = json!({ "type": "json_schema", "schema": { "type": "object" } });
    assert_eq!(
        body(&request, PLAIN)["output_config"],
        json!({ "effort": "high", "format": format })
    );
    let plain = RequestForm {
        effort: false,
        ..PLAIN
    };
    assert_eq!(
        body(&request, plain)["output_config"],
        json!({ "format": format })
    );
    let refused = RequestForm {
        answer_schema: false,
        ..plain
    };
    assert!(body(&request, refused).get("output_config").is_none());
}
