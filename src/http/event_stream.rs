//! A log as server-sent events. The `id:` of each frame is the position of its event, so that `Last-Event-ID`
//! works for any client. Heartbeats and `reset` have no id.

use std::{borrow::Cow, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, HeaderValue, header},
    response::Response,
};
use futures::stream;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::{
    problem::{Problem, bad_request},
    request::QueryParameters,
};
use crate::app::{
    AppState, Caller,
    access::{Access, AccessEnd},
};
use parlor_journal::hub::{Follower, FollowerItem, Topic};
use parlor_protocol::{Event, Position, StreamNotice, error::excerpt, sse};
use parlor_storage::{LoggedEvent, StorageError, StorageErrorKind};

/// The maximum length of a write that joins several available events, in bytes.
const MAX_CHUNK_BYTES: usize = 32 << 10;

/// The requested part of the log.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct LogQuery {
    /// Only events after this position. Without it, only new events.
    #[schemars(with = "Option<Position>")]
    after: Option<String>,
}

/// A frame, as the OpenAPI document describes it: an object with the frame's fields, as in OpenAPI 3.2.
pub enum FrameSchema {}

impl JsonSchema for FrameSchema {
    fn schema_name() -> Cow<'static, str> {
        "Frame".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (event, notice) = (
            generator.subschema_for::<Event>(),
            generator.subschema_for::<StreamNotice>(),
        );
        json_schema!({
            "description": "A server-sent event. Comments (heartbeats) are none.",
            "type": "object",
            "properties": {
                "data": {
                    "description": "The event or notice as JSON.",
                    "type": "string",
                    "contentMediaType": "application/json",
                    "contentSchema": { "anyOf": [event, notice] },
                },
                "id": { "description": "The position of the event. A notice has none.", "type": "string" },
            },
            "required": ["data"],
        })
    }
}

/// `GET /api/events?after=N`, and `/rpc/events` for the page: all events of the user after a position.
/// Without one, the events from now on.
pub async fn stream_user_log(
    caller: Caller,
    query: Result<QueryParameters<LogQuery>, Problem>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let QueryParameters(query) = query?;
    let after = match parse_position(query.after.as_deref(), &headers)? {
        Some(after) => after,
        None => caller.app.storage.last_position(caller.user_id).await?,
    };
    let app = &caller.app;
    let follower = Follower::new(
        app.hub.clone(),
        app.storage.clone(),
        Topic::User(caller.user_id),
        after,
    );
    Ok(respond(follower, app, caller.access, LogProjection))
}

/// Parses the position from which a client resumes: `?after=N`, or the standard's `Last-Event-ID`.
pub fn parse_position(after: Option<&str>, headers: &HeaderMap) -> Result<Option<Position>, Problem> {
    let mut values = headers.get_all("last-event-id").iter();
    let header = values
        .next()
        .map(|value| String::from_utf8_lossy(value.as_bytes()));
    if values.next().is_some() {
        return Err(bad_request("The request has more than one Last-Event-ID."));
    }
    // A reconnecting EventSource repeats the first URL, but its header is newer.
    let Some(value) = header.or_else(|| after.map(Cow::from)) else {
        return Ok(None);
    };
    value
        .parse()
        .map(|position| Some(Position(position)))
        .map_err(|_| {
            bad_request(format!(
                "A position in the log is a whole number, such as after=0; this is “{}”.",
                excerpt(&value)
            ))
        })
}

