//! `kill -9` at any time: the events that a client has seen are stored afterwards, and every run has its end.

use std::time::Duration;

use parlor_protocol::{IntentId, MessageBody, RunStatus};
use serde_json::json;
use tokio::{
    sync::oneshot,
    task::JoinSet,
    time::{sleep, timeout},
};
use upstream::{Script, Upstream, When};

use crate::{
    Server, TEST_TIMEOUT,
    client::{ObservedRun, execute_sql, query_sql, read_log, stored_message},
};

/// The number of kills; `make fuzz` has more.
const DEFAULT_ROUNDS: u32 = 16;

/// The number of conversations that stream at each kill.
const CONVERSATIONS: usize = 5;

async fn check_recovered(url: &str, seen: &[ObservedRun], after: u64) {
    let last = |seen: &ObservedRun| seen.events.last().map_or(0, |event| event.position.0);
    let until = seen.iter().map(last).max().unwrap_or(0).max(after + 1);
    let log = read_log(url, after, until).await;
    let positions: Vec<u64> = log.iter().map(|event| event.position.0).collect();
    let all: Vec<u64> = (after + 1..=*positions.last().expect("events")).collect();
    assert_eq!(positions, all, "the log has no gaps");
    for seen in seen {
        for event in &seen.events {
            let index = usize::try_from(event.position.0 - after - 1).expect("a position");
            assert_eq!(log.get(index), Some(event), "what was seen has changed");
        }
        let (Some(run), Some(answer)) = (seen.run, &seen.answer) else {
            continue;
        };
        let message = stored_message(url, run).await;
        let MessageBody::Assistant(kept) = message.body else {
            panic!("a run's message is an answer")
        };
        assert_eq!(kept.status, RunStatus::Interrupted);
        assert!(
            kept.text().starts_with(&answer.text()),
            "seen: {:?}\nkept: {:?}",
            answer.text(),
            kept.text()
        );
    }
}

async fn kill_at_random_moments(seed: u64, rounds: u32) {
    parlor_web::http_client::install_tls();
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().think("Well…").tokens(100_000, 200.0));
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut head, mut seen_in_all) = (0, 0);
    let mut server = Server::start(folder.path(), &upstream).await;
    for round in 0..rounds {
        let mut clients = JoinSet::new();
        let (sender, begun) = oneshot::channel();
        let mut sender = Some(sender);
        for _ in 0..CONVERSATIONS {
            let ask = json!({ "message": "count", "model": "openai/echo" });
            clients.spawn(ObservedRun::read_turn(server.url.clone(), ask, sender.take()));
        }
        // Every other kill comes after an answer has begun, however slow the machine is.
        if round % 2 == 0 {
            timeout(TEST_TIMEOUT, begun)
                .await
                .expect("it begins")
                .expect("it begins");
        }
        sleep(Duration::from_micros(random.u64(0..400_000))).await;
        server.kill().await;
        let seen = timeout(TEST_TIMEOUT, clients.join_all())
            .await
            .expect("the connections break");
        seen_in_all += seen.iter().map(|seen| seen.events.len()).sum::<usize>();

        server = Server::start(folder.path(), &upstream).await;
        if seen.iter().any(|seen| !seen.events.is_empty()) {
            check_recovered(&server.url, &seen, head).await;
        }
        let open: i64 = query_sql(
            folder.path(),
            "SELECT count(*) FROM runs WHERE status = 'running'",
        )
        .await;
        assert_eq!(open, 0, "round {round}: a run has no end");
        head = query_sql::<i64>(folder.path(), "SELECT coalesce(max(position), 0) FROM events")
            .await
            .unsigned_abs();
    }
    println!("{seen_in_all} events were seen before {rounds} kills");
    let integrity: String = query_sql(folder.path(), "PRAGMA integrity_check").await;
    assert_eq!(integrity, "ok");
    assert!(
        seen_in_all >= rounds as usize / 2,
        "the clients saw next to nothing: {seen_in_all}"
    );
}

