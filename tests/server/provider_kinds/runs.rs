//! The behaviour of runs with every kind of model server.

use super::*;

#[tokio::test]
async fn streams_and_remembers_with_every_kind() {
    for kind in EndpointKind::ALL {
        let Fixture { upstream, parlor, .. } = &start(kind).await;
        let answer = Script::new()
            .think("Hm.")
            .text("Hello")
            .text(", world")
            .finish("stop");
        upstream.add_script(When::user_contains("greet"), answer);
        upstream.add_script(When::user_contains("again"), Script::new().text("Sure."));
        let events = parlor.turn(None, "greet me").await;
        let last = events.last().unwrap();
        assert_eq!(last["payload"]["message"], "Hello, world", "{kind:?}: {last}");
        assert_eq!(last["finish_reason"], "stop", "{kind:?}");
        assert_eq!(joined_deltas(&events, "thinking"), "Hm.", "{kind:?}");
        let usage = events.iter().find(|event| event["type"] == "usage").unwrap();
        assert_eq!(
            (&usage["input_tokens"], &usage["estimated"]),
            (&json!(10), &Value::Null),
            "{kind:?}: {usage}"
        );
        let conversation = string_field(&events[0], "conversation_id");
        let next = parlor.turn(Some(&conversation), "again").await;
        assert_eq!(next.last().unwrap()["payload"]["message"], "Sure.", "{kind:?}");
        let sent = last_model_call(upstream).to_string();
        assert!(
            sent.contains("greet me") && sent.contains("Hello, world"),
            "{kind:?}: {sent}"
        );
    }
}

#[tokio::test]
async fn stop_keeps_the_text_with_every_kind() {
    for kind in EndpointKind::ALL {
        let Fixture { upstream, parlor, .. } = &start(kind).await;
        upstream.add_script(When::any(), Script::new().text("half").gate("never"));
        let mut stream = parlor.chat(&json!({ "message": "x", "model": "test/any" })).await;
        let delta = stream.next_of_type("text_delta").await;
        let stop = format!("/api/runs/{}/stop", string_field(&delta, "message_id"));
        let stopped = read_json(parlor.post(&stop, &json!({})).send().await.unwrap()).await;
        assert_eq!(stopped["status"], "stopped", "{kind:?}");
        let last = stream.read_to_end().await.pop().unwrap();
        assert_eq!(last["payload"]["message"], "half", "{kind:?}: {last}");
        upstream.wait_until_closed().await;
    }
}

#[tokio::test]
async fn every_kind_continues_after_cut_and_restart() {
    for kind in EndpointKind::ALL {
        let fixture = start(kind).await;
        let cut = Script::new().think("Rayleigh.").text("Because the sk").cut();
        fixture
            .upstream
            .add_script(When::user_contains("cut off"), Script::new().text("y scatters."));
        fixture.upstream.add_script_times(1, When::any(), cut);
        let events = fixture.parlor.turn(None, "Why?").await;
        assert_eq!(events.last().unwrap()["status"], "interrupted", "{kind:?}");
        let Fixture {
            folder,
            upstream,
            parlor,
        } = fixture;
        parlor.stop().await;
        let parlor = start_again(kind, &folder, &upstream).await;
        let rest = parlor.continue_run(&events).await;
        assert_eq!(
            rest.last().unwrap()["payload"]["message"],
            "Because the sky scatters.",
            "{kind:?}"
        );
        // The signed thinking precedes the text that it led to.
        let sent = last_model_call(&upstream);
        assert!(sent.to_string().contains("Because the sk"), "{kind:?}: {sent}");
        if kind == EndpointKind::Anthropic {
            assert_eq!(returned_thinking(kind, &sent), "signature-0");
        }
    }
}

