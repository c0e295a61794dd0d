//! Answers that go on by themselves after a crash or restart: whole, once, and not for ever.

use std::path::Path;

use parlor_protocol::{AssistantMessage, MessageBody, MessageId, RunStatus};
use serde_json::json;
use tokio::time::timeout;
use upstream::{Script, Upstream, When};

use crate::{
    Server, TEST_TIMEOUT,
    client::{ObservedRun, post_turn, query_sql, stored_message},
};

/// The settings file of such a server.
const RESUMING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/process/resuming.toml");

/// A server whose answers go on by themselves, as the default settings have it.
async fn start(data: &Path, upstream: &Upstream) -> Server {
    let mut command = Server::command(data, upstream, "127.0.0.1:0");
    Server::run(command.env("PARLOR_CONFIG", RESUMING)).await
}

async fn answer(server: &Server, run: MessageId) -> AssistantMessage {
    match stored_message(&server.url, run).await.body {
        MessageBody::Assistant(answer) => answer,
        _ => panic!("a run's message is an answer"),
    }
}

/// Asks, and reads until the answer has this text.
async fn ask(server: &Server, question: &str, text: &str) -> MessageId {
    let ask = json!({ "message": question, "model": "openai/echo" });
    let response = post_turn(&server.url, &ask).await.unwrap();
    ObservedRun::read_until_text(response, text).await.1
}

/// Reads a run's stream from its first event to its last one.
async fn read_to_end(server: &Server, run: MessageId) -> ObservedRun {
    let response = reqwest::get(format!("{}/api/runs/{run}/events", server.url)).await;
    let reading = ObservedRun::read_response(response.unwrap(), None);
    timeout(TEST_TIMEOUT, reading).await.expect("it ends")
}

fn half_an_answer() -> (When, Script) {
    (
        When::user_contains("count"),
        Script::new().text("One, two").gate("never").end(),
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_goes_on_after_a_kill() {
    parlor_web::http_client::install_tls();
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let (question, half) = half_an_answer();
    upstream.add_script(When::user_contains("cut off"), Script::new().text(", three."));
    upstream.add_script_times(1, question, half);
    let server = start(folder.path(), &upstream).await;
    let run = ask(&server, "count", "two").await;
    server.kill().await;

    let server = start(folder.path(), &upstream).await;
    let seen = read_to_end(&server, run).await;
    let kept = answer(&server, run).await;
    assert_eq!(
        (kept.status, kept.text().as_str(), kept.resumptions),
        (RunStatus::Complete, "One, two, three.", 1)
    );
    assert_eq!(seen.answer.map(|answer| answer.text()), Some(kept.text()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_goes_on_after_a_shutdown() {
    parlor_web::http_client::install_tls();
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let (question, half) = half_an_answer();
    upstream.add_script(When::user_contains("cut off"), Script::new().text(", three."));
    upstream.add_script_times(1, question, half);
    let mut server = start(folder.path(), &upstream).await;
    let run = ask(&server, "count", "two").await;
    server.terminate().await;
    let ended = timeout(TEST_TIMEOUT, server.child.wait()).await;
    assert!(ended.expect("it ends in time").unwrap().success());
    let status: String = query_sql(folder.path(), "SELECT status FROM runs").await;
    assert_eq!(status, "running", "the next start finds it");

    let server = start(folder.path(), &upstream).await;
    read_to_end(&server, run).await;
    let kept = answer(&server, run).await;
    assert_eq!(
        (kept.status, kept.text().as_str(), kept.resumptions),
        (RunStatus::Complete, "One, two, three.", 1)
    );
}

/// A call that may have had an effect is not repeated: the user decides.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_open_call_with_effects_waits_for_the_user() {
    parlor_web::http_client::install_tls();
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("One, two").gate("never"));
    let server = start(folder.path(), &upstream).await;
    let run = ask(&server, "count", "two").await;
    server.kill().await;
    let call = r#"{"type":"tool_call","tool_use_id":"1","index":0,"tool":"send_mail","input":{},"label":"Sending","status":"running","started_at":1}"#;
    let body = format!(
        r#"{{"role":"assistant","model":"openai/echo","status":"running","nodes":[{{"parts":[{call}]}}]}}"#
    );
    crate::client::execute_sql(
        folder.path(),
        format!(
            "UPDATE messages SET body = '{body}' WHERE id = '{run}'; \
             UPDATE runs SET stored_position = 1000 WHERE id = '{run}'"
        ),
    )
    .await;

    let server = start(folder.path(), &upstream).await;
    let kept = answer(&server, run).await;
    assert_eq!((kept.status, kept.resumptions), (RunStatus::Interrupted, 0));
    // For the call, and not because the answer is unreadable.
    let calls: Vec<&str> = kept.tool_calls().map(|call| call.tool.as_str()).collect();
    assert_eq!((calls, kept.is_damaged()), (vec!["send_mail"], false));
}

/// An answer that ends the server each time must not do so for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_goes_on_three_times_at_most() {
    parlor_web::http_client::install_tls();
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("again").gate("never"));
    let server = start(folder.path(), &upstream).await;
    let run = ask(&server, "count", "again").await;
    server.kill().await;
    for resumptions in 1..=3 {
        let server = start(folder.path(), &upstream).await;
        let kept = answer(&server, run).await;
        assert_eq!((kept.status, kept.resumptions), (RunStatus::Running, resumptions));
        server.kill().await;
    }
    let server = start(folder.path(), &upstream).await;
    let kept = answer(&server, run).await;
    assert_eq!((kept.status, kept.resumptions), (RunStatus::Interrupted, 3));
}
