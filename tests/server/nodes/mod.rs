//! Several nodes on one database of Postgres: what one of them does is seen, and can be controlled, from another one.

mod accounts;
mod limits;
mod work;

use std::{path::Path, time::Duration};

use parlor_base::settings::Settings;
use parlor_tools::ToolRegistry;
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};
use upstream::{Script, Upstream, When};

use crate::support::{EventStream, Parlor, event_types, postgres_of, string_field};

/// Makes a server a node of the database that belongs to a folder.
async fn node_of(folder: &Path) -> impl Fn(&mut Settings) + use<> {
    let database = postgres_of(folder).await;
    move |settings| {
        settings.database = database.clone();
        settings.nodes.enabled = true;
        settings.nodes.renewal = Duration::from_millis(300);
        settings.nodes.poll = Duration::from_millis(300);
        settings.agent.max_resumptions = 3;
    }
}

/// Two nodes with a scripted model.
struct Pair {
    first: Parlor,
    second: Parlor,
    upstream: Upstream,
    folder: tempfile::TempDir,
}

impl Pair {
    async fn start() -> Self {
        Self::start_with(ToolRegistry::default).await
    }

    async fn start_with(tools: impl Fn() -> ToolRegistry) -> Self {
        Self::start_all(tools, |_| {}).await
    }

    /// Starts two nodes with these settings.
    async fn start_set(change: impl Fn(&mut Settings)) -> Self {
        Self::start_all(ToolRegistry::default, change).await
    }

    async fn start_all(tools: impl Fn() -> ToolRegistry, change: impl Fn(&mut Settings)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let upstream = Upstream::start().await;
        let is_node = node_of(folder.path()).await;
        let start = || {
            Parlor::start_with_tools(folder.path(), &upstream, tools(), |settings| {
                is_node(settings);
                change(settings);
            })
        };
        let (first, second) = (start().await, start().await);
        Self {
            first,
            second,
            upstream,
            folder,
        }
    }

    /// Connects to their database.
    async fn database(&self) -> PgConnection {
        let url = postgres_of(self.folder.path()).await.url.unwrap();
        PgConnection::connect(&url.0).await.unwrap()
    }
}

fn message(text: &str) -> Value {
    json!({ "message": text, "model": "test/any" })
}

/// Reads a stream up to the end of its first answer.
async fn read_answer(stream: &mut EventStream) -> Vec<Value> {
    let mut events = Vec::new();
    loop {
        let event = stream.next().await.expect("the stream goes on");
        let is_end = ["complete", "cancelled", "error"].contains(&event["type"].as_str().unwrap());
        events.push(event);
        if is_end {
            return events;
        }
    }
}

#[tokio::test]
async fn tokens_cross_nodes_in_order() {
    let pair = Pair::start().await;
    let words: String = (0..200).map(|number| format!("{number} ")).collect();
    pair.upstream.add_script(
        When::any(),
        Script::new().text("Begun. ").gate("go").stream(words, 2000.0),
    );
    // From before the first event on.
    let mut there = pair.second.follow("/api/events?after=0").await;
    let mut here = pair.first.follow("/api/events?after=0").await;
    let mut turn = pair.first.chat(&message("Count")).await;
    let run = string_field(&turn.next_of_type("text_delta").await, "message_id");
    let of_run = pair.second.follow(&format!("/api/runs/{run}/events")).await;
    // The other node writes to the same log meanwhile.
    let noted = pair.second.chat(&message("Another")).await;
    pair.upstream.open_gate("go");
    let (turn, of_run) = tokio::join!(turn.read_to_end(), of_run.read_to_end());
    noted.read_to_end().await;

    let last = pair.first.get_json("/api/conversations").await.1["as_of"]
        .as_u64()
        .unwrap();
    let mut logs = Vec::new();
    for stream in [&mut here, &mut there] {
        let mut log = Vec::new();
        while log
            .last()
            .is_none_or(|event: &Value| event["position"] != json!(last))
        {
            log.push(stream.next().await.unwrap());
        }
        logs.push(log);
    }
    let positions: Vec<_> = logs[1]
        .iter()
        .map(|event| event["position"].as_u64().unwrap())
        .collect();
    assert_eq!(positions, (1..=last).collect::<Vec<_>>());
    assert_eq!(logs[0], logs[1]);
    assert_eq!(of_run.last(), turn.last());
    let text = |events: &[Value]| -> String {
        let deltas = events.iter().filter(|event| event["type"] == "text_delta");
        deltas.map(|event| event["text"].as_str().unwrap()).collect()
    };
    assert!(text(&of_run).ends_with("198 199 "), "{of_run:?}");
}

