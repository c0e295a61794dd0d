use futures::{StreamExt, stream};

use super::*;
use parlor_model::ToolUse;

#[test]
fn odd_tool_names_are_replaced() {
    for (name, kind, expected) in [
        ("look_up-2", OpenAi, "look_up-2"),
        ("look.up", OpenAi, "look_up_"),
        ("suche ü", Anthropic, "suche___"),
        ("2look", OpenAi, "2look"),
        ("2look", Gemini, "_2look_"),
        ("", OpenAi, "__"),
    ] {
        let name_sent = names::tool_name(name, kind);
        assert!(name_sent.starts_with(expected), "{name} {name_sent}");
        assert_eq!(name_sent == name, expected == name, "{name} {name_sent}");
    }
    let long = "x".repeat(65);
    let others = [format!("{long}a"), format!("{long}b")].map(|name| names::tool_name(&name, OpenAi));
    assert_eq!(others.each_ref().map(String::len), [64, 64]);
    assert_ne!(others[0], others[1]);
}

/// Returns the tool `such.e` with an argument that some servers don't take.
fn odd_tool() -> Arc<ToolSpec> {
    let schema = json!({
        "type": "object",
        "properties": { "straße": { "type": "string", "description": "Where." }, "no": { "type": "object", "properties": { "ö": {} } } },
        "required": ["straße"],
    });
    spec("such.e", schema)
}

#[test]
fn odd_arguments_are_replaced_where_servers_refuse_them() {
    let schema_for = |kind| {
        let adapted = forms(kind).adapt("m", &request(vec![odd_tool()]));
        adapted.request.tools[0].input_schema.clone()
    };
    assert_eq!(schema_for(OpenAi)["required"], json!(["straße"]));
    for kind in [Anthropic, Gemini] {
        let schema = schema_for(kind);
        let name = schema["required"][0].as_str().unwrap();
        assert!(name.starts_with("stra_e_") && name.is_ascii(), "{schema}");
        assert_eq!(schema["properties"][name]["description"], "straße: Where.");
        let inner = schema["properties"]["no"]["properties"].as_object().unwrap();
        assert!(!inner.contains_key("ö") && inner.len() == 1, "{schema}");
    }
}

#[tokio::test]
async fn calls_get_the_real_names_back() {
    let forms = forms(Anthropic);
    let earlier = ModelMessage::Assistant {
        text: String::new(),
        thinking: None,
        tool_calls: vec![ToolUse {
            id: "1".into(),
            name: "such.e".into(),
            arguments: r#"{"straße":"A"}"#.into(),
            provider_data: Vec::new(),
        }],
        provider_data: Vec::new(),
    };
    let mut request = request(vec![odd_tool(), spec("other", json!({}))]);
    request.messages.push(earlier);
    request.force_tools = vec!["such.e".into()];
    let call = forms.begin("m");
    let sent = call.adapt(&request);
    let name = sent.request.tools[0].name.clone();
    let argument = sent.request.tools[0].input_schema["required"][0]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(sent.request.force_tools, [&*name]);
    let ModelMessage::Assistant { tool_calls, .. } = &sent.request.messages[1] else {
        panic!("it is an answer");
    };
    assert_eq!(
        (&tool_calls[0].name, &*tool_calls[0].arguments),
        (&name, &*format!("{{\"{argument}\":\"A\"}}"))
    );
    let arguments = format!("{{\"{argument}\":\"B\",\"no\":{{\"{argument}\":1}}}}");
    let (first, second) = arguments.split_at(7);
    let delta = |index, delta: &str| ModelEvent::ToolArguments {
        index,
        delta: delta.into(),
    };
    let tool_call = |index, name: &str| ModelEvent::ToolCall {
        index,
        id: index.to_string(),
        name: name.into(),
    };
    let finished = ModelEvent::Finished(parlor_model::FinishReason::ToolCalls);
    let answer = stream::iter([
        tool_call(0, &name),
        delta(0, first),
        tool_call(1, "other"),
        delta(0, second),
        delta(1, "{}"),
        finished.clone(),
    ]);
    let restored = call.restore(sent, Box::pin(answer.map(Ok)));
    let events: Vec<ModelEvent> = restored.map(Result::unwrap).collect().await;
    assert_eq!(
        events,
        [
            tool_call(0, "such.e"),
            tool_call(1, "other"),
            delta(1, "{}"),
            delta(0, r#"{"no":{"straße":1},"straße":"B"}"#),
            finished,
        ]
    );
}
