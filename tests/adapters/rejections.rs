//! Features that a model rejects are left out from then on.

use super::*;

#[tokio::test]
async fn learns_what_a_model_rejects() {
    for (kind, model, message, pointer) in [
        (
            Anthropic,
            "claude-new",
            "`temperature` is deprecated for this model.",
            "/temperature",
        ),
        (
            Anthropic,
            "claude-new",
            "thinking.type.adaptive: not supported",
            "/output_config",
        ),
        (
            Anthropic,
            "claude-new",
            "output_config.effort: Extra inputs are not permitted",
            "/output_config",
        ),
        (
            Anthropic,
            "claude-new",
            "system.0.cache_control: Extra inputs are not permitted",
            "/system/0/cache_control",
        ),
        (
            Anthropic,
            "claude-new",
            "This model does not support tools.",
            "/tools",
        ),
        (
            OpenAi,
            "deepseek",
            "This response_format type is unavailable now",
            "/response_format",
        ),
        (
            OpenAi,
            "small",
            "JSON schema conversion failed: Unrecognized schema",
            "/response_format",
        ),
        (
            Anthropic,
            "claude-old",
            "output_config.format: Extra inputs are not permitted",
            "/output_config/format",
        ),
        (
            Anthropic,
            "claude-old",
            "This model does not support structured outputs.",
            "/output_config/format",
        ),
        (
            OpenAiResponses,
            "gpt-x",
            "Unsupported parameter: 'text.format' is not supported with this model.",
            "/text",
        ),
        (
            OpenAiResponses,
            "gpt-x",
            "Invalid schema for response_format 'answer': array schema missing items.",
            "/text",
        ),
        (
            Gemini,
            "gemma-3",
            "JSON mode is not enabled for models/gemma-3",
            "/generationConfig/responseSchema",
        ),
        (
            Gemini,
            "gemini-3-pro-preview",
            "The specified schema produces a constraint that has too many states for serving.",
            "/generationConfig/responseMimeType",
        ),
        (
            OpenAiResponses,
            "gpt-x",
            "registry.ollama.ai/library/gemma does not support tools",
            "/tools",
        ),
        (
            Gemini,
            "gemini-3-pro-preview",
            "Thinking is not supported for this model",
            "/generationConfig/thinkingConfig",
        ),
        (
            Gemini,
            "gemma-3",
            "Developer instruction is not enabled for models/gemma-3",
            "/systemInstruction",
        ),
        (
            Gemini,
            "gemma-3",
            "Function calling is not enabled for models/gemma-3",
            "/tools",
        ),
        (
            OpenAiResponses,
            "gpt-x",
            "Unsupported parameter: 'temperature' is not supported with this model.",
            "/temperature",
        ),
        (
            OpenAiResponses,
            "gpt-x",
            "Encrypted content is not supported with this model.",
            "/include",
        ),
        (
            OpenAiResponses,
            "gpt-x",
            "Your organization must be verified to generate reasoning summaries.",
            "/reasoning/summary",
        ),
        (
            OpenAiResponses,
            "gpt-x",
            "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
            "/reasoning",
        ),
    ] {
        let upstream = Upstream::start().await;
        upstream.add_script(When::any(), Script::new().text("Fine."));
        let refusal = Script::new().status(400, json!({ "error": { "message": message } }), &[]);
        upstream.add_script_times(1, When::any(), refusal);
        let endpoint = endpoint(kind, &upstream);
        let mut request = full_request(model);
        if pointer == "/temperature" && kind == Anthropic {
            request.parameters.thinking_level = None;
        }
        if ["/response_format", "/output_config/format", "/text"].contains(&pointer)
            || pointer.contains("/response")
        {
            request.tools.clear();
            request.answer_schema = Some(Arc::new(json!({ "type": "object" })));
        }
        let before = endpoint.capabilities(model);
        for _ in 0..2 {
            assert_eq!(
                answer(&*endpoint, &request).await.unwrap(),
                "Fine.",
                "{kind:?} {message}"
            );
        }
        let has: Vec<bool> = calls(&upstream)
            .iter()
            .map(|body| body.pointer(pointer).is_some())
            .collect();
        assert_eq!(has, [true, false, false], "{kind:?} {message}: it is remembered");
        // The diagnostics record a request again once its form has changed.
        assert_ne!(endpoint.capabilities(model), before, "{kind:?} {message}");
        let preview = endpoint.preview_request(model, &request).body;
        assert_eq!(Value::Object(preview), calls(&upstream)[2], "{kind:?} {message}");
    }
}

