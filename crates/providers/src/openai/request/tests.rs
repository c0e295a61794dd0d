use std::sync::Arc;

use super::*;
use parlor_protocol::ParameterInput;

const ALL: ServerCapabilities = ServerCapabilities::ALL;

fn spec(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: "Does it.".into(),
        input_schema: json!({"type": "object"}),
    }
}

fn request_forcing(names: &[&str]) -> ModelRequest {
    let messages = vec![
        ModelMessage::System("Be brief.".into()),
        ModelMessage::User("Why?".into()),
    ];
    ModelRequest {
        tools: vec![spec("a").into(), spec("b").into()],
        force_tools: names.iter().map(|name| (*name).to_owned()).collect(),
        ..ModelRequest::new("m", messages)
    }
}

fn request_json(request: &ModelRequest, dialect: Dialect, capabilities: ServerCapabilities) -> Value {
    serde_json::to_value(build_completion(&request.model, request, dialect, capabilities)).unwrap()
}

#[test]
fn sends_only_set_parameters() {
    let request = ModelRequest::new("m", vec![ModelMessage::User("Why?".into())]);
    assert_eq!(
        request_json(&request, Dialect::default(), ALL),
        json!({
            "model": "m", "messages": [{"role": "user", "content": "Why?"}], "stream": true,
            "stream_options": {"include_usage": true},
        })
    );
}

#[test]
fn sends_parameters_under_dialect_names() {
    let input = ParameterInput {
        temperature: "0.7".into(),
        thinking_level: "low".into(),
        thinking_budget: String::new(),
        max_completion_tokens: "100".into(),
    };
    let request = ModelRequest {
        parameters: Parameters::parse(&input).unwrap(),
        ..ModelRequest::new("m", Vec::new())
    };
    let usual = request_json(&request, Dialect::default(), ALL);
    assert_eq!(
        (
            &usual["temperature"],
            &usual["reasoning_effort"],
            &usual["max_completion_tokens"]
        ),
        (&json!(0.7), &json!("low"), &json!(100))
    );
    let dialect = Dialect {
        thinking_level: ThinkingField::Reasoning,
        longest_answer: MaxTokensField::MaxTokens,
        forget_thinking: false,
    };
    let other = request_json(&request, dialect, ALL);
    assert_eq!(
        (&other["reasoning"], &other["max_tokens"]),
        (&json!({"effort": "low"}), &json!(100))
    );
    assert!(other.get("reasoning_effort").is_none() && other.get("max_completion_tokens").is_none());
}

#[test]
fn sends_thinking_in_the_servers_field() {
    let sent = |level: &str, budget: &str, thinking_level| {
        let input = ParameterInput {
            thinking_level: level.into(),
            thinking_budget: budget.into(),
            ..ParameterInput::default()
        };
        let request = ModelRequest {
            parameters: Parameters::parse(&input).unwrap(),
            ..ModelRequest::new("m", Vec::new())
        };
        let dialect = Dialect {
            thinking_level,
            ..Dialect::default()
        };
        let mut body = request_json(&request, dialect, ALL);
        let fields = [
            "reasoning_effort",
            "reasoning",
            "chat_template_kwargs",
            "enable_thinking",
            "thinking_budget",
        ];
        let fields = fields.map(|field| (field, body[field].take()));
        let set = fields.into_iter().filter(|(_, value)| !value.is_null());
        set.map(|(field, value)| (field.to_owned(), value))
            .collect::<Value>()
    };
    use ThinkingField::{ChatTemplate, EnableThinking, Reasoning, ReasoningEffort};
    for (level, budget, field, expected) in [
        ("off", "", ReasoningEffort, json!({"reasoning_effort": "none"})),
        ("xhigh", "", ReasoningEffort, json!({"reasoning_effort": "xhigh"})),
        ("on", "", ReasoningEffort, json!({})),
        ("", "9000", ReasoningEffort, json!({"reasoning_effort": "medium"})),
        ("off", "", Reasoning, json!({"reasoning": {"effort": "none"}})),
        ("on", "", Reasoning, json!({"reasoning": {"enabled": true}})),
        ("", "9000", Reasoning, json!({"reasoning": {"max_tokens": 9000}})),
        (
            "off",
            "",
            ChatTemplate,
            json!({"chat_template_kwargs": {"enable_thinking": false}}),
        ),
        (
            "on",
            "",
            ChatTemplate,
            json!({"chat_template_kwargs": {"enable_thinking": true}}),
        ),
        (
            "low",
            "",
            ChatTemplate,
            json!({"chat_template_kwargs": {"reasoning_effort": "low"}}),
        ),
        ("off", "", EnableThinking, json!({"enable_thinking": false})),
        (
            "",
            "9000",
            EnableThinking,
            json!({"enable_thinking": true, "thinking_budget": 9000}),
        ),
    ] {
        assert_eq!(sent(level, budget, field), expected, "{level}{budget} {field:?}");
    }
}

