//! Shares of conversations: what their readers see ([`reading`]), the keys that open them ([`keys`]), people by name
//! ([`people`]), projects ([`projects`]), results of tools ([`tools`]), and streams of live ones ([`live`]).

mod keys;
mod live;
mod people;
mod projects;
mod reading;
mod tools;

use std::collections::VecDeque;

use parlor_protocol::sse::{SseDecoder, SseFrame};
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use crate::support::{Parlor, TEST_TIMEOUT, read_json, string_field};

/// A share that was made.
pub struct Share {
    id: String,
    /// `/shared/…`
    pub path: String,
}

impl Share {
    /// Shares a conversation by a link, or with people by name.
    pub async fn create(
        parlor: &Parlor,
        conversation: &str,
        readers: Option<&[&str]>,
        is_live: bool,
    ) -> Self {
        let request = json!({ "conversation_id": conversation, "readers": readers, "is_live": is_live });
        let response = parlor.post("/rpc/create_share", &request).send().await.unwrap();
        assert_eq!(response.status(), 200);
        let created = read_json(response).await;
        Self {
            id: string_field(&created["share"], "id"),
            path: string_field(&created, "path"),
        }
    }

    pub fn key(&self) -> &str {
        self.path.strip_prefix("/shared/").expect("the path of a share")
    }

    pub async fn end(&self, parlor: &Parlor) {
        let request = json!({ "share_id": self.id });
        let ended = parlor.post("/rpc/end_share", &request).send().await.unwrap();
        assert_eq!(ended.status(), 200);
    }

    /// Follows the stream of a live share.
    async fn follow(&self, parlor: &Parlor, reader: &Client) -> SharedStream {
        SharedStream::open(reader.get(format!("{}{}/events?after=0", parlor.url, self.path))).await
    }
}

/// The stream of a share.
struct SharedStream {
    response: reqwest::Response,
    decoder: SseDecoder,
    frames: VecDeque<SseFrame>,
}

impl SharedStream {
    async fn open(request: RequestBuilder) -> Self {
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        Self {
            response,
            decoder: SseDecoder::new(1 << 20),
            frames: VecDeque::new(),
        }
    }

    /// Returns the next frame; `None` at the end of the stream.
    async fn next(&mut self) -> Option<Value> {
        let soon = Instant::now() + TEST_TIMEOUT;
        while self.frames.is_empty() {
            let chunk = timeout_at(soon, self.response.chunk())
                .await
                .expect("a frame arrives");
            let chunk = chunk.expect("the stream is whole")?;
            let mut frames = Vec::new();
            self.decoder.push(&chunk, &mut frames).unwrap();
            self.frames.extend(frames);
        }
        let frame = self.frames.pop_front()?;
        Some(serde_json::from_str(&frame.data).expect("JSON"))
    }

    /// Returns the frames up to the first event of a type.
    async fn until(&mut self, kind: &str) -> Vec<Value> {
        let mut frames = Vec::new();
        loop {
            let frame = self
                .next()
                .await
                .unwrap_or_else(|| panic!("no {kind}: {frames:?}"));
            let is_last = frame["event"]["type"] == kind;
            frames.push(frame);
            if is_last {
                return frames;
            }
        }
    }

    /// Waits for the frame that says that the share has ended, and for the end of the stream.
    async fn expect_end(&mut self) {
        while let Some(frame) = self.next().await {
            if frame == "ended" {
                assert_eq!(self.next().await, None);
                return;
            }
        }
        panic!("the stream ended without a word");
    }
}

/// Returns what the share's server function says about a key.
async fn read_shared(parlor: &Parlor, reader: &Client, key: &str) -> (u16, Value) {
    let request = reader.post(format!("{}/rpc/shared_conversation", parlor.url));
    let request = request.header("content-type", "application/json");
    let body = json!({ "key": key, "before": null }).to_string();
    let response = request.body(body).send().await.unwrap();
    (response.status().as_u16(), read_json(response).await)
}

/// Returns the status and the text of a page.
async fn page(parlor: &Parlor, reader: &Client, path: &str) -> (u16, String) {
    let request = reader
        .get(format!("{}{path}", parlor.url))
        .header("accept", "text/html");
    let response = request.send().await.unwrap();
    (response.status().as_u16(), response.text().await.unwrap())
}
