//! Tool calls that need approval.

use upstream::When;

use super::*;
use crate::support::{event_types, model_calls};

#[tokio::test]
async fn pending_approval_survives_restart_and_runs_once() {
    let ran = Arc::new(AtomicUsize::new(0));
    let tools = || ToolRegistry::default().with_tool(ApprovalTool(ran.clone()));
    let (folder, upstream, parlor) = start_with_tools(tools()).await;
    upstream.add_script(When::any(), call_script("asking", &["it"]));
    upstream.add_script(When::tool_gave("it is changed"), Script::new().text("Done."));
    let mut stream = start_turn(&parlor).await;
    let asked = stream.next_of_type("approval_requested").await;
    assert_eq!(asked["input"], json!({"name": "it"}));
    stream.next_of_type("waiting").await;
    drop(stream);
    parlor.stop().await;

    let parlor = Parlor::start_with_tools(folder.path(), &upstream, tools(), |_| {}).await;
    let id = asked["message_id"].as_str().unwrap();
    let message = parlor.get_json(&format!("/api/messages/{id}")).await.1;
    assert_eq!(
        message["message"]["status"], "waiting",
        "a restart changes nothing: {message}"
    );
    let allow = json!({ "message_id": id, "index": 0, "answer": "allow" });
    let answers = (0..3).map(|_| parlor.post("/rpc/answer_approval", &allow).send());
    for answer in futures::future::join_all(answers).await {
        assert_eq!(answer.unwrap().status(), 200);
    }
    let events = parlor
        .follow(&format!("/api/runs/{id}/events"))
        .await
        .read_to_end()
        .await;
    assert_eq!(
        events.last().unwrap()["payload"]["message"],
        "[[tool:0]]\n\nDone."
    );
    let deny = json!({ "message_id": id, "index": 0, "answer": "deny" });
    assert_eq!(
        parlor
            .post("/rpc/answer_approval", &deny)
            .send()
            .await
            .unwrap()
            .status(),
        200
    );
    assert_eq!(ran.load(SeqCst), 1, "the first answer counts, once");
}

#[tokio::test]
async fn denied_call_is_reported_to_the_model() {
    let ran = Arc::new(AtomicUsize::new(0));
    let (_folder, upstream, parlor) = start_with_tools(
        ToolRegistry::default()
            .with_tool(ApprovalTool(ran.clone()))
            .with_tool(FailingTool),
    )
    .await;
    let script = call_script("asking", &["it"]).tool_call("id1", "failing", r#"{"name":"fine"}"#);
    upstream.add_script(When::any(), script);
    upstream.add_script(When::tool_gave(""), Script::new().text("As you wish."));
    let mut stream = start_turn(&parlor).await;
    let waiting = stream.next_of_type("waiting").await;
    let id = waiting["message_id"].as_str().unwrap();
    let deny = json!({ "index": 0, "answer": "deny" });
    let path = format!("/api/runs/{id}/approvals");
    assert_eq!(parlor.post(&path, &deny).send().await.unwrap().status(), 204);
    let events = stream.read_to_end().await;
    assert_eq!(event_types(&events)[..2], ["approval_answered", "tool_complete"]);
    assert_eq!(events[1]["status"], "denied");
    assert_eq!(
        events.last().unwrap()["payload"]["message"],
        "[[tool:0]]\n\n[[tool:1]]\n\nAs you wish."
    );
    assert_eq!(ran.load(SeqCst), 0);
    let shown = &model_calls(&upstream)[1]["messages"];
    assert!(
        shown[2]["content"].as_str().unwrap().contains("did not allow"),
        "{shown}"
    );
}

#[tokio::test]
async fn stops_a_run_waiting_for_approval() {
    let (_folder, upstream, parlor) =
        start_with_tools(ToolRegistry::default().with_tool(ApprovalTool(Arc::default()))).await;
    upstream.add_script(When::any(), call_script("asking", &["it"]));
    let mut stream = start_turn(&parlor).await;
    let waiting = stream.next_of_type("waiting").await;
    let stop = json!({ "message_id": waiting["message_id"] });
    let stopped = parlor.post("/rpc/stop_run", &stop).send().await.unwrap();
    assert_eq!(stopped.text().await.unwrap(), "\"stopped\"");
    // The marker of the call, then the end.
    assert_eq!(
        event_types(&stream.read_to_end().await),
        ["text_delta", "cancelled"]
    );
    let next = json!({ "message": "x", "model": "test/any", "conversation_id": waiting["conversation_id"] });
    assert_eq!(
        parlor.chat(&next).await.next().await.unwrap()["type"],
        "user_message_saved"
    );
}

#[tokio::test]
async fn late_always_answer_has_no_effect() {
    let ran = Arc::new(AtomicUsize::new(0));
    let (_folder, upstream, parlor) =
        start_with_tools(ToolRegistry::default().with_tool(ApprovalTool(ran.clone()))).await;
    upstream.add_script(When::any(), call_script("asking", &["it"]));
    upstream.add_script(
        When::tool_gave("did not allow"),
        Script::new().text("As you wish."),
    );
    let mut stream = start_turn(&parlor).await;
    let waiting = stream.next_of_type("waiting").await;
    let path = format!("/api/runs/{}/approvals", waiting["message_id"].as_str().unwrap());
    for answer in ["deny", "always"] {
        let answer = json!({ "index": 0, "answer": answer });
        assert_eq!(parlor.post(&path, &answer).send().await.unwrap().status(), 204);
    }
    stream.read_to_end().await;
    let next =
        json!({ "message": "Again", "model": "test/any", "conversation_id": waiting["conversation_id"] });
    let mut again = parlor.chat(&next).await;
    again.next_of_type("approval_requested").await;
    assert_eq!(ran.load(SeqCst), 0);
}