#[tokio::test]
async fn paused_server_tool_continues_without_a_prompt() {
    let Fixture { upstream, parlor, .. } = &start(EndpointKind::Anthropic).await;
    let frame = |data: Value| format!("data: {data}\n\n");
    let block = |index: u64, block: Value| {
        frame(json!({ "type": "content_block_start", "index": index, "content_block": block }))
            + &frame(json!({ "type": "content_block_stop", "index": index }))
    };
    let search =
        json!({ "type": "server_tool_use", "id": "s1", "name": "web_search", "input": { "query": "x" } });
    let found = json!({ "type": "web_search_tool_result", "tool_use_id": "s1", "content": [] });
    let text = |text: &str| json!({ "type": "text", "text": text });
    let begin = frame(
        json!({ "type": "message_start", "message": { "id": "m1", "role": "assistant", "content": [] } }),
    );
    let end = |reason: &str| {
        frame(json!({ "type": "message_delta", "delta": { "stop_reason": reason } }))
            + &frame(json!({ "type": "message_stop" }))
    };
    let paused = [
        begin.clone(),
        block(0, text("Let me search.")),
        block(1, search.clone()),
        end("pause_turn"),
    ];
    let rest = [
        begin,
        block(0, found.clone()),
        block(1, text("Found it.")),
        end("end_turn"),
    ];
    upstream.add_script(When::user_contains("again"), Script::new().text("Sure."));
    upstream.add_script(
        When::user_contains("Look"),
        Script::new().raw(rest.concat()).end(),
    );
    upstream.add_script_times(1, When::any(), Script::new().raw(paused.concat()).end());
    let events = parlor.turn(None, "Look").await;
    assert_eq!(events.last().unwrap()["finish_reason"], "pause_turn");
    let events = parlor.continue_run(&events).await;
    let last = events.last().unwrap();
    assert_eq!(
        last["payload"]["message"], "Let me search.\n\nFound it.",
        "{last}"
    );
    let sent = last_model_call(upstream);
    let answer = sent["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&answer["role"], &answer["content"]),
        (&json!("assistant"), &json!([text("Let me search."), search])),
        "the server gets its answer back, and no message after it: {sent}"
    );
    let conversation = string_field(&events[0], "conversation_id");
    parlor.turn(Some(&conversation), "again").await;
    let sent = last_model_call(upstream);
    let content = sent["messages"][1]["content"].as_array().unwrap();
    let kinds: Vec<&str> = content
        .iter()
        .map(|block| block["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["text", "server_tool_use", "web_search_tool_result", "text"],
        "{sent}"
    );
}

#[tokio::test]
async fn every_kind_runs_parallel_calls_with_thinking() {
    for kind in EndpointKind::ALL {
        let Fixture { upstream, parlor, .. } = &start(kind).await;
        upstream.add_script(When::user_contains("Look"), parallel_calls());
        upstream.add_script(When::tool_gave("two is done"), Script::new().text("Both."));
        let events = parlor.turn(None, "Look").await;
        let last = events.last().unwrap();
        assert_eq!(last["type"], "complete", "{kind:?}: {last}");
        assert_eq!(
            last["payload"]["message"], "One moment.\n\n[[tool:0]]\n\n[[tool:1]]\n\nBoth.",
            "{kind:?}"
        );
        let sent = last_model_call(upstream);
        assert_eq!(
            calls_and_outputs(kind, &sent),
            (2, vec!["one is done".into(), "two is done".into()]),
            "{kind:?}: {sent}"
        );
        let expected = match kind {
            EndpointKind::OpenAi => json!("Let me look."),
            EndpointKind::OpenAiResponses => json!("encrypted-0"),
            EndpointKind::Anthropic => json!("signature-0"),
            EndpointKind::Gemini => json!("thought-0"),
        };
        assert_eq!(returned_thinking(kind, &sent), expected, "{kind:?}: {sent}");
    }
}

#[tokio::test]
async fn forces_a_tool_with_every_kind() {
    for kind in EndpointKind::ALL {
        let Fixture { upstream, parlor, .. } = &start(kind).await;
        upstream.add_script(When::any(), Script::new().text("Fine."));
        let body = json!({ "message": "Hi", "model": "test/any", "force_tools": ["together"] });
        parlor.chat(&body).await.read_to_end().await;
        let sent = last_model_call(upstream);
        let (field, expected) = match kind {
            EndpointKind::OpenAi => (
                "tool_choice",
                json!({ "type": "function", "function": { "name": "together" } }),
            ),
            EndpointKind::OpenAiResponses => {
                ("tool_choice", json!({ "type": "function", "name": "together" }))
            }
            EndpointKind::Anthropic => ("tool_choice", json!({ "type": "tool", "name": "together" })),
            EndpointKind::Gemini => (
                "toolConfig",
                json!({ "functionCallingConfig": { "mode": "ANY", "allowedFunctionNames": ["together"] } }),
            ),
        };
        assert_eq!(sent[field], expected, "{kind:?}");
    }
}

#[tokio::test]
async fn every_kind_answers_at_the_tool_limit() {
    for kind in EndpointKind::ALL {
        let Fixture {
            folder: _folder,
            upstream,
            parlor,
        } = start_with(kind, |settings| settings.agent.max_iterations = 1).await;
        upstream.add_script(When::user_contains("Look"), parallel_calls());
        upstream.add_script(When::tool_gave("is done"), Script::new().text("Enough."));
        let events = parlor.turn(None, "Look").await;
        assert_eq!(events.last().unwrap()["type"], "complete", "{kind:?}");
        let sent = last_model_call(&upstream);
        // Anthropic's API rejects calls of tools that the request does not have.
        match kind {
            EndpointKind::Anthropic => assert_eq!(sent["tool_choice"], json!({ "type": "none" })),
            _ => assert_eq!(sent["tools"], Value::Null, "{kind:?}"),
        }
    }
}

#[tokio::test]
async fn runs_no_cut_call_with_every_kind() {
    // A call of Gemini comes as a whole.
    for kind in [
        EndpointKind::OpenAi,
        EndpointKind::OpenAiResponses,
        EndpointKind::Anthropic,
    ] {
        let Fixture {
            folder: _folder,
            upstream,
            parlor,
        } = start(kind).await;
        let cut = Script::new().tool_call("c1", "together", "").finish("length");
        upstream.add_script(When::any(), cut);
        upstream.add_script(When::tool_gave("was not run"), Script::new().text("Fine."));
        let events = parlor.turn(None, "Hi").await;
        assert_eq!(events.last().unwrap()["type"], "complete", "{kind:?}");
        assert_eq!(raw_model_calls(&upstream).len(), 2, "{kind:?}");
    }
}

#[tokio::test]
async fn retries_an_overloaded_server_inside_a_success() {
    for (kind, error) in [
        (
            EndpointKind::Anthropic,
            json!({ "type": "overloaded_error", "message": "Overloaded" }),
        ),
        (
            EndpointKind::Gemini,
            json!({ "code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE" }),
        ),
        (
            EndpointKind::OpenAiResponses,
            json!({ "code": "server_error", "message": "The server had an error" }),
        ),
    ] {
        let Fixture { upstream, parlor, .. } = &start(kind).await;
        upstream.add_script(When::any(), Script::new().text("at last"));
        upstream.add_script_times(1, When::any(), Script::new().error_object(error));
        let events = parlor.turn(None, "x").await;
        assert_eq!(
            events.last().unwrap()["payload"]["message"],
            "at last",
            "{kind:?}"
        );
        assert_eq!(raw_model_calls(upstream).len(), 2, "{kind:?}");
    }
}

#[tokio::test]
async fn approval_survives_a_restart_with_every_kind() {
    for kind in EndpointKind::ALL {
        let Fixture {
            folder,
            upstream,
            parlor,
        } = start(kind).await;
        let script = Script::new()
            .think("Hm.")
            .tool_call("c1", "careful", "{\"name\":\"it\"}");
        upstream.add_script(When::user_contains("Change"), script.finish("tool_calls"));
        upstream.add_script(When::tool_gave("it is changed"), Script::new().text("Done."));
        let mut stream = parlor
            .chat(&json!({ "message": "Change it", "model": "test/any" }))
            .await;
        let waiting = stream.next_of_type("waiting").await;
        drop(stream);
        parlor.stop().await;
        let parlor = start_again(kind, &folder, &upstream).await;
        let run = string_field(&waiting, "message_id");
        let allow = json!({ "index": 0, "answer": "allow" });
        let answered = parlor.post(&format!("/api/runs/{run}/approvals"), &allow);
        assert_eq!(answered.send().await.unwrap().status(), 204, "{kind:?}");
        let events = parlor
            .follow(&format!("/api/runs/{run}/events"))
            .await
            .read_to_end()
            .await;
        let last = events.last().unwrap();
        assert_eq!(
            last["payload"]["message"], "[[tool:0]]\n\nDone.",
            "{kind:?}: {last}"
        );
        let sent = last_model_call(&upstream);
        assert_eq!(
            calls_and_outputs(kind, &sent).1,
            ["it is changed"],
            "{kind:?}: {sent}"
        );
    }
}

#[tokio::test]
async fn explains_a_refusal_with_every_kind() {
    let frame = |data: Value| format!("data: {data}\n\n");
    for kind in EndpointKind::ALL {
        let Fixture { upstream, parlor, .. } = &start(kind).await;
        let answer = match kind {
            EndpointKind::OpenAi => Script::new().raw(
                frame(json!({ "choices": [{ "index": 0, "delta": { "refusal": "I won’t say this." } }] }))
                    + &frame(json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "content_filter" }] })),
            ),
            EndpointKind::OpenAiResponses => Script::new().raw(
                frame(json!({ "type": "response.refusal.delta", "output_index": 0, "delta": "I won’t say this." }))
                    + &frame(json!({ "type": "response.incomplete", "response": {
                        "object": "response", "status": "incomplete", "incomplete_details": { "reason": "content_filter" },
                    } })),
            ),
            EndpointKind::Anthropic => Script::new().raw(
                frame(json!({ "type": "message_delta", "delta": {
                    "stop_reason": "refusal", "stop_details": { "explanation": "I won’t say this." },
                } })) + &frame(json!({ "type": "message_stop" })),
            ),
            EndpointKind::Gemini => Script::new().raw(frame(json!({ "promptFeedback": {
                "blockReason": "SAFETY", "blockReasonMessage": "I won’t say this.",
            } }))),
        };
        upstream.add_script(When::any(), answer.end());
        let events = parlor.turn(None, "Say it").await;
        let last = events.last().unwrap();
        assert_eq!(last["status"], "failed", "{kind:?}: {last}");
        let said = joined_deltas(&events, "text_delta") + &last["error"].to_string();
        assert!(said.contains("I won’t say this."), "{kind:?}: {last}");
    }
}
