//! Turns whose answer is returned as a whole.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use parlor_tools::ToolRegistry;
use serde_json::{Value, json};
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use crate::{
    support::{Parlor, model_calls, parlor_answering, parlor_with_tools, read_json, string_field},
    tools::{ApprovalTool, PayloadTool},
};

/// Sends a turn. Returns the status and the body.
async fn post_batch(parlor: &Parlor, body: &Value) -> (u16, Value) {
    let response = parlor.post("/api/chat/batch", body).send().await.unwrap();
    let status = response.status().as_u16();
    (status, read_json(response).await)
}

#[tokio::test]
async fn answer_equals_the_streams_payload() {
    let tools = ToolRegistry::default().with_tool(PayloadTool("See https://found.example/page"));
    let (_folder, upstream, parlor) = parlor_with_tools(tools, |_| {}).await;
    let said = "Found.\nSUGGESTED_VALUES: [{\"label\": \"More\", \"value\": \"Tell me more\"}]\n\
                SUGGESTED_ACTIONS: [{\"label\": \"Save\", \"action\": \"save\", \"handler\": \"server\", \"data\": {\"n\": 0.5}}]\n\
                <!-- METADATA:\n{\"sources\": [{\"title\": \"Page\", \"url\": \"https://found.example/page\"}]}\n-->";
    upstream.add_script(
        When::any(),
        Script::new()
            .text("I look.")
            .tool_call("id0", "make", r#"{"kind":"table","data":[[1.5]]}"#),
    );
    upstream.add_script(When::tool_gave("found.example"), Script::new().text(said));
    let key = Uuid::now_v7().to_string();
    let request = json!({ "message": "Look", "model": "test/any", "diagnostics": true });
    let send = |path: &str| parlor.post(path, &request).header("idempotency-key", &key);
    let response = send("/api/chat/batch").send().await.unwrap();
    assert_eq!(response.status(), 200);
    let mut answer = read_json(response).await;

    // The same request, streamed, is the same run.
    let streamed = crate::support::EventStream::open(send("/api/chat/stream"))
        .await
        .read_to_end()
        .await;
    let last = streamed.last().unwrap();
    assert_eq!(last["payload"], answer);
    assert_eq!(
        (&last["type"], model_calls(&upstream).len()),
        (&json!("complete"), 2)
    );

    let saved = &streamed[0];
    assert_eq!(saved["type"], "user_message_saved");
    let diagnostics = answer.as_object_mut().unwrap().remove("diagnostics").unwrap();
    assert!(
        diagnostics["raw_llm_response"]
            .as_str()
            .unwrap()
            .contains("METADATA")
    );
    let payload_id = answer["custom_payload"]["payload_id"].clone();
    let output = answer["tool_history"][0]["output"].clone();
    assert!(
        output
            .as_str()
            .unwrap()
            .starts_with("See https://found.example/page"),
        "{output}"
    );
    assert_eq!(
        answer,
        json!({
            "message": "I look.\n\n[[tool:0]]\n\nFound.",
            "suggested_values": [{ "label": "More", "value": "Tell me more" }],
            "suggested_actions": [
                { "label": "Save", "action": "save", "handler": "server", "data": { "n": 0.5 }, "style": "secondary", "taken": false },
            ],
            "custom_payload": {
                "payload_id": payload_id, "type": "table", "summary": "Table", "data": [[1.5]],
            },
            "tool_history": [
                {
                    "tool_name": "make", "tool_use_id": "id0", "input": { "kind": "table", "data": [[1.5]] },
                    "output": output, "status": "complete",
                },
            ],
            "sources": [{ "number": 1, "title": "Page", "url": "https://found.example/page" }],
            "conversation_id": saved["conversation_id"],
            "user_message_id": saved["user_message_id"],
            "message_id": saved["expected_assistant_message_id"],
            "status": "complete",
            "finish_reason": "stop",
        })
    );
}

#[tokio::test]
async fn failed_run_returns_partial_answer() {
    let (_folder, upstream, parlor) = parlor_answering(Script::new().text("half").cut()).await;
    let (status, problem) = post_batch(&parlor, &json!({ "message": "Go", "model": "test/any" })).await;
    assert_eq!((status, &problem["code"]), (502, &json!("run_interrupted")));
    assert_eq!(problem["payload"]["message"], "half");
    upstream.add_script(When::any(), Script::new().status(401, "no", &[]));
    let (status, problem) = post_batch(&parlor, &json!({ "message": "Go", "model": "test/any" })).await;
    assert_eq!((status, &problem["code"]), (502, &json!("run_failed")));
    assert_eq!(problem["detail"], problem["error"]["message"]);
    assert_eq!(problem["payload"]["status"], "failed");
}

#[tokio::test]
async fn stopped_run_returns_its_status() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new().text("half").gate("never")).await;
    let conversation = Uuid::now_v7();
    let request = json!({ "message": "Go", "model": "test/any", "conversation_id": conversation });
    let stop = async {
        let mut events = parlor.follow("/api/events?after=0").await;
        let run = string_field(&events.next_of_type("text_delta").await, "message_id");
        parlor
            .post(&format!("/api/runs/{run}/stop"), &json!({}))
            .send()
            .await
            .unwrap();
    };
    let ((status, answer), ()) = tokio::join!(post_batch(&parlor, &request), stop);
    assert_eq!(
        (status, &answer["status"], &answer["message"]),
        (200, &json!("stopped"), &json!("half"))
    );
}

