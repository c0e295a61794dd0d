//! Plays a script as the body of a response.

use std::{collections::VecDeque, io, sync::Arc, time::Duration};

use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use bytes::{BufMut, Bytes};
use futures::Stream;
use tokio::time::{Instant, sleep, sleep_until};

use crate::{
    frames::{Frames, now_micros, put_number, split_words},
    protocol::Protocol,
    script::{Script, Step},
    state::{OpenStream, UpstreamState},
};

/// Returns the response that a script describes.
pub async fn respond(state: Arc<UpstreamState>, protocol: Protocol, model: &str, script: Script) -> Response {
    let mut steps = VecDeque::from(script.steps);
    let ends = steps.iter().any(|step| {
        matches!(
            step,
            Step::Status { .. } | Step::Finish(_) | Step::Done | Step::End | Step::Cut | Step::Hang
        )
    });
    if !ends {
        steps.push_back(Step::Finish("stop".into()));
    }
    if steps.iter().any(|step| matches!(step, Step::Status { .. })) {
        return respond_with_status(&state, steps).await;
    }
    let mut media_type = String::from("text/event-stream; charset=utf-8");
    let mut opens = true;
    for step in &steps {
        match step {
            Step::ContentType(value) => media_type.clone_from(value),
            // A script with raw bytes writes all of them itself.
            Step::Raw(_) | Step::RawBytes(_) => opens = false,
            _ => {}
        }
    }
    let mut frames = Frames::new(protocol, model, script.thinking);
    let first = opens.then(|| frames.role()).filter(|first| !first.is_empty());
    let player = Player {
        _open: state.track_stream(),
        state,
        frames,
        steps,
        pace: None,
        sent: 0,
        first,
    };
    let media_type =
        HeaderValue::from_str(&media_type).unwrap_or(HeaderValue::from_static("text/event-stream"));
    let headers = [(header::CONTENT_TYPE, media_type)];
    (headers, Body::from_stream(player.into_stream())).into_response()
}

/// Waits as the script says, then responds with a status.
async fn respond_with_status(state: &UpstreamState, steps: VecDeque<Step>) -> Response {
    for step in steps {
        match step {
            Step::Gate(name) => state.pass_gate(&name).await,
            Step::Pause(milliseconds) => sleep(Duration::from_millis(milliseconds)).await,
            Step::Status { code, body, headers } => {
                let code = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
                let (media_type, body) = match body {
                    serde_json::Value::String(text) => ("text/plain", text),
                    json => ("application/json", json.to_string()),
                };
                let mut response = (code, [(header::CONTENT_TYPE, media_type)], body).into_response();
                for (name, value) in headers {
                    if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value))
                    {
                        response.headers_mut().insert(name, value);
                    }
                }
                return response;
            }
            _ => {}
        }
    }
    StatusCode::INTERNAL_SERVER_ERROR.into_response()
}

struct Player {
    state: Arc<UpstreamState>,
    frames: Frames,
    steps: VecDeque<Step>,
    pace: Option<PacedTokens>,
    sent: u64,
    first: Option<Bytes>,
    /// Reports the end of the stream to the state when it is dropped.
    _open: OpenStream,
}

/// Tokens that are being sent, one per interval.
struct PacedTokens {
    tokens: TokenSource,
    start: Instant,
    /// Zero sends them at once.
    interval: Duration,
    index: u64,
}

enum TokenSource {
    /// Tokens `number@microseconds`, this many of them.
    Stamped(u64),
    Words(VecDeque<String>, DeltaKind),
}

#[derive(Clone, Copy)]
enum DeltaKind {
    Text,
    Thinking,
}

impl Player {
    fn into_stream(self) -> impl Stream<Item = io::Result<Bytes>> {
        futures::stream::unfold(Some(self), |player| async move {
            let mut player = player?;
            match player.next().await? {
                Ok(bytes) => Some((Ok(bytes), Some(player))),
                // The connection is dropped without a last chunk.
                Err(error) => Some((Err(error), None)),
            }
        })
    }

    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        if let Some(first) = self.first.take() {
            return Some(Ok(first));
        }
        loop {
            if let Some(bytes) = self.next_token().await {
                self.sent += 1;
                return Some(Ok(bytes));
            }
            let bytes = match self.steps.pop_front()? {
                Step::Think(text) => self.frames.thinking(&text),
                Step::Text(text) => self.frames.text(&text),
                Step::ToolCall { id, name, arguments } => self.frames.tool_call(&id, &name, &arguments),
                Step::ErrorObject(error) => self.frames.error(&error),
                Step::Raw(text) => text.into(),
                Step::RawBytes(bytes) => bytes.into(),
                Step::Finish(reason) => {
                    self.steps.clear();
                    self.frames.finish(&reason, self.sent)
                }
                Step::Done => {
                    self.steps.clear();
                    self.frames.done()
                }
                Step::End => return None,
                Step::Cut => {
                    // The earlier output is sent first.
                    tokio::task::yield_now().await;
                    return Some(Err(io::Error::other("cut by the script")));
                }
                Step::Hang => std::future::pending().await,
                Step::Gate(name) => {
                    self.state.pass_gate(&name).await;
                    continue;
                }
                Step::Pause(milliseconds) => {
                    sleep(Duration::from_millis(milliseconds)).await;
                    continue;
                }
                Step::Stream { text, per_second } => {
                    self.begin(
                        TokenSource::Words(split_words(&text).into(), DeltaKind::Text),
                        per_second,
                    );
                    continue;
                }
                Step::StreamThinking { text, per_second } => {
                    self.begin(
                        TokenSource::Words(split_words(&text).into(), DeltaKind::Thinking),
                        per_second,
                    );
                    continue;
                }
                Step::Tokens { count, per_second } => {
                    self.begin(TokenSource::Stamped(count), per_second);
                    continue;
                }
                Step::Status { .. } | Step::ContentType(_) => continue,
            };
            self.sent += 1;
            return Some(Ok(bytes));
        }
    }

    fn begin(&mut self, tokens: TokenSource, per_second: f64) {
        let beat = Duration::try_from_secs_f64(1.0 / per_second).unwrap_or_default();
        self.pace = Some(PacedTokens {
            tokens,
            start: Instant::now(),
            interval: beat,
            index: 0,
        });
    }

    async fn next_token(&mut self) -> Option<Bytes> {
        let Some(pace) = &mut self.pace else { return None };
        let done = match &pace.tokens {
            TokenSource::Stamped(count) => pace.index == *count,
            TokenSource::Words(words, _) => words.is_empty(),
        };
        if done {
            self.pace = None;
            return None;
        }
        if pace.interval.is_zero() {
            // As fast as they can be sent, but not at the expense of the other streams.
            if pace.index % 64 == 63 {
                tokio::task::yield_now().await;
            }
        } else {
            let beats = u32::try_from(pace.index).unwrap_or(u32::MAX);
            sleep_until(pace.start + pace.interval.saturating_mul(beats)).await;
        }
        let index = pace.index;
        pace.index += 1;
        Some(match &mut pace.tokens {
            TokenSource::Stamped(_) => self.frames.token(|to| {
                put_number(to, index);
                to.put_u8(b'@');
                put_number(to, now_micros());
                to.put_u8(b' ');
            }),
            TokenSource::Words(words, kind) => {
                let word = words.pop_front().unwrap_or_default();
                match kind {
                    DeltaKind::Text => self.frames.text(&word),
                    DeltaKind::Thinking => self.frames.thinking(&word),
                }
            }
        })
    }
}
