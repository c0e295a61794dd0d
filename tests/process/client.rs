//! A client that records what it has seen, and reads what the server has stored afterwards.

use std::path::Path;

use parlor_protocol::{
    AssistantMessage, Event, EventBody, Message, MessageId,
    sse::{SseDecoder, SseFrame},
    transcript::apply_to_run,
};
use serde_json::Value;
use sqlx::{ConnectOptions, sqlite::SqliteConnectOptions};
use tokio::{sync::oneshot, time::timeout};

use crate::TEST_TIMEOUT;

/// The part of a run that one client saw until the server died.
#[derive(Default)]
pub struct ObservedRun {
    pub run: Option<MessageId>,
    pub events: Vec<Event>,
    /// The answer, folded from the events by the reducer.
    pub answer: Option<AssistantMessage>,
}

impl ObservedRun {
    fn has_begun(&self) -> bool {
        self.answer.as_ref().is_some_and(|answer| !answer.is_empty())
    }

    fn apply_frame(&mut self, frame: &SseFrame) {
        let event: Value = serde_json::from_str(&frame.data).expect("JSON");
        // Insertions of the public stream, such as the markers of tool calls, are not events of the log.
        if event["type"] == "text_delta" && event.get("offset").is_none() {
            return;
        }
        let event: Event = serde_json::from_value(event).expect("an event");
        self.run = self.run.or(event.message_id);
        let answer = self
            .answer
            .get_or_insert_with(|| AssistantMessage::new("openai/echo"));
        if let EventBody::Run(event) = &event.body {
            apply_to_run(answer, event).expect("no gap");
        }
        self.events.push(event);
    }

    /// Sends a message and reads until the connection ends. Sends the run to `begun` when the answer begins.
    pub async fn read_turn(url: String, ask: Value, begun: Option<oneshot::Sender<MessageId>>) -> Self {
        match post_turn(&url, &ask).await {
            Ok(response) => Self::read_response(response, begun).await,
            Err(_) => Self::default(),
        }
    }

    /// Like [`read_turn`](Self::read_turn), but sends the run to `begun` when the answer has text.
    pub async fn read_turn_until_text(url: String, ask: Value, begun: oneshot::Sender<MessageId>) {
        let Ok(mut response) = post_turn(&url, &ask).await else {
            return;
        };
        let mut seen = Self::default();
        let mut decoder = SseDecoder::new(1 << 20);
        let (mut frames, mut begun) = (Vec::new(), Some(begun));
        while let Ok(Some(chunk)) = response.chunk().await {
            decoder.push(&chunk, &mut frames).expect("no frame is too long");
            frames.drain(..).for_each(|frame| seen.apply_frame(&frame));
            let has_text = seen
                .answer
                .as_ref()
                .is_some_and(|answer| !answer.text().is_empty());
            if let (Some(run), true) = (seen.run, has_text)
                && let Some(begun) = begun.take()
            {
                // The receiver may be gone.
                let _ = begun.send(run);
            }
        }
    }

    /// Reads the response of a sent turn until the answer contains a text. The connection stays open until
    /// the returned response is dropped.
    pub async fn read_until_text(
        mut response: reqwest::Response,
        text: &str,
    ) -> (reqwest::Response, MessageId) {
        let mut seen = Self::default();
        let mut decoder = SseDecoder::new(1 << 20);
        let mut frames = Vec::new();
        let has_text = |seen: &Self| {
            seen.answer
                .as_ref()
                .is_some_and(|answer| answer.text().contains(text))
        };
        while !has_text(&seen) {
            let chunk = timeout(TEST_TIMEOUT, response.chunk())
                .await
                .expect("the text comes");
            let chunk = chunk.expect("a stream").expect("it goes on");
            decoder.push(&chunk, &mut frames).expect("no frame is too long");
            frames.drain(..).for_each(|frame| seen.apply_frame(&frame));
        }
        (response, seen.run.expect("the run is known"))
    }

