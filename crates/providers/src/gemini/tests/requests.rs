//! Requests match golden JSON.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::{
    PROVIDER_KIND,
    request::{RequestForm, build_request},
    thinking::ThinkingForm,
};
use parlor_model::{ModelMessage, ModelRequest, ToolSpec, ToolUse};
use parlor_protocol::{ParameterInput, Parameters, ProviderData, RawJson};

const FORM: RequestForm = RequestForm {
    thinking: ThinkingForm::Level,
    needs_signatures: true,
    earlier_signatures: true,
    system: true,
    answer_schema: true,
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

fn data(field: &str, value: &Value) -> ProviderData {
    ProviderData {
        kind: PROVIDER_KIND.into(),
        field: field.into(),
        value: RawJson::parse_or_quote(&value.to_string()),
    }
}

fn tool_use(id: &str, provider_data: Vec<ProviderData>) -> ToolUse {
    ToolUse {
        id: id.into(),
        name: "look".into(),
        arguments: format!("{{\"id\": \"{id}\"}}"),
        provider_data,
    }
}

fn answer(text: &str, tool_calls: Vec<ToolUse>, provider_data: Vec<ProviderData>) -> ModelMessage {
    ModelMessage::Assistant {
        text: text.into(),
        thinking: Some("Hm.".into()),
        tool_calls,
        provider_data,
    }
}

fn output(id: &str) -> ModelMessage {
    ModelMessage::Tool {
        tool_use_id: id.into(),
        output: format!("saw {id}"),
    }
}

fn body(request: &ModelRequest, form: RequestForm) -> Value {
    serde_json::to_value(build_request(request, &form)).unwrap()
}

#[test]
fn sends_a_plain_question() {
    let request = ModelRequest::new("m", vec![user("Why?")]);
    assert_eq!(
        body(&request, FORM),
        json!({
            "contents": [{ "role": "user", "parts": [{ "text": "Why?" }] }],
            "generationConfig": { "temperature": 1.0, "thinkingConfig": { "includeThoughts": true } },
        })
    );
}

#[test]
fn sends_set_parameters() {
    let input = ParameterInput {
        temperature: "0.5".into(),
        thinking_level: "minimal".into(),
        thinking_budget: String::new(),
        max_completion_tokens: "100".into(),
    };
    let mut request = ModelRequest::new("m", vec![user("Why?")]);
    request.parameters = Parameters::parse(&input).unwrap();
    assert_eq!(
        body(&request, FORM)["generationConfig"],
        json!({
            "temperature": 0.5, "maxOutputTokens": 100,
            "thinkingConfig": { "includeThoughts": true, "thinkingLevel": "minimal" },
        })
    );
}

#[test]
fn sends_signatures_back_where_they_came() {
    let signed_text = json!([3, { "thoughtSignature": "s0", "hasText": true }]);
    let calls = vec![
        tool_use(
            "f1",
            vec![data("id", &json!("f1")), data("thoughtSignature", &json!("s1"))],
        ),
        tool_use("call_1", vec![]),
    ];
    let messages = vec![
        ModelMessage::System("Be brief.".into()),
        user("Hi"),
        answer(
            "Hello",
            vec![],
            vec![data(
                "blocks",
                &json!([5, { "thoughtSignature": "end", "hasText": false }]),
            )],
        ),
        user("Look"),
        answer("OneTwo", calls, vec![data("blocks", &signed_text)]),
        output("f1"),
        output("call_1"),
    ];
    let mut request = ModelRequest::new("m", messages);
    request.tools = vec![tool("look").into()];
    let call = |id: &str| json!({ "name": "look", "args": { "id": id } });
    let mut first = call("f1");
    first["id"] = json!("f1");
    assert_eq!(
        body(&request, FORM),
        json!({
            "systemInstruction": { "parts": [{ "text": "Be brief." }] },
            "contents": [
                { "role": "user", "parts": [{ "text": "Hi" }] },
                { "role": "model", "parts": [{ "text": "Hello" }, { "text": "", "thoughtSignature": "end" }] },
                { "role": "user", "parts": [{ "text": "Look" }] },
                { "role": "model", "parts": [
                    { "text": "One", "thoughtSignature": "s0" }, { "text": "Two" },
                    { "functionCall": first, "thoughtSignature": "s1" }, { "functionCall": call("call_1") },
                ] },
                { "role": "user", "parts": [
                    { "functionResponse": { "id": "f1", "name": "look", "response": { "output": "saw f1" } } },
                    { "functionResponse": { "name": "look", "response": { "output": "saw call_1" } } },
                ] },
            ],
            "tools": [{ "functionDeclarations": [
                { "name": "look", "description": "Looks.", "parametersJsonSchema": { "type": "object" } },
            ] }],
            "generationConfig": { "temperature": 1.0, "thinkingConfig": { "includeThoughts": true } },
        })
    );
}

#[test]
fn marks_calls_of_other_models_this_turn() {
    let call = || vec![tool_use("c1", vec![])];
    let messages = vec![
        user("Look"),
        answer("", call(), vec![]),
        output("c1"),
        user("Again"),
        answer("", call(), vec![]),
        output("c1"),
    ];
    let request = ModelRequest::new("m", messages);
    let sent = body(&request, FORM);
    let none = json!("skip_thought_signature_validator");
    assert_eq!(sent["contents"][1]["parts"][0]["thoughtSignature"], Value::Null);
    assert_eq!(sent["contents"][4]["parts"][0]["thoughtSignature"], none);
    let older = RequestForm {
        needs_signatures: false,
        ..FORM
    };
    let sent = body(&request, older);
    assert_eq!(sent["contents"][4]["parts"][0]["thoughtSignature"], Value::Null);
}

#[test]
fn omits_rejected_signatures() {
    let signed = tool_use("c1", vec![data("thoughtSignature", &json!("old"))]);
    let answer = ModelMessage::Assistant {
        text: String::new(),
        thinking: None,
        tool_calls: vec![signed],
        provider_data: Vec::new(),
    };
    let request = ModelRequest::new("m", vec![user("Look"), answer]);
    for (earlier_signatures, expected) in [(true, "old"), (false, "skip_thought_signature_validator")] {
        let form = RequestForm {
            earlier_signatures,
            ..FORM
        };
        let sent = body(&request, form);
        assert_eq!(sent["contents"][1]["parts"][0]["thoughtSignature"], expected);
    }
}

#[test]
fn forces_tools() {
    let mut request = ModelRequest::new("m", vec![ModelMessage::System("Be brief.".into()), user("Look")]);
    request.tools = vec![tool("look").into(), tool("listen").into()];
    request.force_tools = vec!["look".into(), "gone".into()];
    let config =
        |names: &[&str]| json!({ "functionCallingConfig": { "mode": "ANY", "allowedFunctionNames": names } });
    let sent = body(&request, FORM);
    assert_eq!(sent["toolConfig"], config(&["look"]));
    assert_eq!(sent["systemInstruction"]["parts"][0]["text"], "Be brief.");
    request.force_tools = vec!["look".into(), "listen".into()];
    let sent = body(&request, FORM);
    assert_eq!(sent["toolConfig"], config(&["look", "listen"]));
    let prompt = sent["systemInstruction"]["parts"][0]["text"].as_str().unwrap();
    assert!(prompt.contains("look, listen"), "{prompt}");
}

#[test]
fn moves_rejected_instructions_into_the_question() {
    let request = ModelRequest::new("m", vec![ModelMessage::System("Be brief.".into()), user("Why?")]);
    let form = RequestForm {
        thinking: ThinkingForm::None,
        system: false,
        ..FORM
    };
    assert_eq!(
        body(&request, form),
        json!({
            "contents": [{ "role": "user", "parts": [{ "text": "Be brief.\n\nWhy?" }] }],
            "generationConfig": { "temperature": 1.0 },
        })
    );
}

#[test]
fn code_and_its_result_go_back_as_they_came() {
    let code = json!({ "executableCode": { "language": "PYTHON", "code": "1+1" }, "thoughtSignature": "s" });
    let result = json!({ "codeExecutionResult": { "outcome": "OUTCOME_OK", "output": "2" } });
    let (events, error) = super::decode_chunks(&[
        super::chunk(json!({ "parts": [{ "text": "I count." }, code] })),
        super::chunk(json!({ "parts": [result, { "text": "Two." }] })),
        super::end("STOP"),
    ]);
    assert_eq!(error, None);
    let (mut text, mut provider_data) = (String::new(), Vec::new());
    for event in events {
        match event {
            parlor_model::ModelEvent::Text(delta) => text.push_str(&delta),
            parlor_model::ModelEvent::ProviderData { data, .. } => provider_data.push(data),
            parlor_model::ModelEvent::Unreadable { what, .. } => panic!("{what:?}"),
            _ => {}
        }
    }
    assert_eq!(text, "I count.\n\nTwo.");
    let request = ModelRequest::new("x", vec![user("Count"), answer(&text, vec![], provider_data)]);
    let parts = |form| body(&request, form)["contents"][1]["parts"].take();
    let texts = |part: Value| part["text"].as_str().map(|text| text.trim().to_owned());
    let Value::Array(sent) = parts(FORM) else {
        panic!("there are parts");
    };
    assert!(sent.contains(&code) && sent.contains(&result), "{sent:?}");
    let said: Vec<String> = sent
        .into_iter()
        .filter_map(texts)
        .filter(|text| !text.is_empty())
        .collect();
    assert_eq!(said, ["I count.", "Two."]);
    // Only the signature can be left out.
    let unsigned = parts(RequestForm {
        earlier_signatures: false,
        ..FORM
    });
    assert_eq!(
        unsigned[1],
        json!({ "executableCode": { "language": "PYTHON", "code": "1+1" } })
    );
}

#[test]
fn sends_the_schema_of_an_answer() {
    let mut request = ModelRequest::new("m", vec![user("Why?")]);
    request.answer_schema = Some(Arc::new(json!({ "type": "object" })));
    let sent = &body(&request, FORM)["generationConfig"];
    assert_eq!(
        (&sent["responseMimeType"], &sent["responseSchema"]),
        (&json!("application/json"), &json!({ "type": "object" }))
    );
    let refused = RequestForm {
        answer_schema: false,
        ..FORM
    };
    let sent = &body(&request, refused)["generationConfig"];
    assert!(sent.get("responseMimeType").is_none() && sent.get("responseSchema").is_none());
}
