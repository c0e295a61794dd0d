//! Continuing an interrupted or stopped answer, with model servers that do not support a prefill.

use crate::support::{Parlor, event_types, joined_deltas, last_messages, read_json};
use serde_json::{Value, json};
use upstream::{Script, Upstream, When};
use uuid::Uuid;

/// Starts a server whose model is interrupted as scripted, and continues as scripted.
async fn parlor_breaking_off(first: Script, then: Script) -> (tempfile::TempDir, Upstream, Parlor) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::user_contains("cut off"), then);
    upstream.add_script_times(1, When::any(), first);
    let parlor = Parlor::start(folder.path(), &upstream).await;
    (folder, upstream, parlor)
}

/// Sends a question and reads the events until the answer is interrupted.
async fn ask_until_break(parlor: &Parlor) -> Vec<Value> {
    parlor
        .chat(&json!({ "message": "Why is the sky blue?", "model": "test/any" }))
        .await
        .read_to_end()
        .await
}

/// Returns the intent to continue the answer of these events.
fn continue_intent(events: &[Value]) -> Value {
    json!({ "intent": {
        "intent_id": Uuid::now_v7(),
        "conversation_id": events[0]["conversation_id"],
        "message_id": events[0]["message_id"],
    } })
}

async fn post_continue(parlor: &Parlor, intent: &Value) -> (u16, Value) {
    let response = parlor.post("/rpc/continue_run", intent).send().await.unwrap();
    (response.status().as_u16(), read_json(response).await)
}