#[tokio::test]
async fn two_calls_learn_the_same_at_once() {
    for (kind, message) in [
        (Anthropic, "`temperature` is deprecated for this model."),
        (OpenAiResponses, "'temperature' is not supported with this model."),
    ] {
        let upstream = Upstream::start().await;
        upstream.add_script(When::any(), Script::new().text("Fine."));
        let refusal = json!({ "error": { "message": message } });
        for gate in ["first", "second"] {
            let refusal = Script::new().gate(gate).status(400, refusal.clone(), &[]);
            upstream.add_script_times(1, When::any(), refusal);
        }
        let endpoint = endpoint(kind, &upstream);
        let mut request = full_request("new");
        request.parameters.thinking_level = None;
        let both_were_sent = async {
            for gate in ["first", "second"] {
                upstream.wait_for_gate(gate).await;
            }
            for gate in ["first", "second"] {
                upstream.open_gate(gate);
            }
        };
        let (first, second, ()) = tokio::join!(
            answer(&*endpoint, &request),
            answer(&*endpoint, &request),
            both_were_sent
        );
        assert_eq!(
            (first.unwrap(), second.unwrap()),
            ("Fine.".into(), "Fine.".into()),
            "{kind:?}"
        );
    }
}

#[tokio::test]
async fn narrows_the_thinking_levels_of_gemini() {
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Fine."));
    let refusal = json!({ "error": { "message": "Thinking level MEDIUM is not supported for this model." } });
    upstream.add_script_times(1, When::any(), Script::new().status(400, refusal, &[]));
    let request = full_request("gemini-3-pro-preview");
    answer(&*endpoint(Gemini, &upstream), &request).await.unwrap();
    let level = |body: &Value| body["generationConfig"]["thinkingConfig"]["thinkingLevel"].clone();
    let levels: Vec<Value> = calls(&upstream).iter().map(level).collect();
    assert_eq!(levels, ["medium", "high"]);
}

#[tokio::test]
async fn adapts_the_form_and_the_length_of_anthropic() {
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Fine."));
    let refuse = |message: &str| Script::new().status(400, json!({ "error": { "message": message } }), &[]);
    // The script added last is played first.
    for message in [
        "input length and `max_tokens` exceed context limit: 190000 + 8192 > 192000",
        "\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\"",
        "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for claude-opus-4-1",
    ] {
        upstream.add_script_times(1, When::any(), refuse(message));
    }
    let endpoint = endpoint(Anthropic, &upstream);
    let request = full_request("claude-opus-4-1");
    answer(&*endpoint, &request).await.unwrap();
    answer(&*endpoint, &request).await.unwrap();
    let form = |body: &Value| (body["max_tokens"].clone(), body["thinking"]["type"].clone());
    let forms: Vec<(Value, Value)> = calls(&upstream).iter().map(form).collect();
    assert_eq!(
        forms,
        [
            (32_000, "enabled"),
            (8192, "enabled"),
            (8192, "adaptive"),
            (2000, "adaptive"),
            (8192, "adaptive")
        ]
        .map(|(tokens, kind)| (json!(tokens), json!(kind)))
    );
}

#[tokio::test]
async fn forgets_thinking_that_anthropic_rejects() {
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Fine."));
    let message = "messages.1.content.0.thinking.signature: Invalid `signature` in `thinking` block";
    let refusal = json!({ "error": { "message": message } });
    upstream.add_script_times(1, When::any(), Script::new().status(400, refusal, &[]));
    let mut request = full_request("claude-new");
    let thinking = json!([{ "type": "thinking", "thinking": "", "signature": "old" }]).to_string();
    let answer_before = ModelMessage::Assistant {
        text: "Hello".into(),
        thinking: None,
        tool_calls: Vec::new(),
        provider_data: vec![ProviderData {
            kind: "anthropic".into(),
            field: "blocks".into(),
            value: RawJson::parse_or_quote(&thinking),
        }],
    };
    request
        .messages
        .extend([answer_before, ModelMessage::User("And?".into())]);
    answer(&*endpoint(Anthropic, &upstream), &request).await.unwrap();
    let sent = calls(&upstream);
    let content = |body: &Value| body["messages"][1]["content"].as_array().unwrap().len();
    assert_eq!([content(&sent[0]), content(&sent[1])], [2, 1]);
    // The model still thinks.
    assert_eq!(sent[1]["thinking"], sent[0]["thinking"]);
}