#[test]
fn forces_one_tool_by_field_several_in_text() {
    let one = request_json(&request_forcing(&["a"]), Dialect::default(), ALL);
    assert_eq!(
        one["tool_choice"],
        json!({"type": "function", "function": {"name": "a"}})
    );
    assert_eq!(one["messages"][0]["content"], "Be brief.");
    let refused = ServerCapabilities {
        tool_choice: false,
        ..ALL
    };
    for (names, capabilities) in [(&["a", "b"][..], ALL), (&["b"][..], refused)] {
        let in_words = request_json(&request_forcing(names), Dialect::default(), capabilities);
        let prompt = in_words["messages"][0]["content"].as_str().unwrap();
        assert!(prompt.starts_with("Be brief.\n\n"), "{prompt}");
        assert!(prompt.contains(&names.join(", ")), "{prompt}");
        assert!(in_words.get("tool_choice").is_none());
    }
    let without_system = ServerCapabilities { system: false, ..ALL };
    let plain = request_json(&request_forcing(&["a", "b"]), Dialect::default(), without_system);
    let question = plain["messages"][0]["content"].as_str().unwrap();
    assert!(
        question.starts_with("Be brief.\n\nFor the next answer") && question.ends_with("\n\nWhy?"),
        "{question}"
    );
    // A tool that is not offered can't be forced.
    let without_tools = ServerCapabilities { tools: false, ..ALL };
    let plain = request_json(&request_forcing(&["a"]), Dialect::default(), without_tools);
    assert!(plain.get("tool_choice").is_none() && plain.get("tools").is_none());
    let unknown = request_json(&request_forcing(&["c"]), Dialect::default(), ALL);
    assert!(unknown.get("tool_choice").is_none());
}

#[test]
fn sends_the_schema_of_an_answer_unless_refused() {
    let request = ModelRequest {
        answer_schema: Some(Arc::new(json!({ "type": "object" }))),
        ..request_forcing(&[])
    };
    let sent =
        |capabilities| request_json(&request, Dialect::default(), capabilities)["response_format"].clone();
    assert_eq!(
        sent(ALL),
        json!({ "type": "json_schema", "json_schema": { "name": "answer", "schema": { "type": "object" } } })
    );
    let refused = ServerCapabilities {
        answer_schema: false,
        ..ALL
    };
    assert_eq!(sent(refused), Value::Null);
}

#[test]
fn returns_thinking_unless_refused() {
    let thoughtful = ModelMessage::Assistant {
        text: String::new(),
        thinking: Some("Hm.".into()),
        tool_calls: vec![ToolUse {
            id: "1".into(),
            name: "a".into(),
            arguments: "{}".into(),
            provider_data: Vec::new(),
        }],
        provider_data: Vec::new(),
    };
    let request = ModelRequest::new("m", vec![thoughtful]);
    let message = &request_json(&request, Dialect::default(), ALL)["messages"][0];
    assert_eq!(message["reasoning_content"], "Hm.");
    assert_eq!(message["tool_calls"][0]["function"]["name"], "a");
    let refused = ServerCapabilities {
        thinking: false,
        ..ALL
    };
    let message = &request_json(&request, Dialect::default(), refused)["messages"][0];
    assert!(message.get("reasoning_content").is_none());
}

#[test]
fn asks_image_models_for_images() {
    let modalities = |model: &str, capabilities| {
        let request = ModelRequest::new(model, Vec::new());
        request_json(&request, Dialect::default(), capabilities)["modalities"].clone()
    };
    let image_model = "google/gemini-2.5-flash-image";
    assert_eq!(modalities(image_model, ALL), json!(["image", "text"]));
    assert_eq!(modalities("google/gemini-3-pro-preview", ALL), Value::Null);
    let refused = ServerCapabilities {
        image_output: false,
        ..ALL
    };
    assert_eq!(modalities(image_model, refused), Value::Null);
}
