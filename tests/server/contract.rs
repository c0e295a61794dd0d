//! The public contract, over HTTP against the real server and a scripted model server.

use crate::support::{
    Parlor, event_types, joined_deltas, model_calls, parlor_answering, read_json, string_field,
};
use serde_json::{Value, json};
use upstream::Script;

#[tokio::test]
async fn turn_streams_typed_events() {
    let (_folder, upstream, parlor) = parlor_answering(
        Script::new()
            .think("Let me ")
            .think("see.")
            .text("Hello")
            .text(", Ann."),
    )
    .await;
    let events = parlor
        .chat(&json!({ "message": "Hi, I am Ann", "model": "test/any" }))
        .await
        .read_to_end()
        .await;
    assert_eq!(
        event_types(&events),
        [
            "user_message_saved",
            "run_started",
            "status",
            "thinking",
            "text_delta",
            "complete"
        ]
    );
    assert_eq!(
        (
            joined_deltas(&events, "thinking").as_str(),
            joined_deltas(&events, "text_delta").as_str()
        ),
        ("Let me see.", "Hello, Ann.")
    );
    let (first, last) = (&events[0], events.last().unwrap());
    assert_eq!(first["expected_assistant_message_id"], last["message_id"]);
    assert_eq!(last["payload"]["message"], "Hello, Ann.");
    assert_eq!(last["payload"]["conversation_id"], first["conversation_id"]);

    // The announced id is that of the stored answer.
    let message = parlor
        .get_json(&format!(
            "/api/messages/{}",
            string_field(first, "expected_assistant_message_id")
        ))
        .await
        .1;
    assert_eq!(message["message"]["status"], "complete");
    assert_eq!(
        message["message"]["nodes"][0]["parts"],
        json!([{ "type": "thinking", "text": "Let me see." }, { "type": "text", "text": "Hello, Ann." }])
    );

    // The next turn shows the model the text, without the thinking.
    let conversation_id = string_field(first, "conversation_id");
    parlor
        .chat(&json!({ "message": "And?", "conversation_id": conversation_id }))
        .await
        .read_to_end()
        .await;
    let request = &model_calls(&upstream)[1];
    let said: Vec<(&str, &str)> = request["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| {
            (
                message["role"].as_str().unwrap(),
                message["content"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        said,
        [
            ("user", "Hi, I am Ann"),
            ("assistant", "Hello, Ann."),
            ("user", "And?")
        ]
    );
}

#[tokio::test]
async fn resumes_dropped_stream_at_any_position() {
    let (_folder, upstream, parlor) =
        parlor_answering(Script::new().text("one").gate("more").text(" two").text(" three")).await;
    let mut stream = parlor
        .chat(&json!({ "message": "count", "model": "test/any" }))
        .await;
    let saved = stream.next_of_type("user_message_saved").await;
    let seen = stream.next_of_type("text_delta").await;
    drop(stream);
    let run = string_field(&saved, "expected_assistant_message_id");
    upstream.open_gate("more");
    let whole = parlor
        .follow(&format!("/api/runs/{run}/events"))
        .await
        .read_to_end()
        .await;
    assert_eq!(joined_deltas(&whole, "text_delta"), "one two three");
    for after in whole.iter().map(|event| event["position"].as_u64().unwrap()) {
        let url = format!("/api/runs/{run}/events?after={after}");
        if after == whole.last().unwrap()["position"].as_u64().unwrap() {
            // Nothing follows a run's last event: an EventSource is told not to reconnect.
            assert_eq!(parlor.get(&url).send().await.unwrap().status(), 204);
            break;
        }
        let rest = parlor.follow(&url).await;
        let expected: Vec<&Value> = whole
            .iter()
            .filter(|event| event["position"].as_u64() > Some(after))
            .collect();
        assert_eq!(rest.read_to_end().await.iter().collect::<Vec<_>>(), expected);
    }
    assert!(seen["position"].as_u64() > saved["position"].as_u64());
}

#[tokio::test]
async fn stop_keeps_the_partial_answer() {
    let (_folder, upstream, parlor) =
        parlor_answering(Script::new().text("half").gate("never").text(" whole")).await;
    let mut stream = parlor
        .chat(&json!({ "message": "long", "model": "test/any" }))
        .await;
    let delta = stream.next_of_type("text_delta").await;
    let stop = format!("/api/runs/{}/stop", string_field(&delta, "message_id"));
    for _ in 0..2 {
        let stopped = read_json(parlor.post(&stop, &json!({})).send().await.unwrap()).await;
        assert_eq!(stopped["status"], "stopped", "pressing again changes nothing");
    }
    let rest = stream.read_to_end().await;
    assert_eq!(event_types(&rest), ["cancelled"]);
    assert_eq!(rest[0]["payload"]["message"], "half");
    upstream.wait_until_closed().await;
}

#[tokio::test]
async fn stops_before_the_first_token() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new().gate("never").text("late")).await;
    let mut stream = parlor
        .chat(&json!({ "message": "slow", "model": "test/any" }))
        .await;
    let status = stream.next_of_type("status").await;
    parlor
        .post(
            &format!("/api/runs/{}/stop", string_field(&status, "message_id")),
            &json!({}),
        )
        .send()
        .await
        .unwrap();
    assert_eq!(event_types(&stream.read_to_end().await), ["cancelled"]);
}