    /// Like [`read_turn`](Self::read_turn), for the response of a sent turn.
    pub async fn read_response(
        response: reqwest::Response,
        begun: Option<oneshot::Sender<MessageId>>,
    ) -> Self {
        let mut seen = Self::default();
        seen.read_more(response, begun).await;
        seen
    }

    /// Reads the run's stream on, after the events that were seen.
    pub async fn resume(mut self, url: &str) -> Self {
        let run = self.run.expect("the run is known");
        let after = self.events.last().expect("an event").position.0;
        let response = reqwest::get(format!("{url}/api/runs/{run}/events?after={after}")).await;
        self.read_more(response.expect("a response"), None).await;
        self
    }

    async fn read_more(
        &mut self,
        mut response: reqwest::Response,
        mut begun: Option<oneshot::Sender<MessageId>>,
    ) {
        let mut decoder = SseDecoder::new(1 << 20);
        let mut frames = Vec::new();
        while let Ok(Some(chunk)) = response.chunk().await {
            decoder.push(&chunk, &mut frames).expect("no frame is too long");
            frames.drain(..).for_each(|frame| self.apply_frame(&frame));
            if let (Some(run), true) = (self.run, self.has_begun())
                && let Some(begun) = begun.take()
            {
                // The receiver may be gone.
                let _ = begun.send(run);
            }
        }
    }
}

/// Sends a turn.
pub async fn post_turn(url: &str, ask: &Value) -> reqwest::Result<reqwest::Response> {
    let request = reqwest::Client::new().post(format!("{url}/api/chat/stream"));
    let request = request.header("content-type", "application/json");
    request.body(ask.to_string()).send().await
}

/// Returns a run's message as the server has stored it.
pub async fn stored_message(url: &str, run: MessageId) -> Message {
    let response = reqwest::get(format!("{url}/api/messages/{run}"))
        .await
        .expect("a response");
    let body: Value = serde_json::from_slice(&response.bytes().await.expect("a body")).expect("JSON");
    serde_json::from_value(body["message"].clone()).expect("the seen message is stored")
}

/// Returns the log after a position, up to at least another one.
pub async fn read_log(url: &str, after: u64, until: u64) -> Vec<Event> {
    let mut response = reqwest::get(format!("{url}/api/events?after={after}"))
        .await
        .expect("a response");
    let mut decoder = SseDecoder::new(1 << 20);
    let (mut frames, mut events) = (Vec::new(), Vec::<Event>::new());
    while events.last().is_none_or(|event| event.position.0 < until) {
        let chunk = timeout(TEST_TIMEOUT, response.chunk())
            .await
            .expect("all seen events arrive");
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

/// Changes the database of a stopped server.
pub async fn execute_sql(data: &Path, sql: String) {
    let mut connection = SqliteConnectOptions::new()
        .filename(data.join("parlor.db"))
        .connect()
        .await
        .expect("the database opens");
    let changed = sqlx::query(sqlx::AssertSqlSafe(sql))
        .execute(&mut connection)
        .await;
    assert_ne!(changed.expect("it is changed").rows_affected(), 0);
}

/// Queries the database of a stopped server.
pub async fn query_sql<T>(data: &Path, sql: &'static str) -> T
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
        .expect("a response")
}

/// Follows the log from its beginning until a line of it is accepted.
pub async fn wait_for_event(url: &str, is_wanted: impl Fn(&str) -> bool) {
    let mut response = reqwest::get(format!("{url}/api/events?after=0")).await.unwrap();
    let mut read = Vec::new();
    let has_come = |read: &[u8]| {
        // The last line may be incomplete.
        let complete = read.iter().rposition(|&byte| byte == b'\n').unwrap_or(0);
        String::from_utf8_lossy(&read[..complete]).lines().any(&is_wanted)
    };
    while !has_come(&read) {
        let chunk = timeout(TEST_TIMEOUT, response.chunk())
            .await
            .expect("the event comes");
        read.extend_from_slice(&chunk.unwrap().unwrap());
    }
}
