//! Runs that end, or are ended, while tools are at work, and what becomes of the calls when they go on.

use upstream::When;
use uuid::Uuid;

use super::*;
use crate::support::{SOON, calls, types};

#[tokio::test]
async fn a_stop_ends_a_tool_that_is_at_work() {
    let fate = Arc::new(Fate::default());
    let (_folder, upstream, parlor) = with(Registry::default().with(Endless(fate.clone()))).await;
    upstream.script(
        When::any(),
        Script::new()
            .text("I begin.")
            .tool_call("id0", "endless", r#"{"name":"x"}"#),
    );
    let mut stream = ask(&parlor).await;
    let started = stream.until("tool_start").await;
    tokio::time::timeout(SOON, fate.begins.notified()).await.unwrap();
    let stop = json!({ "message_id": started["message_id"] });
    let stopped = parlor.post("/rpc/stop_run", &stop).send().await.unwrap();
    assert_eq!(stopped.text().await.unwrap(), "\"stopped\"");
    assert_eq!(
        fate.dropped.load(SeqCst),
        1,
        "nothing of it goes on when the stop is answered"
    );
    let rest = stream.rest().await;
    // The call's mark, then the end.
    assert_eq!(types(&rest), ["text_delta", "cancelled"]);
    let path = format!("/api/messages/{}", started["message_id"].as_str().unwrap());
    let message = parlor.get_json(&path).await.1;
    assert_eq!(
        message["message"]["nodes"][0]["parts"][1]["status"], "stopped",
        "{message}"
    );
    assert_eq!(calls(&upstream).len(), 1);
}

#[tokio::test]
async fn what_a_restart_interrupts_is_continued_and_what_has_ended_is_not_done_again() {
    let fate = Arc::new(Fate::default());
    let tools = || Registry::default().with(Endless(fate.clone())).with(Failing);
    let (folder, upstream, parlor) = with(tools()).await;
    let script = asks("failing", &["fine"]).tool_call("id1", "endless", r#"{"name":"x"}"#);
    upstream.script(When::any(), script);
    let mut stream = ask(&parlor).await;
    let ended = stream.until("tool_complete").await;
    assert_eq!(ended["output"], "fine");
    tokio::time::timeout(SOON, fate.begins.notified()).await.unwrap();
    parlor.stop().await;

    let parlor = Parlor::start_with_tools(folder.path(), &upstream, tools(), |_| {}).await;
    upstream.script(
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
    let events = parlor.follow(&path).await.rest().await;
    assert_eq!(events.last().unwrap()["type"], "complete", "{events:?}");
    assert_eq!(
        fate.begun.load(SeqCst),
        1,
        "what has no known end is not run again"
    );
    let shown = &calls(&upstream)[1]["messages"];
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
async fn an_answer_that_broke_off_in_the_arguments_of_a_tool_goes_on() {
    let (_folder, upstream, parlor) = with(Registry::default().with(Failing)).await;
    upstream.script(When::any(), asks("failing", &["fine"]));
    upstream.script(When::tool_gave("fine"), Script::new().text("Found."));
    let broken = Script::new()
        .text("Let me look.")
        .tool_call("id0", "failing", r#"{"na"#)
        .cut();
    upstream.script_times(1, When::any(), broken);
    let events = ask(&parlor).await.rest().await;
    assert_eq!(events.last().unwrap()["status"], "interrupted");
    assert_eq!(
        of_type(&events, "tool_start").len(),
        0,
        "what was not asked for whole is not begun"
    );
    let path = format!("/api/runs/{}/continue", events[0]["message_id"].as_str().unwrap());
    let more = parlor.post(&path, &json!({})).send().await.unwrap();
    assert_eq!(more.status(), 200);
    let body = more.text().await.unwrap();
    assert!(
        body.contains(r#""message":"Let me look.\n\n[[tool:0]]\n\nFound.""#),
        "{body}"
    );
    let asked = calls(&upstream);
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
    // What is shown in the end is one conversation, with the call in its place.
    let roles: Vec<_> = asked[2]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| &message["role"])
        .collect();
    assert_eq!(roles, ["user", "assistant", "tool"]);
}
