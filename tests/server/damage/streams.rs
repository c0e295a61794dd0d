//! Streams of ended runs whose rows are damaged.

use serde_json::{Value, json};
use upstream::Script;

use super::{execute_sql, read_log_until};
use crate::support::{Parlor, parlor_answering, string_field};

/// Returns the frames of a run's stream, which has to end.
async fn read_run(parlor: &Parlor, run: &str) -> Vec<Value> {
    parlor
        .follow(&format!("/api/runs/{run}/events"))
        .await
        .read_to_end()
        .await
}

#[tokio::test]
async fn stream_ends_without_a_last_position() {
    let (folder, _upstream, parlor) = parlor_answering(Script::new().text("Fine.")).await;
    let events = parlor.turn(None, "First").await;
    let (run, end) = (string_field(&events[0], "message_id"), events.last().unwrap());
    let sound = read_run(&parlor, &run).await;
    assert_eq!(sound.last().unwrap()["payload"]["message"], "Fine.");
    let of_run = format!("WHERE id = '{run}'");
    // A position of no event, and none at all.
    let beyond = end["position"].as_u64().unwrap() + 7;
    execute_sql(
        &folder,
        format!("UPDATE runs SET last_position = {beyond} {of_run}"),
    )
    .await;
    let frames = read_run(&parlor, &run).await;
    let (notice, seen) = frames.split_last().unwrap();
    assert_eq!(notice, &json!({ "type": "log_damaged" }));
    assert_eq!(seen.len(), sound.len());
    execute_sql(&folder, format!("UPDATE runs SET last_position = NULL {of_run}")).await;
    assert_eq!(read_run(&parlor, &run).await, sound);
    let (_, stored) = parlor.get_json(&format!("/api/runs/{run}")).await;
    assert_eq!(stored["last_position"], end["position"]);
    let after = format!("/api/runs/{run}/events?after={}", end["position"]);
    assert_eq!(parlor.get(&after).send().await.unwrap().status(), 204);
    // The event of the end is gone, too.
    execute_sql(
        &folder,
        format!("DELETE FROM events WHERE position = {}", end["position"]),
    )
    .await;
    let frames = read_run(&parlor, &run).await;
    assert_eq!(frames.last(), Some(&json!({ "type": "log_damaged" })));
    execute_sql(&folder, format!("DELETE FROM events WHERE message_id = '{run}'")).await;
    let rest = parlor
        .get(&format!("/api/runs/{run}/events"))
        .send()
        .await
        .unwrap();
    assert_eq!(rest.status(), 204);
}

#[tokio::test]
async fn streams_are_complete_without_the_users_row() {
    let (folder, _upstream, parlor) = parlor_answering(Script::new().text("Fine.")).await;
    let events = parlor.turn(None, "First").await;
    let run = string_field(&events[0], "message_id");
    let sound = read_run(&parlor, &run).await;
    let log = read_log_until(&parlor, events.last().unwrap()).await;
    execute_sql(&folder, "PRAGMA foreign_keys = OFF; UPDATE users SET id = 'none'").await;
    assert_eq!(read_run(&parlor, &run).await, sound);
    assert_eq!(read_log_until(&parlor, events.last().unwrap()).await, log);
    let next = parlor.turn(None, "Second").await;
    assert_eq!(next.last().unwrap()["type"], "complete");
}