#[tokio::test]
async fn repeated_request_starts_one_run() {
    let (_folder, upstream, parlor) = parlor_answering(Script::new().text("once")).await;
    let body = json!({ "message": "pay the bill", "model": "test/any" });
    let key = "0199f6a2-7b1e-7cc0-9f52-0a6c4f0c8a11";
    let send = |body: Value| {
        parlor
            .post("/api/chat/stream", &body)
            .header("idempotency-key", key)
            .send()
    };
    let first = send(body.clone()).await.unwrap().text().await.unwrap();
    let again = send(body).await.unwrap().text().await.unwrap();
    assert_eq!(
        first.replace(": heartbeat\n\n", ""),
        again.replace(": heartbeat\n\n", "")
    );
    assert_eq!(model_calls(&upstream).len(), 1);
    let other = send(json!({ "message": "something else" })).await.unwrap();
    assert_eq!(other.status(), 409);
    assert_eq!(read_json(other).await["code"], "intent_reused");
}

#[tokio::test]
async fn conversation_has_one_run_at_a_time() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new().text("x").gate("never")).await;
    let mut stream = parlor.chat(&json!({ "message": "a", "model": "test/any" })).await;
    let delta = stream.next_of_type("text_delta").await;
    let body = json!({ "message": "b", "conversation_id": delta["conversation_id"] });
    let refused = parlor.post("/api/chat/stream", &body).send().await.unwrap();
    assert_eq!(refused.status(), 409);
    assert_eq!(read_json(refused).await["code"], "run_active");
}

#[tokio::test]
async fn user_log_is_ordered_without_gaps() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new().text("yes")).await;
    let mut live = parlor.follow("/api/events").await;
    for n in 0..3 {
        parlor
            .chat(&json!({ "message": format!("question {n}"), "model": "test/any" }))
            .await
            .read_to_end()
            .await;
    }
    let mut seen = Vec::new();
    while seen
        .iter()
        .filter(|event: &&Value| event["type"] == "complete")
        .count()
        < 3
    {
        seen.push(live.next().await.unwrap());
    }
    let mut replayed = parlor.follow("/api/events?after=0").await;
    for event in &seen {
        assert_eq!(replayed.next().await.as_ref(), Some(event));
    }
    let positions: Vec<u64> = seen
        .iter()
        .map(|event| event["position"].as_u64().unwrap())
        .collect();
    assert_eq!(positions, (1..=seen.len() as u64).collect::<Vec<_>>());
    // A position beyond the end of the log.
    let reset = parlor
        .follow("/api/events?after=999999")
        .await
        .read_to_end()
        .await;
    assert_eq!(reset, [json!({ "type": "reset" })]);
}

#[tokio::test]
async fn interrupted_answer_is_kept_and_marked() {
    let (folder, upstream, parlor) = parlor_answering(Script::new().text("half").gate("never")).await;
    let mut stream = parlor
        .chat(&json!({ "message": "long", "model": "test/any" }))
        .await;
    let delta = stream.next_of_type("text_delta").await;
    parlor.stop().await;
    let rest = stream.read_to_end().await;
    assert_eq!(
        (event_types(&rest), &rest[0]["status"]),
        (vec!["error"], &json!("interrupted"))
    );
    let parlor = Parlor::start(folder.path(), &upstream).await;
    let message = parlor
        .get_json(&format!("/api/messages/{}", string_field(&delta, "message_id")))
        .await
        .1;
    let message = &message["message"];
    assert_eq!(
        (&message["status"], &message["nodes"][0]["parts"][0]["text"]),
        (&json!("interrupted"), &json!("half"))
    );
}

#[tokio::test]
async fn plain_form_sends_a_message() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new().text("Hello, form")).await;
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap();
    let response = client
        .post(format!("{}/send", parlor.url))
        .header("content-type", "application/x-www-form-urlencoded")
        .body("message=Hi+%26+hello&model=test%2Fany&conversation_id=")
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 303);
    let place = response.headers()["location"].to_str().unwrap().to_owned();
    let mut log = parlor.follow("/api/events?after=0").await;
    log.next_of_type("complete").await;
    let page = parlor.get(&place).send().await.unwrap();
    assert_eq!(page.status(), 200);
    assert!(
        page.headers()["content-security-policy"]
            .to_str()
            .unwrap()
            .contains("'nonce-")
    );
    let page = page.text().await.unwrap();
    assert!(
        page.contains("Hi &amp; hello") && page.contains("Hello, form"),
        "the page is complete without scripts"
    );
}