/// Returns an earlier answer with a call, and data of its provider.
fn answer_with_data(kind: EndpointKind) -> [ModelMessage; 2] {
    let data = |field: &str, value: Value| ProviderData {
        kind: kind.as_str().into(),
        field: field.into(),
        value: RawJson::parse_or_quote(&value.to_string()),
    };
    let reasoning = json!([{ "type": "reasoning", "encrypted_content": "old" }]);
    let (provider_data, provider_data_of_call) = match kind {
        Gemini => (vec![], vec![data("thoughtSignature", json!("old"))]),
        _ => (vec![data("blocks", reasoning)], vec![]),
    };
    let call = ToolUse {
        id: "c1".into(),
        name: "look".into(),
        arguments: "{}".into(),
        provider_data: provider_data_of_call,
    };
    let answer = ModelMessage::Assistant {
        text: String::new(),
        thinking: None,
        tool_calls: vec![call],
        provider_data,
    };
    let output = ModelMessage::Tool {
        tool_use_id: "c1".into(),
        output: "Nothing.".into(),
    };
    [answer, output]
}

#[tokio::test]
async fn omits_earlier_reasoning_that_is_rejected() {
    for (kind, model, message) in [
        (
            OpenAiResponses,
            "gpt-x",
            "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
        ),
        (
            OpenAiResponses,
            "gpt-x",
            "Reasoning input items can only be provided to a reasoning or computer use model.",
        ),
        (
            OpenAiResponses,
            "gpt-x",
            "The encrypted content gAAA could not be verified.",
        ),
        (Gemini, "gemini-3-pro-preview", "Thought signature is not valid"),
        (Gemini, "gemini-3-pro-preview", "Corrupted thought_signature."),
    ] {
        let upstream = Upstream::start().await;
        upstream.add_script(When::any(), Script::new().text("Fine."));
        let refusal = Script::new().status(400, json!({ "error": { "message": message } }), &[]);
        upstream.add_script_times(1, When::any(), refusal);
        let endpoint = endpoint(kind, &upstream);
        let mut request = full_request(model);
        request.messages.extend(answer_with_data(kind));
        for _ in 0..2 {
            answer(&*endpoint, &request).await.unwrap();
        }
        let sent = calls(&upstream);
        let has: Vec<bool> = sent
            .iter()
            .map(|body| body.to_string().contains("\"old\""))
            .collect();
        assert_eq!(has, [true, false, false], "{kind:?} {message}");
        // The model still reasons.
        for pointer in ["/reasoning", "/include", "/generationConfig"] {
            assert_eq!(
                sent[2].pointer(pointer),
                sent[0].pointer(pointer),
                "{kind:?} {message}"
            );
        }
    }
}

#[tokio::test]
async fn signs_calls_of_models_that_demand_it() {
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Fine."));
    let message = "Function call is missing a thought_signature in functionCall parts.";
    let refusal = json!({ "error": { "message": message } });
    upstream.add_script_times(1, When::any(), Script::new().status(400, refusal, &[]));
    let mut request = full_request("gemini-2.5-pro");
    let [mut asked, output] = answer_with_data(Gemini);
    if let ModelMessage::Assistant { tool_calls, .. } = &mut asked {
        tool_calls[0].provider_data.clear();
    }
    request.messages.extend([asked, output]);
    answer(&*endpoint(Gemini, &upstream), &request).await.unwrap();
    let sent = calls(&upstream);
    let signature = |body: &Value| body["contents"][1]["parts"][0]["thoughtSignature"].clone();
    assert_eq!(signature(&sent[0]), Value::Null);
    assert_eq!(signature(&sent[1]), "skip_thought_signature_validator");
    assert_eq!(sent[0]["generationConfig"], sent[1]["generationConfig"]);
}

#[tokio::test]
async fn learns_nothing_from_other_errors() {
    for (kind, status, message) in [
        (
            OpenAiResponses,
            400,
            "Invalid prompt: your prompt was flagged. See https://x.example/docs/guides/reasoning#advice-on-prompting",
        ),
        (OpenAiResponses, 403, "Unsupported parameter: 'reasoning'."),
        (Gemini, 400, "Invalid value: the thoughtful tools"),
        (Gemini, 404, "Thinking is not supported for this model"),
        (Anthropic, 413, "thinking.type.adaptive: not supported"),
    ] {
        let upstream = Upstream::start().await;
        let refusal = Script::new().status(status, json!({ "error": { "message": message } }), &[]);
        upstream.add_script(When::any(), refusal);
        let config = EndpointConfig {
            name: "reasoning thinking temperature summary".into(),
            ..config(kind, &upstream)
        };
        let endpoint = create_endpoint(&config).unwrap();
        answer(&*endpoint, &full_request("gemini-3-pro-preview"))
            .await
            .unwrap_err();
        assert_eq!(calls(&upstream).len(), 1, "{kind:?} {status} {message}");
    }
}

