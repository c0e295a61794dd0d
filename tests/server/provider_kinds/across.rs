//! Behaviour that all kinds of model servers share, and data that is kept apart.

use uuid::Uuid;

use super::*;

#[tokio::test]
async fn one_conversation_goes_over_all_providers() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let tools = ToolRegistry::default().with_tool(TogetherTool(Arc::new(Barrier::new(2))));
    let names = EndpointKind::ALL.map(EndpointKind::as_str);
    let parlor = Parlor::start_with_tools(folder.path(), &upstream, tools, |settings| {
        let first = settings.endpoints[0].clone();
        settings.endpoints = EndpointKind::ALL
            .into_iter()
            .map(|kind| {
                let mut endpoint = first.clone();
                endpoint.name = kind.as_str().into();
                set_kind(&mut endpoint, kind, &upstream);
                endpoint
            })
            .collect();
    })
    .await;
    upstream.add_script(When::user_contains("Look"), parallel_calls());
    upstream.add_script(When::tool_gave("two is done"), Script::new().text("Both."));
    let mut conversation = None;
    for round in 0..2 {
        for (index, kind) in EndpointKind::ALL.into_iter().enumerate() {
            let body = json!({ "message": "Look", "conversation_id": conversation, "model": format!("{}/any", names[index]) });
            let events = parlor.chat(&body).await.read_to_end().await;
            let last = events.last().unwrap();
            assert_eq!(last["type"], "complete", "{kind:?}: {last}");
            conversation = Some(string_field(&events[0], "conversation_id"));
            let sent = last_model_call(&upstream);
            let turns = round * EndpointKind::ALL.len() + index + 1;
            let (calls, outputs) = calls_and_outputs(kind, &sent);
            assert_eq!((calls, outputs.len()), (2 * turns, 2 * turns), "{kind:?}");
            // What only one provider understands is sent to no other.
            let sent = sent.to_string();
            let counts = [
                "\"signature\":\"signature-",
                "\"encrypted_content\":\"encrypted-",
                "\"thoughtSignature\":\"thought-",
            ]
            .map(|data| sent.matches(data).count());
            let expected = match kind {
                EndpointKind::Anthropic => [round + 1, 0, 0],
                EndpointKind::OpenAiResponses => [0, round + 1, 0],
                EndpointKind::Gemini => [0, 0, round + 1],
                EndpointKind::OpenAi => [0, 0, 0],
            };
            assert_eq!(counts, expected, "{kind:?}: {sent}");
        }
    }
}

#[tokio::test]
async fn lists_models_with_the_key_of_every_kind() {
    for kind in EndpointKind::ALL {
        let folder = tempfile::tempdir().unwrap();
        let upstream = Upstream::start().await;
        upstream.require_key("key-0123456789");
        let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
            set_kind(&mut settings.endpoints[0], kind, &upstream);
            settings.endpoints[0].api_key = Some(Secret("key-0123456789".into()));
        })
        .await;
        let (status, list) = parlor.get_json("/api/models").await;
        assert_eq!(status, 200, "{kind:?}");
        assert!(list.to_string().contains("test/echo"), "{kind:?}: {list}");
        let events = parlor
            .chat(&json!({ "message": "x", "model": "test/echo" }))
            .await
            .read_to_end()
            .await;
        assert_eq!(events.last().unwrap()["payload"]["message"], "x", "{kind:?}");
    }
}

#[tokio::test]
async fn diagnostics_are_the_same_for_every_kind() {
    for kind in EndpointKind::ALL {
        let Fixture {
            folder: _folder,
            upstream,
            parlor,
        } = start_with(kind, |settings| {
            settings.endpoints[0].api_key = Some(Secret("key-0123456789".into()));
        })
        .await;
        upstream.add_script(When::user_contains("Look"), parallel_calls());
        upstream.add_script(
            When::tool_gave("two is done"),
            Script::new().text("Both, says key-0123456789."),
        );
        let parameters = json!({ "temperature": 0.5, "max_completion_tokens": 500 });
        let body = json!({ "message": "Look", "model": "test/any" });
        let events = parlor.chat(&body).await.read_to_end().await;
        let conversation = string_field(&events[0], "conversation_id");
        let response = parlor
            .client
            .put(format!(
                "{}/api/conversations/{conversation}/parameters",
                parlor.url
            ))
            .header("content-type", "application/json")
            .header("idempotency-key", Uuid::now_v7().to_string())
            .body(parameters.to_string());
        assert_eq!(response.send().await.unwrap().status(), 200);
        let events = parlor.turn(Some(&conversation), "Look").await;
        let run = string_field(&events[0], "message_id");
        let (status, report) = parlor.get_json(&format!("/api/messages/{run}/diagnostics")).await;
        assert_eq!(status, 200, "{kind:?}");
        assert_eq!(report["tools"], json!(["together", "careful"]), "{kind:?}");
        assert_eq!(
            (&report["temperature"], &report["max_tokens"]),
            (&json!(0.5), &json!(500)),
            "{kind:?}: {report}"
        );
        assert!(!report["system_prompt"].as_str().unwrap().is_empty(), "{kind:?}");
        let roles: Vec<&str> = report["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|message| message["role"].as_str().unwrap())
            .collect();
        let turn = ["user", "assistant", "tool", "tool"];
        assert_eq!(roles, [&turn[..], &["assistant"], &turn].concat(), "{kind:?}");
        assert_eq!(report["calls"][1]["goes_on"], true, "{kind:?}");
        assert!(!report.to_string().contains("key-0123456789"), "{kind:?}");
        assert!(!report.to_string().contains("signature-0"), "{kind:?}");
        assert!(
            report["address"]
                .as_str()
                .unwrap()
                .starts_with("http://127.0.0.1"),
            "{kind:?}"
        );
    }
}
