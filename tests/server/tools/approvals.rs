//! Calls that a person has to allow.

use upstream::When;

use super::*;
use crate::support::{calls, types};

#[tokio::test]
async fn a_call_that_has_to_be_allowed_waits_through_a_restart_and_runs_once() {
    let ran = Arc::new(AtomicUsize::new(0));
    let tools = || Registry::default().with(Asking(ran.clone()));
    let (folder, upstream, parlor) = with(tools()).await;
    upstream.script(When::any(), asks("asking", &["it"]));
    upstream.script(When::tool_gave("it is changed"), Script::new().text("Done."));
    let mut stream = ask(&parlor).await;
    let asked = stream.until("approval_requested").await;
    assert_eq!(asked["input"], json!({"name": "it"}));
    stream.until("waiting").await;
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
        .rest()
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
async fn what_is_not_allowed_is_not_done_and_the_model_is_told() {
    let ran = Arc::new(AtomicUsize::new(0));
    let (_folder, upstream, parlor) = with(Registry::default().with(Asking(ran.clone())).with(Failing)).await;
    let script = asks("asking", &["it"]).tool_call("id1", "failing", r#"{"name":"fine"}"#);
    upstream.script(When::any(), script);
    upstream.script(When::tool_gave(""), Script::new().text("As you wish."));
    let mut stream = ask(&parlor).await;
    let waiting = stream.until("waiting").await;
    let id = waiting["message_id"].as_str().unwrap();
    let deny = json!({ "index": 0, "answer": "deny" });
    let path = format!("/api/runs/{id}/approvals");
    assert_eq!(parlor.post(&path, &deny).send().await.unwrap().status(), 204);
    let events = stream.rest().await;
    assert_eq!(types(&events)[..2], ["approval_answered", "tool_complete"]);
    assert_eq!(events[1]["status"], "denied");
    assert_eq!(
        events.last().unwrap()["payload"]["message"],
        "[[tool:0]]\n\n[[tool:1]]\n\nAs you wish."
    );
    assert_eq!(ran.load(SeqCst), 0);
    let shown = &calls(&upstream)[1]["messages"];
    assert!(
        shown[2]["content"].as_str().unwrap().contains("did not allow"),
        "{shown}"
    );
}

#[tokio::test]
async fn a_run_that_waits_for_a_person_can_be_stopped() {
    let (_folder, upstream, parlor) = with(Registry::default().with(Asking(Arc::default()))).await;
    upstream.script(When::any(), asks("asking", &["it"]));
    let mut stream = ask(&parlor).await;
    let waiting = stream.until("waiting").await;
    let stop = json!({ "message_id": waiting["message_id"] });
    let stopped = parlor.post("/rpc/stop_run", &stop).send().await.unwrap();
    assert_eq!(stopped.text().await.unwrap(), "\"stopped\"");
    // The call's mark, then the end.
    assert_eq!(types(&stream.rest().await), ["text_delta", "cancelled"]);
    let next = json!({ "message": "x", "model": "test/any", "conversation_id": waiting["conversation_id"] });
    assert_eq!(
        parlor.chat(&next).await.next().await.unwrap()["type"],
        "user_message_saved"
    );
}

#[tokio::test]
async fn an_always_that_comes_after_another_answer_allows_nothing() {
    let ran = Arc::new(AtomicUsize::new(0));
    let (_folder, upstream, parlor) = with(Registry::default().with(Asking(ran.clone()))).await;
    upstream.script(When::any(), asks("asking", &["it"]));
    upstream.script(
        When::tool_gave("did not allow"),
        Script::new().text("As you wish."),
    );
    let mut stream = ask(&parlor).await;
    let waiting = stream.until("waiting").await;
    let path = format!("/api/runs/{}/approvals", waiting["message_id"].as_str().unwrap());
    for answer in ["deny", "always"] {
        let answer = json!({ "index": 0, "answer": answer });
        assert_eq!(parlor.post(&path, &answer).send().await.unwrap().status(), 204);
    }
    stream.rest().await;
    let next =
        json!({ "message": "Again", "model": "test/any", "conversation_id": waiting["conversation_id"] });
    let mut again = parlor.chat(&next).await;
    again.until("approval_requested").await;
    assert_eq!(ran.load(SeqCst), 0);
}
