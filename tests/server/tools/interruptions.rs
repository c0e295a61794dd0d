//! Runs that end during tool calls, and the state of the calls when the runs continue.

use upstream::When;
use uuid::Uuid;

use super::*;
use crate::support::{TEST_TIMEOUT, event_types, model_calls};

#[tokio::test]
async fn stop_cancels_a_running_tool() {
    let fate = Arc::new(EndlessToolState::default());
    let (_folder, upstream, parlor) =
        start_with_tools(ToolRegistry::default().with_tool(EndlessTool(fate.clone()))).await;
    upstream.add_script(
        When::any(),
        Script::new()
            .text("I begin.")
            .tool_call("id0", "endless", r#"{"name":"x"}"#),
    );
    let mut stream = start_turn(&parlor).await;
    let started = stream.next_of_type("tool_start").await;
    tokio::time::timeout(TEST_TIMEOUT, fate.started.notified())
        .await
        .unwrap();
    let stop = json!({ "message_id": started["message_id"] });
    let stopped = parlor.post("/rpc/stop_run", &stop).send().await.unwrap();
    assert_eq!(stopped.text().await.unwrap(), "\"stopped\"");
    assert_eq!(
        fate.drop_count.load(SeqCst),
        1,
        "all calls have ended when the stop returns"
    );
    let rest = stream.read_to_end().await;
    // The marker of the call, then the end.
    assert_eq!(event_types(&rest), ["text_delta", "cancelled"]);
    let path = format!("/api/messages/{}", started["message_id"].as_str().unwrap());
    let message = parlor.get_json(&path).await.1;
    assert_eq!(
        message["message"]["nodes"][0]["parts"][1]["status"], "stopped",
        "{message}"
    );
    assert_eq!(model_calls(&upstream).len(), 1);
}

#[tokio::test]
async fn restart_reruns_only_unfinished_calls() {
    let fate = Arc::new(EndlessToolState::default());
    let tools = || {
        ToolRegistry::default()
            .with_tool(EndlessTool(fate.clone()))
            .with_tool(FailingTool)
    };
    let (folder, upstream, parlor) = start_with_tools(tools()).await;
    let script = call_script("failing", &["fine"]).tool_call("id1", "endless", r#"{"name":"x"}"#);
    upstream.add_script(When::any(), script);
    let mut stream = start_turn(&parlor).await;
    let ended = stream.next_of_type("tool_complete").await;
    assert_eq!(ended["output"], "fine");
    tokio::time::timeout(TEST_TIMEOUT, fate.started.notified())
        .await
        .unwrap();
    parlor.stop().await;

    let parlor = Parlor::start_with_tools(folder.path(), &upstream, tools(), |_| {}).await;
    upstream.add_script(
        When::tool_gave("outcome"),
        Script::new().text("I looked at what I have."),
    );
    let intent = json!({ "intent": {
        "intent_id": Uuid::now_v7(),
        "conversation_id": ended["conversation_id"],
        "message_id": ended["message_id"],
    } });
    let continued = parlor.post("/rpc/continue_run", &intent).send().await.unwrap();
    assert_eq!(continued.status(), 200);
    let path = format!("/api/runs/{}/events", ended["message_id"].as_str().unwrap());
    let events = parlor.follow(&path).await.read_to_end().await;
    assert_eq!(events.last().unwrap()["type"], "complete", "{events:?}");
    assert_eq!(
        fate.start_count.load(SeqCst),
        1,
        "a call with an unknown outcome is not run again"
    );
    let shown = &model_calls(&upstream)[1]["messages"];
    assert_eq!(shown[2]["content"], "fine");
    assert!(
        shown[3]["content"]
            .as_str()
            .unwrap()
            .contains("outcome of this call is unknown"),
        "{shown}"
    );
}

#[tokio::test]
async fn continues_after_a_break_in_tool_arguments() {
    let (_folder, upstream, parlor) = start_with_tools(ToolRegistry::default().with_tool(FailingTool)).await;
    upstream.add_script(When::any(), call_script("failing", &["fine"]));
    upstream.add_script(When::tool_gave("fine"), Script::new().text("Found."));
    let broken = Script::new()
        .text("Let me look.")
        .tool_call("id0", "failing", r#"{"na"#)
        .cut();
    upstream.add_script_times(1, When::any(), broken);
    let events = start_turn(&parlor).await.read_to_end().await;
    assert_eq!(events.last().unwrap()["status"], "interrupted");
    assert_eq!(
        events_of_type(&events, "tool_start").len(),
        0,
        "an incomplete call is not started"
    );
    let path = format!("/api/runs/{}/continue", events[0]["message_id"].as_str().unwrap());
    let more = parlor.post(&path, &json!({})).send().await.unwrap();
    assert_eq!(more.status(), 200);
    let body = more.text().await.unwrap();
    assert!(
        body.contains(r#""message":"Let me look.\n\n[[tool:0]]\n\nFound.""#),
        "{body}"
    );
    let asked = model_calls(&upstream);
    assert_eq!(asked.len(), 3);
    assert_eq!(
        asked[1]["messages"][1],
        json!({"role": "assistant", "content": "Let me look."})
    );
    assert!(
        asked[1]["messages"][2]["content"]
            .as_str()
            .unwrap()
            .contains("cut off")
    );
    // The result is one conversation, with the call in its place.
    let roles: Vec<_> = asked[2]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| &message["role"])
        .collect();
    assert_eq!(roles, ["user", "assistant", "tool"]);
}