/// Converts events of a log to frames.
pub trait Projection: Send + 'static {
    /// Returns the data of an event's frames, and true if it is the stream's last event.
    fn frames(&mut self, logged: &LoggedEvent) -> impl Future<Output = (Vec<String>, bool)> + Send;

    /// Returns true if no more events will come. Called at each heartbeat.
    fn is_over(&mut self) -> impl Future<Output = bool> + Send;

    /// Returns true if the log has all events already: then the stream does not wait for more.
    fn has_ended(&self) -> bool {
        false
    }

    /// Returns false if the log goes on after all: what it is about was continued meanwhile. Called where it had ended.
    fn confirm_end(&mut self) -> impl Future<Output = bool> + Send {
        std::future::ready(true)
    }

    /// Returns the data of a frame before the first event.
    fn take_opening(&mut self) -> Option<String> {
        None
    }

    /// Returns the data of the last frame of a stream whose access has ended.
    fn last_frame(&self) -> Option<String> {
        None
    }
}

/// Returns the notice that ends a stream whose log could not be read.
fn failure_notice(error: &StorageError) -> StreamNotice {
    match error {
        // The log is readable; the end of the run is not in it.
        StorageError::RunAbandoned => StreamNotice::Unavailable,
        error if error.kind() == StorageErrorKind::Damaged => StreamNotice::LogDamaged,
        _ => StreamNotice::Unavailable,
    }
}

/// Projects every event as it is logged.
struct LogProjection;

impl Projection for LogProjection {
    async fn frames(&mut self, logged: &LoggedEvent) -> (Vec<String>, bool) {
        (vec![logged.json.clone()], false)
    }

    async fn is_over(&mut self) -> bool {
        false
    }
}

struct EventStreamBody<P> {
    follower: Follower,
    projection: P,
    heartbeat: Duration,
    next_heartbeat_at: Instant,
    shutdown: CancellationToken,
    /// Resolves when the token or the session of the request is no longer valid.
    access_end: AccessEnd,
    is_over: bool,
}

/// Returns the response that streams the events of a follower.
pub fn respond(
    follower: Follower,
    app: &AppState,
    access: Option<Access>,
    projection: impl Projection,
) -> Response {
    respond_until(app.access.access_end(access), follower, app, projection)
}

/// Returns the response of [`respond`], which ends when `access_end` resolves.
pub fn respond_until(
    access_end: AccessEnd,
    follower: Follower,
    app: &AppState,
    projection: impl Projection,
) -> Response {
    let heartbeat = app.settings.timeouts.heartbeat;
    let streaming = EventStreamBody {
        follower,
        projection,
        heartbeat,
        // The first heartbeat is sent at once, so that the client learns that it is connected even through a
        // proxy.
        next_heartbeat_at: Instant::now(),
        shutdown: app.shutdown.clone(),
        access_end,
        is_over: false,
    };
    let chunks = stream::unfold(streaming, |mut streaming| async move {
        let chunk = streaming.next_chunk().await?;
        Some((Ok::<_, std::convert::Infallible>(Bytes::from(chunk)), streaming))
    });
    let mut response = Response::new(Body::from_stream(chunks));
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/event-stream"),
    );
    headers.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("no-cache, no-transform"),
    );
    // Proxies that compress may hold events back. Caddy before 2.7 does so in spite of `no-transform`, but no proxy encodes
    // what has an encoding.
    headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("identity"));
    // Without it, nginx delays events until its buffer is full.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// Waits for the next event. Returns `None` if the log has ended and all its events were returned.
async fn next_event(follower: &mut Follower, has_ended: bool) -> Option<Result<FollowerItem, StorageError>> {
    match has_ended {
        true => follower.next_committed().await.transpose(),
        false => Some(follower.next().await),
    }
}

impl<P: Projection> EventStreamBody<P> {
    /// Returns the next chunk, or `None` at the end. An event may have no frame.
    async fn next_chunk(&mut self) -> Option<String> {
        loop {
            let chunk = self.read_chunk().await?;
            if !chunk.is_empty() {
                return Some(chunk);
            }
        }
    }

