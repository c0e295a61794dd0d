//! A slow reader delays nobody, receives everything in the end, and is removed when it disconnects.

use std::net::SocketAddr;

use futures::future::{join, join_all};
use parlor_protocol::sse::{SseDecoder, SseFrame};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    time::timeout,
};
use upstream::Script;

use crate::support::{Parlor, TEST_TIMEOUT, parlor_answering};

/// Enough output that the system cannot buffer it for a slow reader (Linux buffers 4 MB at most).
const RUNS: usize = 14;
const DELTAS: usize = 50;
const DELTA_BYTES: usize = 10_000;

/// A small receive buffer of the slow reader. With less than two segments of the local network (64 KB),
/// reading would be as slow as the sender's probe timer.
const RECEIVE_BUFFER: u32 = 1 << 17;

/// A client that reads on demand, from a socket with a small buffer.
struct SlowReader {
    socket: TcpStream,
    decoder: SseDecoder,
    frames: std::collections::VecDeque<SseFrame>,
}

impl SlowReader {
    async fn open(parlor: &Parlor, path: &str) -> Self {
        let address: SocketAddr = parlor.url.trim_start_matches("http://").parse().unwrap();
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(RECEIVE_BUFFER).unwrap();
        let mut socket = socket.connect(address).await.unwrap();
        // An HTTP/1.0 response is sent unchanged until the connection ends.
        let request = format!("GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n");
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(
                timeout(TEST_TIMEOUT, socket.read_u8())
                    .await
                    .expect("it answers")
                    .unwrap(),
            );
        }
        assert!(head.starts_with(b"HTTP/1.0 200"));
        Self {
            socket,
            decoder: SseDecoder::new(1 << 20),
            frames: Default::default(),
        }
    }

    async fn next(&mut self) -> Value {
        while self.frames.is_empty() {
            let (mut bytes, mut frames) = (vec![0; 1 << 16], Vec::new());
            let read = timeout(TEST_TIMEOUT, self.socket.read(&mut bytes))
                .await
                .expect("an event arrives")
                .unwrap();
            assert!(read > 0, "the stream goes on");
            self.decoder.push(&bytes[..read], &mut frames).unwrap();
            self.frames.extend(frames);
        }
        serde_json::from_str(&self.frames.pop_front().unwrap().data).unwrap()
    }
}

fn long_answer() -> Script {
    (0..DELTAS).fold(Script::new(), |script, n| {
        script.text(format!("{n:>DELTA_BYTES$}"))
    })
}

/// Runs all answers.
async fn produce_long_answers(parlor: &Parlor) {
    let ask = json!({ "message": "go", "model": "test/any" });
    let talk = join_all((0..RUNS).map(async |_| parlor.chat(&ask).await.read_to_end().await));
    for events in timeout(TEST_TIMEOUT, talk).await.expect("no client is delayed") {
        assert_eq!(events.last().unwrap()["type"], "complete");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stalled_reader_blocks_nobody_and_misses_nothing() {
    let (_folder, _upstream, parlor) = parlor_answering(long_answer()).await;
    let mut slow = SlowReader::open(&parlor, "/api/events?after=0").await;
    let mut quick = parlor.follow("/api/events?after=0").await;
    let read = async {
        let (mut seen, mut ended) = (Vec::new(), 0);
        while ended < RUNS {
            let event = quick.next().await.expect("the log continues");
            ended += usize::from(event["type"] == "complete");
            seen.push(event);
        }
        seen
    };
    let ((), seen) = join(produce_long_answers(&parlor), read).await;
    let mut late = Vec::new();
    while late.len() < seen.len() {
        late.push(slow.next().await);
    }
    assert!(late == seen, "the slow reader was told something else");
    let positions = late.iter().map(|event| event["position"].as_u64().unwrap());
    assert!(
        positions.eq(1..=late.len() as u64),
        "something is missing or doubled"
    );
    let text: usize = late
        .iter()
        .filter_map(|event| Some(event["text"].as_str()?.len()))
        .sum();
    assert!(text >= RUNS * DELTAS * DELTA_BYTES, "{text}");

    // From here on it reads at full speed.
    let again =
        json!({ "message": "again", "model": "test/any", "conversation_id": seen[0]["conversation_id"] });
    let _asked = parlor.chat(&again).await;
    let next = slow.next().await;
    assert_eq!(next["position"], seen.len() + 1);
    assert_eq!(quick.next().await, Some(next));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn disconnected_readers_are_removed() {
    let (_folder, _upstream, parlor) = parlor_answering(long_answer()).await;
    let idle = parlor.follow("/api/events").await;
    let stuck = SlowReader::open(&parlor, "/api/events?after=0").await;
    parlor.wait_for_listeners(2).await;
    produce_long_answers(&parlor).await;
    parlor.wait_for_listeners(2).await;
    drop(stuck);
    parlor.wait_for_listeners(1).await;
    drop(idle);
    parlor.wait_for_listeners(0).await;
}
