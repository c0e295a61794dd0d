//! A database that cannot be written: requests fail at once, runs wait, and everything continues by itself
//! afterwards.

use std::time::Instant;

use crate::support::{Parlor, event_types, joined_deltas, read_json};
use serde_json::{Value, json};
use sqlx::{ConnectOptions, Connection, sqlite::SqliteConnectOptions};
use upstream::{Script, Upstream, When};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn locked_database_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(
        When::any(),
        Script::new().text("one").gate("more").text(" two").text(" three"),
    );
    let parlor = Parlor::start(folder.path(), &upstream).await;
    let ask = json!({ "message": "count", "model": "test/any" });
    let mut stream = parlor.chat(&ask).await;
    let mut events = vec![stream.next_of_type("text_delta").await];

    // Another connection locks the database.
    let mut other = SqliteConnectOptions::new()
        .filename(folder.path().join("parlor.db"))
        .connect()
        .await
        .unwrap();
    sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    upstream.open_gate("more");

    // The first request waits, since the failure may be short. The following ones fail at once.
    let refused = async || {
        let asked = Instant::now();
        let response = parlor.post("/api/chat/stream", &ask).send().await.unwrap();
        assert_eq!(response.status(), 503);
        assert!(response.headers().contains_key("retry-after"));
        let took = asked.elapsed();
        let problem: Value = read_json(response).await;
        assert_eq!(problem["code"], "unavailable");
        assert!(
            problem["detail"]
                .as_str()
                .unwrap()
                .contains("Nothing was changed"),
            "{problem}"
        );
        took
    };
    let (first, second) = (refused().await, refused().await);
    assert!(second < first / 2, "{first:?}, then {second:?}");
    // Stored data can be read meanwhile.
    assert_eq!(parlor.get("/").send().await.unwrap().status(), 200);
    let run = events[0]["message_id"].as_str().unwrap();
    let message = parlor.get_json(&format!("/api/messages/{run}")).await.1;
    assert_eq!(message["message"]["nodes"][0]["parts"][0]["text"], "one");

    sqlx::query("ROLLBACK").execute(&mut other).await.unwrap();
    events.extend(stream.read_to_end().await);
    assert_eq!(event_types(&events), ["text_delta", "complete"]);
    assert_eq!(joined_deltas(&events, "text_delta"), "one two three");
    upstream.open_gate("more");
    let again = parlor.chat(&ask).await.read_to_end().await;
    assert_eq!(event_types(&again).last(), Some(&"complete"));
}

#[tokio::test]
async fn shutdown_during_recovery_releases_the_data() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("one").gate("never"));
    let parlor = Parlor::start(folder.path(), &upstream).await;
    let ask = json!({ "message": "count", "model": "test/any" });
    let mut stream = parlor.chat(&ask).await;
    let run = stream.next_of_type("text_delta").await["message_id"].clone();
    parlor.stop().await;
    let change = async |changes: [&'static str; 2]| {
        let database = SqliteConnectOptions::new().filename(folder.path().join("parlor.db"));
        let mut database = database.connect().await.unwrap();
        for change in changes {
            sqlx::query(change).execute(&mut database).await.unwrap();
        }
        database.close().await.unwrap();
    };
    // The state after a crash, with an unreadable database.
    let crash = "UPDATE runs SET status = 'running', last_position = NULL";
    let away = "ALTER TABLE messages RENAME COLUMN body TO body_away";
    change([crash, away]).await;
    Parlor::start(folder.path(), &upstream).await.stop().await;

    // Only one server at a time can use the data.
    let back = "ALTER TABLE messages RENAME COLUMN body_away TO body";
    change([crash, back]).await;
    let parlor = Parlor::start(folder.path(), &upstream).await;
    let run = run.as_str().unwrap();
    let message: Value = parlor.get_json(&format!("/api/messages/{run}")).await.1;
    assert_eq!(message["message"]["status"], "interrupted", "{message}");
    parlor.stop().await;
}