#[tokio::test]
async fn continues_cut_text_in_mid_word() {
    let (_folder, upstream, parlor) = parlor_breaking_off(
        Script::new().think("Rayleigh.").text("Because the sk").cut(),
        Script::new()
            .think("Where was I?")
            .text("y scatters")
            .text(" blue."),
    )
    .await;
    let first = ask_until_break(&parlor).await;
    let broken = first.last().unwrap();
    assert_eq!(
        (&broken["type"], &broken["status"]),
        (&json!("error"), &json!("interrupted"))
    );

    let intent = continue_intent(&first);
    let (status, started) = post_continue(&parlor, &intent).await;
    assert_eq!(
        (status, &started["assistant_message_id"]),
        (200, &first[0]["message_id"]),
        "the same run goes on: {started}"
    );
    assert_eq!(
        post_continue(&parlor, &intent).await,
        (200, started),
        "a repeated request runs once"
    );

    let run = first[0]["message_id"].as_str().unwrap();
    let after = &broken["position"];
    let rest = parlor
        .follow(&format!("/api/runs/{run}/events?after={after}"))
        .await
        .read_to_end()
        .await;
    assert_eq!(
        event_types(&rest),
        ["run_continued", "status", "thinking", "text_delta", "complete"]
    );
    assert!(
        rest.iter()
            .filter(|event| event["type"] == "text_delta")
            .all(|event| event["node"] == 1),
        "a node for each call of the model"
    );
    assert_eq!(joined_deltas(&rest, "text_delta"), "y scatters blue.");
    assert_eq!(
        rest.last().unwrap()["payload"]["message"],
        "Because the sky scatters blue."
    );
    let shown = last_messages(&upstream);
    let roles: Vec<&str> = shown.iter().map(|(role, _)| role.as_str()).collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
    assert_eq!(shown[1].1, "Because the sk");
    assert!(
        shown[2].1.contains("Go on from exactly where it stops"),
        "{shown:?}"
    );

    // Complete answers are not continued, and the answer is one text from now on.
    let (status, refused) = post_continue(&parlor, &continue_intent(&first)).await;
    assert_eq!((status, &refused["code"]), (409, &json!("not_continuable")));
    let transcript = parlor
        .get_json(&format!(
            "/rpc/conversation?conversation_id={}",
            first[0]["conversation_id"].as_str().unwrap()
        ))
        .await
        .1;
    assert_eq!(transcript["messages"][1]["status"], "complete");
    assert_eq!(transcript["messages"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn continues_cut_thinking() {
    let (_folder, upstream, parlor) = parlor_breaking_off(
        Script::new().think("Short waves scat").cut(),
        Script::new().think("ter more.").text("Rayleigh scattering."),
    )
    .await;
    let first = ask_until_break(&parlor).await;
    let (status, _) = post_continue(&parlor, &continue_intent(&first)).await;
    assert_eq!(status, 200);
    let run = first[0]["message_id"].as_str().unwrap();
    let after = &first.last().unwrap()["position"];
    let rest = parlor
        .follow(&format!("/api/runs/{run}/events?after={after}"))
        .await
        .read_to_end()
        .await;
    assert_eq!(rest.last().unwrap()["payload"]["message"], "Rayleigh scattering.");
    let shown = last_messages(&upstream);
    let [(role, question)] = &shown[..] else {
        panic!("roles take turns: {shown:?}")
    };
    assert_eq!(role, "user");
    assert!(question.starts_with("Why is the sky blue?\n\n("), "{question}");
    assert!(question.ends_with("Short waves scat)"), "{question}");
}

#[tokio::test]
async fn answer_is_complete_after_two_crashes() {
    let (folder, upstream, parlor) = parlor_breaking_off(
        Script::new().text("one").gate("never"),
        Script::new().text(" two").gate("never either"),
    )
    .await;
    let mut stream = parlor
        .chat(&json!({ "message": "count", "model": "test/any" }))
        .await;
    let first = stream.next_of_type("text_delta").await;
    parlor.stop().await;
    let parlor = Parlor::start(folder.path(), &upstream).await;
    let ids = [first.clone()];
    assert_eq!(post_continue(&parlor, &continue_intent(&ids)).await.0, 200);
    let run = first["message_id"].as_str().unwrap();
    let mut stream = parlor.follow(&format!("/api/runs/{run}/events")).await;
    stream.next_of_type("run_continued").await;
    assert_eq!(stream.next_of_type("text_delta").await["text"], " two");
    // Anyone who opens the conversation during the run sees all of the answer.
    let message = parlor.get_json(&format!("/api/messages/{run}")).await.1;
    assert_eq!(message["message"]["status"], "running");
    assert_eq!(
        message["message"]["nodes"],
        json!([
            { "parts": [{ "type": "text", "text": "one" }] },
            { "parts": [{ "type": "text", "text": " two" }] }
        ])
    );
    parlor.stop().await;
    upstream.reset();
    upstream.add_script(When::any(), Script::new().text(" three"));
    let parlor = Parlor::start(folder.path(), &upstream).await;
    assert_eq!(post_continue(&parlor, &continue_intent(&ids)).await.0, 200);
    let last = parlor
        .follow(&format!("/api/runs/{run}/events"))
        .await
        .next_of_type("complete")
        .await;
    assert_eq!(last["payload"]["message"], "one two three");
    // A reader that reconnects after the end is told not to reconnect.
    let after = last["position"].as_u64().unwrap();
    let response = parlor
        .get(&format!("/api/runs/{run}/events?after={after}"))
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 204);
}

#[tokio::test]
async fn continues_after_the_models_length_limit() {
    let (_folder, _upstream, parlor) = parlor_breaking_off(
        Script::new().text("Because the sk").finish("length"),
        Script::new().text("y scatters blue."),
    )
    .await;
    let first = ask_until_break(&parlor).await;
    let end = first.last().unwrap();
    assert_eq!(
        (
            &end["type"],
            &end["finish_reason"],
            &end["payload"]["finish_reason"]
        ),
        (&json!("complete"), &json!("length"), &json!("length"))
    );
    let (status, started) = post_continue(&parlor, &continue_intent(&first)).await;
    assert_eq!(
        (status, &started["assistant_message_id"]),
        (200, &first[0]["message_id"])
    );
    let run = first[0]["message_id"].as_str().unwrap();
    let rest = parlor
        .follow(&format!("/api/runs/{run}/events"))
        .await
        .read_to_end()
        .await;
    let end = rest.last().unwrap();
    assert_eq!(
        (&end["payload"]["message"], &end["finish_reason"]),
        (&json!("Because the sky scatters blue."), &json!("stop"))
    );
    let delta = rest.iter().find(|event| event["type"] == "text_delta").unwrap();
    assert_eq!(delta["node"], 1, "a node of its own");
    let (status, refused) = post_continue(&parlor, &continue_intent(&first)).await;
    assert_eq!((status, &refused["code"]), (409, &json!("not_continuable")));
}

#[tokio::test]
async fn continues_after_parlors_length_limit() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::user_contains("cut off"), Script::new().text("end"));
    upstream.add_script_times(
        1,
        When::any(),
        Script::new().text("x".repeat(600)).text("x".repeat(600)).hang(),
    );
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
        settings.limits.answer_bytes = 1000;
    })
    .await;
    let first = ask_until_break(&parlor).await;
    let end = first.last().unwrap();
    assert_eq!(
        (&end["type"], &end["finish_reason"]),
        (&json!("complete"), &json!("length"))
    );
    assert_eq!(post_continue(&parlor, &continue_intent(&first)).await.0, 200);
}
