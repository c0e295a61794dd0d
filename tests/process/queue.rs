//! Crashes between the end of a run and the next message of its queue: the message is sent once.

use std::{fs, path::Path};

use serde_json::{Value, json};
use upstream::{Script, Upstream, When};

use crate::{
    Server, WITHOUT_TITLES,
    client::{post_turn, query_sql, wait_for_event},
};

/// The failpoints from the commit of a run's end to the start of the next run.
const POINTS: [&str; 5] = [
    "commit::committed",
    "journal::published",
    "runs::ended",
    "runs::left",
    "queue::found",
];

/// Those of a run that ends after its tool calls, for the message.
const STEERED_POINTS: [&str; 4] = [
    "commit::committed",
    "journal::published",
    "runs::left",
    "queue::found",
];

async fn run_case(point: Option<&str>, steer: bool) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let first = Script::new().text("one").gate("end");
    let first = match steer {
        true => first.tool_call("id0", "calculate", r#"{"expression":"6*7"}"#),
        false => first,
    };
    upstream.add_script(When::user_contains("first"), first);
    upstream.add_script(When::user_contains("second"), Script::new().text("two"));
    let settings = folder.path().join("settings.toml");
    fs::write(&settings, format!("[agent]\nsteer = {steer}\n{WITHOUT_TITLES}")).unwrap();
    let mut command = match point {
        Some(point) => Server::failpoint_command(folder.path(), &upstream, point),
        None => Server::command(folder.path(), &upstream, "127.0.0.1:0"),
    };
    let mut server = Server::run(command.arg("--config").arg(&settings)).await;
    let url = server.url.clone();
    let id = uuid::Uuid::now_v7();
    let ask = json!({ "message": "first", "model": "openai/echo", "conversation_id": id });
    let _first = post_turn(&url, &ask).await.unwrap();
    upstream.wait_for_gate("end").await;
    let ask = json!({ "message": "second", "conversation_id": id, "queue": true });
    let queued = post_turn(&url, &ask).await.unwrap();
    assert_eq!(queued.status(), 202);
    let queued: Value = serde_json::from_slice(&queued.bytes().await.unwrap()).unwrap();
    upstream.open_gate("end");
    if point.is_some() {
        server.expect_crash().await;
        server = Server::start(folder.path(), &upstream).await;
    }
    wait_for_answer(&server.url, queued["message_id"].as_str().unwrap()).await;
    server.kill().await;
    check_sent_once(folder.path(), point).await;
    let asked = upstream.requests();
    let asked = asked
        .iter()
        .filter(|request| request.path.ends_with("/chat/completions"));
    assert_eq!(asked.count(), 2, "{point:?}");
}

/// Follows the log until a run is complete.
async fn wait_for_answer(url: &str, run: &str) {
    wait_for_event(url, |line| {
        line.contains(run) && line.contains(r#""type":"complete""#)
    })
    .await;
}

async fn check_sent_once(data: &Path, point: Option<&str>) {
    let [questions, all, waiting]: [i64; 3] = [
        query_sql(
            data,
            "SELECT count(*) FROM messages WHERE body LIKE '%\"second\"%'",
        )
        .await,
        query_sql(data, "SELECT count(*) FROM messages").await,
        query_sql(data, "SELECT count(*) FROM queued_messages").await,
    ];
    assert_eq!((questions, all, waiting), (1, 4, 0), "{point:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crash_before_a_queued_message_sends_it_once() {
    parlor_web::http_client::install_tls();
    run_case(None, false).await;
    for point in POINTS {
        run_case(Some(point), false).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crash_before_a_steering_message_sends_it_once() {
    parlor_web::http_client::install_tls();
    run_case(None, true).await;
    for point in STEERED_POINTS {
        run_case(Some(point), true).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_run_holds_its_queue() {
    parlor_web::http_client::install_tls();
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("one").gate("end"));
    let server = Server::start(folder.path(), &upstream).await;
    let id = uuid::Uuid::now_v7();
    let ask = json!({ "message": "first", "model": "openai/echo", "conversation_id": id });
    let _first = post_turn(&server.url, &ask).await.unwrap();
    upstream.wait_for_gate("end").await;
    let ask = json!({ "message": "second", "conversation_id": id, "queue": true });
    assert_eq!(post_turn(&server.url, &ask).await.unwrap().status(), 202);
    server.kill().await;
    let server = Server::start(folder.path(), &upstream).await;
    let path = format!("{}/rpc/conversation?conversation_id={id}", server.url);
    let shown = reqwest::get(path).await.unwrap().text().await.unwrap();
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["messages"][1]["status"], "interrupted");
    assert_eq!(
        (&shown["queue"]["held"], &shown["queue"]["messages"][0]["text"]),
        (&json!(true), &json!("second"))
    );
}