#[tokio::test]
async fn a_run_is_stopped_from_another_node() {
    let pair = Pair::start().await;
    pair.upstream
        .add_script(When::user_contains("cut off"), Script::new().text(", two."));
    pair.upstream
        .add_script_times(1, When::any(), Script::new().text("One").gate("never"));
    let mut turn = pair.first.chat(&message("Count")).await;
    let begun = turn.next_of_type("text_delta").await;
    let run = string_field(&begun, "message_id");
    let path = format!("/api/runs/{run}/stop");
    let stopped = pair.second.post(&path, &json!({})).send().await.unwrap();
    assert!(stopped.status().is_success(), "{stopped:?}");
    let events = turn.read_to_end().await;
    assert_eq!(event_types(&events).last().copied(), Some("cancelled"));
    // The node that had it ends the call of the model.
    pair.upstream.wait_until_closed().await;
    // It goes on at the node that had it, and nothing of the former call is mixed in.
    let events = pair.first.continue_run(&[begun]).await;
    assert_eq!(event_types(&events).last().copied(), Some("complete"));
    let (_, kept) = pair.second.get_json(&format!("/api/messages/{run}")).await;
    let text = kept["message"]["nodes"].to_string();
    assert!(text.contains("One") && text.contains(", two."), "{text}");
}

#[tokio::test]
async fn a_deleted_conversation_ends_its_run_elsewhere() {
    let pair = Pair::start().await;
    pair.upstream
        .add_script(When::any(), Script::new().text("One").gate("later").text(" more"));
    let mut log = pair.second.follow("/api/events?after=0").await;
    let mut turn = pair.first.chat(&message("Count")).await;
    let begun = turn.next_of_type("text_delta").await;
    pair.upstream.wait_for_gate("later").await;
    let conversation = string_field(&begun, "conversation_id");
    let url = format!("{}/api/conversations/{conversation}", pair.second.url);
    let deleted = pair.second.client.delete(url).send().await.unwrap();
    assert_eq!(deleted.status(), 204);
    let gone = log.next_of_type("conversation_deleted").await;
    pair.upstream.open_gate("later");
    pair.upstream.wait_until_closed().await;
    // Nothing of the run comes after.
    let events = pair.first.turn(None, "Again").await;
    assert_eq!(
        events[0]["position"].as_u64(),
        gone["position"].as_u64().map(|position| position + 2),
        "only the conversation itself is between: {events:?}"
    );
}

#[tokio::test]
async fn a_message_queued_at_another_node_is_sent_once() {
    let pair = Pair::start().await;
    pair.upstream.add_script(
        When::user_contains("first"),
        Script::new().text("One").gate("end"),
    );
    pair.upstream
        .add_script(When::user_contains("second"), Script::new().text("Two."));
    let mut log = pair.second.follow("/api/events?after=0").await;
    let mut turn = pair.first.chat(&message("first")).await;
    let begun = turn.next_of_type("text_delta").await;
    let second = json!({ "message": "second", "conversation_id": begun["conversation_id"], "queue": true });
    let queued = pair.second.post("/api/chat/batch", &second).send().await.unwrap();
    assert_eq!(queued.status(), 202);
    pair.upstream.open_gate("end");
    let ends = [read_answer(&mut log).await, read_answer(&mut log).await];
    let answers = ends.map(|events| events.last().unwrap()["type"].clone());
    assert_eq!(answers, ["complete", "complete"]);
    let conversation = string_field(&begun, "conversation_id");
    let transcript = pair.second.transcript(&conversation).await;
    assert_eq!(
        transcript["messages"].as_array().unwrap().len(),
        4,
        "{transcript}"
    );
    assert_eq!(crate::support::raw_model_calls(&pair.upstream).len(), 2);
}

#[tokio::test]
async fn work_goes_on_at_the_process_that_takes_the_database_over() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("One, ").gate("go").text("two."));
    let database = postgres_of(folder.path()).await;
    let of_database = |settings: &mut Settings| {
        settings.database = database.clone();
        settings.agent.max_resumptions = 3;
        settings.timeouts.readiness_interval = Duration::ZERO;
    };
    let first = Parlor::start_with(folder.path(), &upstream, of_database).await;
    let mut turn = first.chat(&message("Count")).await;
    let run = string_field(&turn.next_of_type("text_delta").await, "message_id");
    let url = &database.url.as_ref().unwrap().0;
    assert_eq!(
        test_postgres::end_connections(url, false).await,
        1,
        "a proxy ends the lock's"
    );
    let second = Parlor::start_with(other.path(), &upstream, of_database).await;
    upstream.open_gate("go");
    let events = second
        .follow(&format!("/api/runs/{run}/events"))
        .await
        .read_to_end()
        .await;
    assert_eq!(event_types(&events).last().copied(), Some("complete"));
    // It has learned that it may store nothing more, with the first token after that.
    let ready = async || first.get("/readyz").send().await.unwrap().text().await.unwrap();
    let replaced = "not ready: another process has taken over the database; stop one of the two\n";
    let asking = async { while ready().await != replaced {} };
    tokio::time::timeout(crate::support::TEST_TIMEOUT, asking)
        .await
        .expect("it says so");
    let refused = first
        .post("/api/chat/stream", &message("Again"))
        .send()
        .await
        .unwrap();
    assert_eq!(refused.status(), 503);
    let after = second
        .follow(&format!("/api/runs/{run}/events"))
        .await
        .read_to_end()
        .await;
    assert_eq!(after, events, "nothing of the first process was stored");
}
