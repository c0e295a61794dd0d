//! SIGTERM with many open streams: no new work begins, running work gets a grace period, everything is
//! stored, and clients resume after the restart.

use std::{
    process::Stdio,
    time::{Duration, Instant},
};

use parlor_protocol::sse::{SseDecoder, SseFrame};
use serde_json::{Value, json};
use tokio::{sync::watch, task::JoinSet, time::timeout};
use upstream::{Script, Upstream, When};

use crate::{Server, TEST_TIMEOUT};

const STREAM_COUNT: usize = 200;

/// The time limit from the signal to the exit of the process.
const MAX_SHUTDOWN_TIME: Duration = Duration::from_secs(10);

/// An event stream that is read frame by frame.
struct EventReader {
    response: reqwest::Response,
    decoder: SseDecoder,
    frames: std::collections::VecDeque<SseFrame>,
}

impl EventReader {
    async fn open(request: reqwest::RequestBuilder) -> Self {
        let response = request.send().await.expect("a response");
        assert_eq!(response.status(), 200);
        Self {
            response,
            decoder: SseDecoder::new(1 << 20),
            frames: Default::default(),
        }
    }

    /// Returns the next event; `None` at the end of the stream.
    async fn next(&mut self) -> Option<Value> {
        while self.frames.is_empty() {
            let chunk = timeout(TEST_TIMEOUT, self.response.chunk())
                .await
                .expect("an event arrives");
            let mut frames = Vec::new();
            self.decoder
                .push(&chunk.ok()??, &mut frames)
                .expect("no frame is too long");
            self.frames.extend(frames);
        }
        let frame = self.frames.pop_front()?;
        Some(serde_json::from_str(&frame.data).expect("JSON"))
    }
}

fn turn_request(url: &str, message: &str) -> reqwest::RequestBuilder {
    reqwest::Client::new()
        .post(format!("{url}/api/chat/stream"))
        .header("content-type", "application/json")
        .body(json!({ "message": message, "model": "openai/echo" }).to_string())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shutdown_is_timely_and_loses_nothing() {
    parlor_web::http_client::install_tls();
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("first").gate("never"));
    upstream.add_script(
        When::user_contains("short"),
        Script::new().text("almost ").gate("finish").text("done"),
    );
    let mut server = Server::start(folder.path(), &upstream).await;

    let mut opened = JoinSet::new();
    for _ in 0..STREAM_COUNT {
        let request = turn_request(&server.url, "long");
        opened.spawn(async move {
            let mut reader = EventReader::open(request).await;
            loop {
                let event = reader.next().await.expect("the first text arrives");
                if event["type"] == "text_delta" {
                    return (reader, event);
                }
            }
        });
    }
    let readers = timeout(TEST_TIMEOUT, opened.join_all()).await.expect("all begin");
    let mut short = EventReader::open(turn_request(&server.url, "short")).await;
    while short.next().await.expect("the run starts")["type"] != "text_delta" {}

    let asked = Instant::now();
    server.terminate().await;
    // New work is rejected, with a message and a time to retry.
    let refused = async {
        loop {
            let response = turn_request(&server.url, "more")
                .send()
                .await
                .expect("it still listens");
            if response.status() != 200 {
                return response;
            }
        }
    };
    let refused = timeout(TEST_TIMEOUT, refused).await.expect("it is rejected");
    assert_eq!(refused.status(), 503);
    assert!(refused.headers().contains_key("retry-after"));
    // Runs that end within the grace period are complete.
    upstream.open_gate("finish");
    let mut last = Value::Null;
    while let Some(event) = short.next().await {
        last = event;
    }
    assert_eq!(
        (&last["type"], &last["payload"]["message"]),
        (&json!("complete"), &json!("almost done"))
    );
    // The other streams receive the end of their runs.
    for (mut reader, _) in readers {
        let mut last = Value::Null;
        while let Some(event) = reader.next().await {
            last = event;
        }
        assert_eq!(
            (&last["type"], &last["status"]),
            (&json!("error"), &json!("interrupted"))
        );
    }
    let status = timeout(MAX_SHUTDOWN_TIME, server.child.wait())
        .await
        .expect("it ends in time")
        .unwrap();
    assert!(status.success(), "{status}");
    assert!(asked.elapsed() < MAX_SHUTDOWN_TIME, "{:?}", asked.elapsed());
    let wal = folder.path().join("parlor.db-wal");
    assert!(
        std::fs::metadata(&wal).map_or(0, |wal| wal.len()) == 0,
        "all is in the one file"
    );

    // A client that reconnects with its position gets the rest.
    let addr = server.url.trim_start_matches("http://").to_owned();
    let again = Server::start_at(folder.path(), &upstream, &addr).await;
    let mut log =
        EventReader::open(reqwest::Client::new().get(format!("{}/api/events?after=0", again.url))).await;
    let mut interrupted = 0;
    while interrupted < STREAM_COUNT {
        let event = log.next().await.expect("the log continues");
        interrupted += usize::from(event["status"] == "interrupted");
    }
}

#[tokio::test]
async fn stops_after_the_death_of_its_log_reader() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let mut command = Server::command(folder.path(), &upstream, "127.0.0.1:0");
    // The stop itself is logged.
    command.env("PARLOR_LOG", "info");
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the server starts");
    drop(child.stderr.take());
    let (_sender, no_log) = watch::channel(Vec::new());
    let mut server = Server::when_ready(child, no_log).await;
    server.terminate().await;
    let status = timeout(TEST_TIMEOUT, server.child.wait()).await;
    assert!(status.expect("it ends in time").unwrap().success());
}