    async fn read_chunk(&mut self) -> Option<String> {
        if self.is_over {
            return None;
        }
        if let Some(data) = self.projection.take_opening() {
            return Some(sse::encode_frame(Some(self.follower.cursor().0), None, &data));
        }
        let has_ended = self.projection.has_ended();
        let followed = tokio::select! {
            biased;
            ended = &mut self.access_end => return match ended {
                Ok(()) => {
                    self.is_over = true;
                    let data = self.projection.last_frame();
                    data.map(|data| sse::encode_frame(None, None, &data))
                }
                Err(error) => {
                    tracing::error!(%error, "cannot read a token or a session");
                    Some(self.final_notice(StreamNotice::Unavailable))
                }
            },
            // The ends of the runs were committed before the shutdown, and the client still receives them.
            () = self.shutdown.cancelled() => self.follower.next_committed().await.transpose()?,
            followed = next_event(&mut self.follower, has_ended) => match followed {
                Some(followed) => followed,
                None if !self.projection.confirm_end().await => return Some(String::new()),
                // The last event is missing or can't be told from the others.
                None => return Some(self.final_notice(StreamNotice::LogDamaged)),
            },
            () = sleep_until(self.next_heartbeat_at) => {
                self.next_heartbeat_at = Instant::now() + self.heartbeat;
                return if self.projection.is_over().await { None } else { Some(sse::HEARTBEAT.to_owned()) };
            }
        };
        self.next_heartbeat_at = Instant::now() + self.heartbeat;
        let first = match followed {
            Ok(FollowerItem::Event(event)) => event,
            Ok(FollowerItem::Reset) => return Some(self.final_notice(StreamNotice::Reset)),
            Err(error) => {
                tracing::error!(%error, "cannot read the log");
                return Some(self.final_notice(failure_notice(&error)));
            }
        };
        let mut chunk = String::new();
        let mut next = Some(first);
        while let Some(logged) = next {
            let (frames, over) = self.projection.frames(&logged).await;
            for data in frames {
                chunk += &sse::encode_frame(Some(logged.event.position.0), None, &data);
            }
            self.is_over = over;
            next = if over || chunk.len() > MAX_CHUNK_BYTES {
                None
            } else {
                self.follower.try_next()
            };
        }
        Some(chunk)
    }

    fn final_notice(&mut self, notice: StreamNotice) -> String {
        self.is_over = true;
        sse::encode_frame(None, None, &serde_json::to_string(&notice).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use std::{future::pending, sync::Arc};

    use super::*;
    use parlor_journal::{Journal, hub::Hub};
    use parlor_protocol::UserId;
    use parlor_storage::{Change, PersonalChange, Storage, sqlite::SqliteStorage};

    #[tokio::test]
    async fn sends_what_was_committed_before_the_shutdown() {
        let folder = tempfile::tempdir().unwrap();
        let storage: Arc<dyn Storage> = Arc::new(SqliteStorage::open(folder.path()).await.unwrap());
        let hub = Arc::new(Hub::default());
        let (journal, _writer) = Journal::start(storage.clone(), hub.clone());
        let user_id = UserId::LOCAL;
        let shutdown = CancellationToken::new();
        let mut streaming = EventStreamBody {
            follower: Follower::new(hub, storage, Topic::User(user_id), Position(0)),
            projection: LogProjection,
            heartbeat: Duration::from_secs(60),
            next_heartbeat_at: Instant::now() + Duration::from_secs(60),
            shutdown: shutdown.clone(),
            access_end: Box::pin(pending()),
            is_over: false,
        };
        let commit = async |text: &str| {
            let text = text.into();
            journal
                .submit(Change::Personal {
                    user_id,
                    change: PersonalChange::SetInstructions { text },
                })
                .await
                .unwrap();
        };
        commit("from the log").await;
        let chunk = streaming.next_chunk().await.unwrap();
        assert!(chunk.contains("id: 1"), "{chunk}");
        commit("live").await;
        shutdown.cancel();
        let chunk = streaming.next_chunk().await.expect("the last event");
        assert!(chunk.contains("id: 2"), "{chunk}");
        assert_eq!(streaming.next_chunk().await, None);
    }
}
