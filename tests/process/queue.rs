//! Crashes between the end of a run and the next message of its queue: the message is sent once.

use std::path::Path;

use serde_json::{Value, json};
use tokio::time::timeout;
use upstream::{Script, Upstream, When};

use crate::{
    Server, TEST_TIMEOUT,
    client::{post_turn, query_sql},
};

/// The failpoints from the commit of a run's end to the start of the next run.
const POINTS: [&str; 5] = [
    "commit::committed",
    "journal::published",
    "runs::ended",
    "runs::left",
    "queue::found",
];

async fn run_case(point: Option<&str>) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(
        When::user_contains("first"),
        Script::new().text("one").gate("end"),
    );
    upstream.add_script(When::user_contains("second"), Script::new().text("two"));
    let mut server = match point {
        Some(point) => Server::start_with_failpoint(folder.path(), &upstream, point).await,
        None => Server::start(folder.path(), &upstream).await,
    };
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
}

/// Follows the log until a run is complete.
async fn wait_for_answer(url: &str, run: &str) {
    let mut response = reqwest::get(format!("{url}/api/events?after=0")).await.unwrap();
    let mut read = String::new();
    let is_end = |line: &str| line.contains(run) && line.contains(r#""type":"complete""#);
    while !read.lines().any(is_end) {
        let chunk = timeout(TEST_TIMEOUT, response.chunk())
            .await
            .expect("the answer ends");
        read.push_str(std::str::from_utf8(&chunk.unwrap().unwrap()).unwrap());
    }
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
    parlor::http_client::install_tls();
    run_case(None).await;
    for point in POINTS {
        run_case(Some(point)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_run_holds_its_queue() {
    parlor::http_client::install_tls();
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