/// A killed run after a tool call whose arguments an older version could not read, and a run that is entirely
/// unreadable.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damaged_run_ends_after_a_kill() {
    parlor_web::http_client::install_tls();
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(
        When::any(),
        Script::new().tool_call("id0", "current_time", "null"),
    );
    upstream.add_script(When::tool_gave(""), Script::new().text("It is").hang());
    let server = Server::start(folder.path(), &upstream).await;
    let mut runs = Vec::new();
    for _ in 0..3 {
        let (begun, run) = oneshot::channel();
        let ask = json!({ "message": "What time is it?", "model": "openai/echo" });
        tokio::spawn(ObservedRun::read_turn_until_text(server.url.clone(), ask, begun));
        runs.push(
            timeout(TEST_TIMEOUT, run)
                .await
                .expect("the run starts")
                .expect("the run starts"),
        );
    }
    server.kill().await;
    let [whole, without_body, without_events] = &runs[..] else {
        panic!("three runs")
    };
    execute_sql(
        folder.path(),
        format!("UPDATE messages SET body = 'x' WHERE id = '{without_body}'"),
    )
    .await;
    execute_sql(
        folder.path(),
        format!("UPDATE events SET event = 'x' WHERE message_id = '{without_events}'"),
    )
    .await;

    let server = Server::start(folder.path(), &upstream).await;
    let open: i64 = query_sql(
        folder.path(),
        "SELECT count(*) FROM runs WHERE status = 'running'",
    )
    .await;
    assert_eq!(open, 0);
    for run in &runs {
        let MessageBody::Assistant(kept) = stored_message(&server.url, *run).await.body else {
            panic!("a run's message is an answer")
        };
        assert_eq!(kept.status, RunStatus::Interrupted);
        assert_eq!(kept.is_damaged(), run != whole);
        if run == whole {
            assert_eq!(
                kept.tool_calls().next().map(|call| call.input.as_str()),
                Some("null")
            );
            assert_eq!(kept.text(), "It is");
        }
    }
    let head = query_sql::<i64>(folder.path(), "SELECT max(position) FROM events")
        .await
        .unsigned_abs();
    assert_eq!(read_log(&server.url, 0, head).await.len() as u64, head);
}

/// Gemini's provider data, which it expects back with the output of the tool call.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn continued_turn_returns_provider_data_after_kill() {
    const SIGNATURE: &str = "Cs4BAc/+7w==";
    parlor_web::http_client::install_tls();
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let call = json!({
        "index": 0, "id": "function-call-1", "type": "function",
        "extra_content": { "google": { "thought_signature": SIGNATURE } },
        "function": { "name": "current_time", "arguments": "{}" },
    });
    let chunk =
        json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [call] }, "finish_reason": "stop" }] });
    let signed = Script::new()
        .raw(format!("data: {chunk}\n\ndata: [DONE]\n\n"))
        .end();
    upstream.add_script(When::any(), signed);
    upstream.add_script(When::tool_gave(""), Script::new().gate("never"));
    let server = Server::start(folder.path(), &upstream).await;
    let ask = json!({ "message": "What time is it?", "model": "openai/echo" });
    let (begun, run) = oneshot::channel();
    let client = tokio::spawn(ObservedRun::read_turn(server.url.clone(), ask, Some(begun)));
    let run = timeout(TEST_TIMEOUT, run)
        .await
        .expect("the run starts")
        .expect("the run starts");
    timeout(TEST_TIMEOUT, upstream.wait_for_gate("never"))
        .await
        .expect("the model is asked again");
    server.kill().await;
    let seen = timeout(TEST_TIMEOUT, client)
        .await
        .expect("the connection breaks")
        .expect("no panic");
    let conversation = seen.events.first().expect("an event").conversation_id;

    upstream.reset();
    upstream.add_script(When::any(), Script::new().text("It is noon."));
    let server = Server::start(folder.path(), &upstream).await;
    let intent = json!({ "intent": {
        "intent_id": IntentId::new(), "conversation_id": conversation, "message_id": run,
    } });
    let continued = reqwest::Client::new()
        .post(format!("{}/rpc/continue_run", server.url))
        .header("content-type", "application/json")
        .body(intent.to_string())
        .send();
    let continued = continued.await.expect("a response").status();
    assert_eq!(continued, reqwest::StatusCode::OK);
    // The output of the call may have been stored before the kill or not.
    timeout(TEST_TIMEOUT, seen.resume(&server.url))
        .await
        .expect("it ends");
    let MessageBody::Assistant(answer) = stored_message(&server.url, run).await.body else {
        panic!("a run's message is an answer")
    };
    assert_eq!(
        (answer.status, &*answer.text()),
        (RunStatus::Complete, "It is noon.")
    );
    let asked = upstream.requests().into_iter().map(|request| request.body);
    let asked: Vec<_> = asked.filter(|body| body["messages"].is_array()).collect();
    let messages = asked.last().expect("a call of the model")["messages"]
        .as_array()
        .expect("messages");
    let said = messages.iter().find(|message| message["role"] == "assistant");
    let signature =
        &said.expect("what it said")["tool_calls"][0]["extra_content"]["google"]["thought_signature"];
    assert_eq!(signature, SIGNATURE, "{messages:?}");
}

/// Randomised tests, in the module that `make fuzz` looks for.
mod properties {
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn kills_lose_nothing_that_was_seen() {
        for seed in fuzzing::test_seeds!() {
            super::kill_at_random_moments(seed, fuzzing::cases(super::DEFAULT_ROUNDS)).await;
        }
    }
}
