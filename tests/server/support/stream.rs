//! A client that reads event streams.

use std::collections::VecDeque;

use parlor_protocol::sse::{SseDecoder, SseFrame};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::TEST_TIMEOUT;
use crate::openapi;

/// An event stream that is being read.
pub struct EventStream {
    response: reqwest::Response,
    decoder: SseDecoder,
    frames: VecDeque<SseFrame>,
}

impl EventStream {
    /// Sends a request and opens the stream of its response.
    pub async fn open(request: reqwest::RequestBuilder) -> Self {
        let response = request.send().await.expect("a response");
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self {
            response,
            decoder: SseDecoder::new(1 << 20),
            frames: Default::default(),
        }
    }

    /// Returns the next event, with its id as `id`; `None` at the end of the stream.
    pub async fn next(&mut self) -> Option<Value> {
        // Comments arrive even without events and do not extend the timeout.
        let soon = Instant::now() + TEST_TIMEOUT;
        while self.frames.is_empty() {
            let chunk = timeout_at(soon, self.response.chunk())
                .await
                .expect("an event arrives");
            let chunk = chunk.expect("the stream is whole")?;
            let mut frames = Vec::new();
            self.decoder
                .push(&chunk, &mut frames)
                .expect("no frame is too long");
            self.frames.extend(frames);
        }
        let frame = self.frames.pop_front()?;
        assert_eq!(
            frame.event, None,
            "frames are told apart by their data's type alone"
        );
        let event: Value = serde_json::from_str(&frame.data).expect("JSON");
        assert_eq!(
            frame.id,
            event.get("position").map(Value::to_string),
            "the id is the position"
        );
        openapi::check_event(&event);
        Some(event)
    }

    /// Returns the next event of a type and skips others.
    pub async fn next_of_type(&mut self, kind: &str) -> Value {
        loop {
            let event = self
                .next()
                .await
                .unwrap_or_else(|| panic!("the stream ended before {kind}"));
            if event["type"] == kind {
                return event;
            }
        }
    }

    /// Reads all events until the end.
    pub async fn read_to_end(mut self) -> Vec<Value> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}

/// Returns the types of events, without repeated deltas and without the usage of model calls.
pub fn event_types(events: &[Value]) -> Vec<&str> {
    let mut types: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    types.retain(|kind| *kind != "usage");
    types.dedup();
    types
}

/// Joins the model's deltas of a type. Asserts that none is missing or duplicated.
pub fn joined_deltas(events: &[Value], kind: &str) -> String {
    let mut text = String::new();
    let is_models = |event: &&Value| event["type"] == kind && event.get("offset").is_some();
    for event in events.iter().filter(is_models) {
        assert_eq!(
            event["offset"],
            text.len(),
            "a delta is missing or doubled: {event}"
        );
        text += event["text"].as_str().expect("a text");
    }
    text
}