#[tokio::test]
async fn approval_returns_early_and_repeat_completes() {
    let count = Arc::new(AtomicUsize::new(0));
    let tools = ToolRegistry::default().with_tool(ApprovalTool(count.clone()));
    let (_folder, upstream, parlor) = parlor_with_tools(tools, |_| {}).await;
    upstream.add_script(
        When::any(),
        Script::new().tool_call("id0", "asking", r#"{"name":"it"}"#),
    );
    upstream.add_script(When::tool_gave("it is changed"), Script::new().text("Done."));
    let key = Uuid::now_v7().to_string();
    let request = json!({ "message": "Change it", "model": "test/any" });
    let send = || {
        parlor
            .post("/api/chat/batch", &request)
            .header("idempotency-key", &key)
            .send()
    };
    for _ in 0..2 {
        let response = send().await.unwrap();
        assert_eq!(response.status(), 202);
        let place = response.headers()["location"].to_str().unwrap().to_owned();
        let later = read_json(response).await;
        assert_eq!(
            place,
            format!("/api/messages/{}", string_field(&later, "message_id"))
        );
        assert_eq!(later["status"], "waiting");
        assert_eq!(
            later["approvals"],
            json!([{ "index": 0, "tool": "asking", "input": { "name": "it" }, "label": "Changing", "detail": null }])
        );
    }
    let later = read_json(send().await.unwrap()).await;
    let answer = format!("/api/runs/{}/approvals", string_field(&later, "message_id"));
    let allowed = parlor.post(&answer, &json!({ "index": 0, "answer": "allow" }));
    assert_eq!(allowed.send().await.unwrap().status(), 204);
    let response = send().await.unwrap();
    assert_eq!(
        (response.status().as_u16(), &read_json(response).await["message"]),
        (200, &json!("[[tool:0]]\n\nDone."))
    );
    assert_eq!(count.load(SeqCst), 1);
}

#[tokio::test]
async fn timeout_returns_the_answers_location() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(
        When::any(),
        Script::new().text("half").gate("rest").text(" whole"),
    );
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
        settings.timeouts.batch = Duration::from_millis(300);
    })
    .await;
    let (status, later) = post_batch(&parlor, &json!({ "message": "Go", "model": "test/any" })).await;
    assert_eq!((status, &later["status"]), (202, &json!("running")));
    let run = string_field(&later, "message_id");
    let at_work = parlor.get_json(&format!("/api/runs/{run}")).await.1;
    assert_eq!(
        (&at_work["status"], &at_work["last_position"]),
        (&json!("running"), &Value::Null)
    );
    upstream.open_gate("rest");
    let rest = parlor
        .follow(&format!("/api/runs/{run}/events"))
        .await
        .read_to_end()
        .await;
    assert_eq!(rest.last().unwrap()["payload"]["message"], "half whole");
    let ended = parlor.get_json(&format!("/api/runs/{run}")).await.1;
    assert_eq!(ended["last_position"], rest.last().unwrap()["position"]);
}

