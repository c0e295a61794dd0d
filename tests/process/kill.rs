//! `kill -9` at any moment: what a client has seen is there afterwards, and every run has its end.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use parlor::protocol::{
    AssistantMessage, Event, Message, MessageBody, MessageId, RunStatus,
    sse::{Decoder, Frame},
    transcript::apply_to_run,
};
use serde_json::{Value, json};
use sqlx::{ConnectOptions, sqlite::SqliteConnectOptions};
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};
use upstream::{Script, Upstream, When};

use crate::{SOON, Server};

/// How often the server is killed, and how many conversations stream each time.
const ROUNDS: usize = 50;
const CONVERSATIONS: usize = 5;

/// How soon after the restart every run must have its end.
const RECOVERY: Duration = Duration::from_secs(2);

/// What one client saw of its run until the server died.
#[derive(Default)]
struct Seen {
    run: Option<MessageId>,
    events: Vec<Event>,
    /// The answer, folded from the events by the reducer.
    answer: Option<AssistantMessage>,
}

impl Seen {
    fn see(&mut self, frame: &Frame) {
        let event: Event = serde_json::from_str(&frame.data).expect("an event");
        self.run = self.run.or(event.message_id);
        let answer = self
            .answer
            .get_or_insert_with(|| AssistantMessage::started("openai/m"));
        apply_to_run(answer, &event.body).expect("no gap");
        self.events.push(event);
    }

    /// Begins a conversation and reads until the connection breaks.
    async fn until_the_end(url: String) -> Self {
        let mut seen = Self::default();
        let request = reqwest::Client::new()
            .post(format!("{url}/api/chat/stream"))
            .header("content-type", "application/json")
            .body(json!({ "message": "count", "model": "openai/m" }).to_string());
        let Ok(mut response) = request.send().await else {
            return seen;
        };
        let mut decoder = Decoder::new(1 << 20);
        let mut frames = Vec::new();
        while let Ok(Some(chunk)) = response.chunk().await {
            decoder.push(&chunk, &mut frames).expect("no frame is too long");
            frames.drain(..).for_each(|frame| seen.see(&frame));
        }
        seen
    }
}

async fn stored(url: &str, run: MessageId) -> Message {
    let response = reqwest::get(format!("{url}/api/messages/{run}"))
        .await
        .expect("an answer");
    let body: Value = serde_json::from_slice(&response.bytes().await.expect("a body")).expect("JSON");
    serde_json::from_value(body["message"].clone()).expect("what was seen is stored")
}

/// The log, as far as it reaches now.
async fn log(url: &str, after: u64, until: u64) -> Vec<Event> {
    let mut response = reqwest::get(format!("{url}/api/events?after={after}"))
        .await
        .expect("an answer");
    let mut decoder = Decoder::new(1 << 20);
    let (mut frames, mut events) = (Vec::new(), Vec::<Event>::new());
    while events.last().is_none_or(|event| event.position.0 < until) {
        let chunk = timeout(SOON, response.chunk())
            .await
            .expect("all that was seen comes");
        decoder
            .push(&chunk.expect("a stream").expect("it goes on"), &mut frames)
            .expect("no frame is too long");
        events.extend(
            frames
                .drain(..)
                .map(|frame| serde_json::from_str(&frame.data).expect("an event")),
        );
    }
    events
}

async fn check(url: &str, seen: &[Seen], after: u64) {
    let restarted = Instant::now();
    let last = |seen: &Seen| seen.events.last().map_or(0, |event| event.position.0);
    let until = seen.iter().map(last).max().unwrap_or(0).max(after + 1);
    let log = log(url, after, until).await;
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
        let message = stored(url, run).await;
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
    assert!(restarted.elapsed() < RECOVERY, "{:?}", restarted.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_was_seen_is_lost_however_often_the_server_is_killed() {
    parlor::providers::install_tls();
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.script(When::any(), Script::new().think("Well…").tokens(100_000, 200.0));
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut head, mut seen_in_all) = (0, 0);
    let mut server = Server::start(folder.path(), &upstream).await;
    for round in 0..ROUNDS {
        let mut clients = JoinSet::new();
        for _ in 0..CONVERSATIONS {
            clients.spawn(Seen::until_the_end(server.url.clone()));
        }
        sleep(Duration::from_micros(random.u64(0..400_000))).await;
        server.kill().await;
        let seen = timeout(SOON, clients.join_all())
            .await
            .expect("the connections break");
        seen_in_all += seen.iter().map(|seen| seen.events.len()).sum::<usize>();

        server = Server::start(folder.path(), &upstream).await;
        if seen.iter().any(|seen| !seen.events.is_empty()) {
            check(&server.url, &seen, head).await;
        }
        let open: i64 = query(
            folder.path(),
            "SELECT count(*) FROM runs WHERE status = 'running'",
        )
        .await;
        assert_eq!(open, 0, "round {round}: a run has no end");
        head = query::<i64>(folder.path(), "SELECT coalesce(max(position), 0) FROM events")
            .await
            .unsigned_abs();
    }
    println!("{seen_in_all} events were seen before {ROUNDS} kills");
    let integrity: String = query(folder.path(), "PRAGMA integrity_check").await;
    assert_eq!(integrity, "ok");
    assert!(
        seen_in_all > ROUNDS * CONVERSATIONS,
        "the clients saw next to nothing: {seen_in_all}"
    );
}

/// Asks the database itself.
async fn query<T>(data: &Path, sql: &'static str) -> T
where
    T: for<'r> sqlx::Decode<'r, sqlx::Sqlite> + sqlx::Type<sqlx::Sqlite> + Send + Unpin,
{
    let mut connection = SqliteConnectOptions::new()
        .filename(data.join("parlor.db"))
        .read_only(true)
        .connect()
        .await
        .expect("the database opens");
    sqlx::query_scalar(sql)
        .fetch_one(&mut connection)
        .await
        .expect("an answer")
}