/// Returns the text and the notes of an answer.
async fn answer_with_notes(endpoint: &dyn Endpoint, request: &ModelRequest) -> (String, Vec<String>) {
    let mut stream = endpoint.call(&request.model, request).await.unwrap();
    let (mut text, mut notes) = (String::new(), Vec::new());
    while let Some(event) = stream.next().await {
        match event.unwrap() {
            ModelEvent::Text(delta) => text.push_str(&delta),
            ModelEvent::Note(note) => notes.push(note),
            _ => {}
        }
    }
    (text, notes)
}

/// Returns a request with tools of these names.
fn request_with_tools(names: &[&str]) -> ModelRequest {
    let tool = |name: &&str| {
        Arc::new(ToolSpec {
            name: (*name).into(),
            description: "Looks.".into(),
            input_schema: json!({ "type": "object", "properties": {} }),
        })
    };
    ModelRequest {
        tools: names.iter().map(tool).collect(),
        ..full_request("x")
    }
}

/// Returns the names of the tools in a request of any kind.
fn tool_names(body: &Value) -> Vec<&str> {
    let tools = body["tools"].as_array().into_iter().flatten();
    let declared = tools.flat_map(|tool| match tool["functionDeclarations"].as_array() {
        Some(declarations) => declarations.iter().collect(),
        None => vec![tool],
    });
    let names = declared.filter_map(|tool| tool["name"].as_str().or(tool["function"]["name"].as_str()));
    names.collect()
}

#[tokio::test]
async fn leaves_out_a_refused_tool() {
    for (kind, message) in [
        (
            OpenAi,
            "Invalid schema for function 'b': array schema missing items.",
        ),
        (OpenAiResponses, "Invalid 'tools[1].parameters': unknown type."),
        (Anthropic, "tools.1.custom.input_schema: JSON schema is invalid."),
        (
            Gemini,
            "* GenerateContentRequest.tools[0].function_declarations[1].parameters: missing field.",
        ),
    ] {
        let upstream = Upstream::start().await;
        upstream.add_script(When::any(), Script::new().text("Fine."));
        let refusal = Script::new().status(400, json!({ "error": { "message": message } }), &[]);
        upstream.add_script_times(1, When::any(), refusal);
        let endpoint = endpoint(kind, &upstream);
        let request = request_with_tools(&["a", "b", "c"]);
        let before = endpoint.capabilities("x");
        let (text, notes) = answer_with_notes(&*endpoint, &request).await;
        assert_eq!(text, "Fine.", "{kind:?}");
        assert_eq!(notes.len(), 1, "{kind:?} {notes:?}");
        assert!(
            notes[0].starts_with("The model server refused the tool b, so it can’t be used here: "),
            "{notes:?}"
        );
        // It is remembered, and said on the page.
        assert_eq!(
            answer_with_notes(&*endpoint, &request).await,
            ("Fine.".into(), vec![])
        );
        let sent = calls(&upstream);
        let names: Vec<Vec<&str>> = sent.iter().map(tool_names).collect();
        assert_eq!(
            names,
            [vec!["a", "b", "c"], vec!["a", "c"], vec!["a", "c"]],
            "{kind:?}"
        );
        assert_eq!(endpoint.refused_tools("x"), ["b"]);
        assert_eq!(endpoint.tool_problems()[0].code, "tool_refused");
        assert_ne!(endpoint.capabilities("x"), before);
    }
}

#[tokio::test]
async fn learns_how_many_tools_a_server_takes() {
    for kind in [OpenAi, OpenAiResponses, Anthropic, Gemini] {
        let upstream = Upstream::start().await;
        upstream.add_script(When::any(), Script::new().text("Fine."));
        let message = "Invalid 'tools': array too long. Expected an array with maximum length 2, but got an array with length 3 instead.";
        let refusal = Script::new().status(400, json!({ "error": { "message": message } }), &[]);
        upstream.add_script_times(1, When::any(), refusal);
        let endpoint = endpoint(kind, &upstream);
        let (_, notes) = answer_with_notes(&*endpoint, &request_with_tools(&["a", "b", "c"])).await;
        assert_eq!(
            notes,
            ["The model server takes 2 tools at once. These were left out: c."],
            "{kind:?}"
        );
        assert_eq!(tool_names(&calls(&upstream)[1]), ["a", "b"], "{kind:?}");
        assert_eq!(endpoint.max_tools("x"), 2);
    }
}
