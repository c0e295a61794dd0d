//! `GET /readyz`: a server that can serve says so, and one that can't says why.

use std::time::Duration;

use serde_json::json;
use sqlx::{ConnectOptions, Connection, SqliteConnection, sqlite::SqliteConnectOptions};
use tokio::time::timeout;
use upstream::{Script, Upstream, When};

use crate::support::{Parlor, TEST_TIMEOUT};

async fn ready(parlor: &Parlor) -> (u16, String) {
    let response = parlor.get("/readyz").send().await.unwrap();
    (response.status().as_u16(), response.text().await.unwrap())
}

/// Asks until the answer has this status, and returns its text.
async fn wait_for(parlor: &Parlor, status: u16) -> String {
    let asking = async {
        loop {
            let (now, text) = ready(parlor).await;
            if now == status {
                return text;
            }
        }
    };
    timeout(TEST_TIMEOUT, asking).await.expect("the status changes")
}

async fn open_database(folder: &std::path::Path) -> SqliteConnection {
    let database = SqliteConnectOptions::new().filename(folder.join("parlor.db"));
    database.connect().await.unwrap()
}

#[tokio::test]
async fn unreadable_database_makes_it_not_ready() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
        settings.timeouts.readiness_interval = Duration::ZERO;
    })
    .await;
    assert_eq!(ready(&parlor).await, (200, "ready\n".into()));
    let mut database = open_database(folder.path()).await;
    let rename = "ALTER TABLE events RENAME COLUMN position TO position_away";
    sqlx::query(rename).execute(&mut database).await.unwrap();
    let text = "not ready: the database can't be read\n".to_owned();
    assert_eq!(ready(&parlor).await, (503, text));
    // It still lives.
    assert_eq!(parlor.get("/healthz").send().await.unwrap().status(), 200);
    let back = "ALTER TABLE events RENAME COLUMN position_away TO position";
    sqlx::query(back).execute(&mut database).await.unwrap();
    database.close().await.unwrap();
    assert_eq!(ready(&parlor).await.0, 200);
}

#[tokio::test]
async fn one_answer_of_the_database_serves_many_requests() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
        settings.timeouts.readiness_interval = Duration::from_secs(3600);
    })
    .await;
    assert_eq!(ready(&parlor).await.0, 200);
    let mut database = open_database(folder.path()).await;
    let rename = "ALTER TABLE events RENAME COLUMN position TO position_away";
    sqlx::query(rename).execute(&mut database).await.unwrap();
    for _ in 0..100 {
        assert_eq!(ready(&parlor).await.0, 200, "the database was asked");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn locked_database_makes_it_not_ready() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("one").gate("more").text("two"));
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
        settings.timeouts.readiness = Duration::from_millis(100);
    })
    .await;
    let ask = json!({ "message": "count", "model": "test/any" });
    let mut stream = parlor.chat(&ask).await;
    stream.next_of_type("text_delta").await;
    let mut database = open_database(folder.path()).await;
    sqlx::query("BEGIN IMMEDIATE")
        .execute(&mut database)
        .await
        .unwrap();
    // A change that can't be stored.
    upstream.open_gate("more");
    assert_eq!(
        wait_for(&parlor, 503).await,
        "not ready: the database takes no changes\n"
    );
    sqlx::query("ROLLBACK").execute(&mut database).await.unwrap();
    wait_for(&parlor, 200).await;
    stream.read_to_end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopping_server_is_not_ready_while_runs_end() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("one").gate("more").text("two"));
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
        settings.timeouts.shutdown = TEST_TIMEOUT;
    })
    .await;
    let ask = json!({ "message": "count", "model": "test/any" });
    let mut stream = parlor.chat(&ask).await;
    stream.next_of_type("text_delta").await;
    parlor.begin_stop();
    assert_eq!(
        wait_for(&parlor, 503).await,
        "not ready: the server is stopping\n"
    );
    assert_eq!(parlor.get("/healthz").send().await.unwrap().status(), 200);
    upstream.open_gate("more");
    let events = stream.read_to_end().await;
    assert_eq!(events.last().unwrap()["type"], "complete");
    parlor.stop().await;
}