#[tokio::test]
async fn shutdown_returns_the_partial_answer() {
    let (folder, upstream, parlor) = parlor_answering(Script::new().text("half").gate("never")).await;
    let request = parlor.post(
        "/api/chat/batch",
        &json!({ "message": "Go", "model": "test/any" }),
    );
    let stop = async {
        let mut events = parlor.follow("/api/events?after=0").await;
        let run = string_field(&events.next_of_type("text_delta").await, "message_id");
        parlor.stop().await;
        run
    };
    let (response, run) = tokio::join!(request.send(), stop);
    let response = response.unwrap();
    assert_eq!(response.status(), 502);
    let problem = read_json(response).await;
    assert_eq!(problem["code"], "run_interrupted");
    assert_eq!(problem["payload"]["message_id"], run);
    let parlor = Parlor::start(folder.path(), &upstream).await;
    let path = format!("/api/messages/{run}");
    let kept = read_json(parlor.get(&path).send().await.unwrap()).await;
    assert_eq!(kept["message"]["nodes"][0]["parts"][0]["text"], "half");
}

#[tokio::test]
async fn run_survives_client_disconnect() {
    let (_folder, upstream, parlor) =
        parlor_answering(Script::new().text("half").gate("rest").text(" whole")).await;
    let conversation = Uuid::now_v7();
    let request = json!({ "message": "Go", "model": "test/any", "conversation_id": conversation });
    let waiting = tokio::spawn(parlor.post("/api/chat/batch", &request).send());
    let mut events = parlor.follow("/api/events?after=0").await;
    events.next_of_type("text_delta").await;
    parlor.wait_for_listeners(2).await;
    waiting.abort();
    parlor.wait_for_listeners(1).await;
    upstream.open_gate("rest");
    events.next_of_type("complete").await;
    let path = format!("/api/conversations/{conversation}/messages");
    let messages = parlor.get_json(&path).await.1;
    assert_eq!(
        messages["messages"][1]["nodes"][0]["parts"][0]["text"],
        "half whole"
    );
}

#[tokio::test]
async fn deleted_conversation_returns_not_found() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("half").gate("never"));
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
        settings.timeouts.heartbeat = Duration::from_millis(100);
    })
    .await;
    let conversation = Uuid::now_v7();
    let request = json!({ "message": "Go", "model": "test/any", "conversation_id": conversation });
    let delete = async {
        let mut events = parlor.follow("/api/events?after=0").await;
        events.next_of_type("text_delta").await;
        let url = format!("{}/api/conversations/{conversation}", parlor.url);
        parlor.client.delete(url).send().await.unwrap();
    };
    let ((status, problem), ()) = tokio::join!(post_batch(&parlor, &request), delete);
    assert_eq!((status, &problem["code"]), (404, &json!("not_found")));
}

#[tokio::test]
async fn rejects_the_same_requests_as_the_stream() {
    let (_folder, upstream, parlor) = parlor_answering(Script::new().text("x").gate("never")).await;
    let conversation = Uuid::now_v7();
    let request = json!({ "message": "Go", "model": "test/any", "conversation_id": conversation });
    let mut stream = parlor.chat(&request).await;
    stream.next_of_type("text_delta").await;
    for (body, expected, code) in [
        (request, 409, "run_active"),
        (json!({ "message": " " }), 400, "bad_request"),
        (
            json!({ "message": "x", "diagnostics": "yes" }),
            400,
            "bad_request",
        ),
        // A misspelled field must not start a new conversation.
        (
            json!({ "message": "x", "conversationId": conversation }),
            400,
            "bad_request",
        ),
        (json!(["x"]), 400, "bad_request"),
        (
            json!({ "message": "x", "conversation_history": [] }),
            400,
            "bad_request",
        ),
        (json!({ "message": "x".repeat(600_000) }), 413, "too_large"),
    ] {
        let (status, problem) = post_batch(&parlor, &body).await;
        assert_eq!((status, &problem["code"]), (expected, &json!(code)));
    }
    assert_eq!(model_calls(&upstream).len(), 1);
}
