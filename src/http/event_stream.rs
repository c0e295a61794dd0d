//! A log as server-sent events: the `id:` of each frame is its event's position, so that `Last-Event-ID`
//! works for any client. Heartbeats and `reset` have none.

use std::{borrow::Cow, collections::HashMap, time::Duration};

use axum::{
    body::{Body, Bytes},
    extract::{Query, rejection::QueryRejection},
    http::{HeaderMap, HeaderValue, header},
    response::Response,
};
use futures::stream;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::problem::{Problem, bad_request};
use crate::{
    app::{
        AppState, Caller,
        tokens::{Access, Ended},
    },
    hub::{Followed, Follower, Topic},
    protocol::error::excerpt,
    protocol::{Notice, Position, sse},
    storage::LoggedEvent,
};

/// How much may be joined into one write when several events are there already.
const CHUNK: usize = 32 << 10;

/// `GET /api/events?after=N`, and `/rpc/events` for the page: everything that happens to the user after a position. Without one, what
/// happens from now on.
pub async fn of_user(
    caller: Caller,
    query: Result<Query<HashMap<String, String>>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let Query(query) = query?;
    let after = match position(&query, &headers)? {
        Some(after) => after,
        None => caller.app.storage.head(caller.user_id).await?,
    };
    let app = &caller.app;
    let follower = Follower::new(
        app.hub.clone(),
        app.storage.clone(),
        Topic::User(caller.user_id),
        after,
    );
    Ok(respond(follower, app, caller.access, AsLogged))
}

/// The position after which a client wants to go on: `?after=N`, or the standard's `Last-Event-ID`.
pub fn position(query: &HashMap<String, String>, headers: &HeaderMap) -> Result<Option<Position>, Problem> {
    let mut values = headers.get_all("last-event-id").iter();
    let header = values
        .next()
        .map(|value| String::from_utf8_lossy(value.as_bytes()));
    if values.next().is_some() {
        return Err(bad_request("The request has more than one Last-Event-ID."));
    }
    // A reconnecting EventSource repeats the first address, but its header is newer.
    let Some(value) = header.or_else(|| query.get("after").map(Cow::from)) else {
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

/// How events of a log become frames.
pub trait Projection: Send + 'static {
    /// The data of an event's frames, and whether it is the stream's last event.
    fn frames(&mut self, logged: &LoggedEvent) -> impl Future<Output = (Vec<String>, bool)> + Send;

    /// Asked with each heartbeat: whether there is any more to come.
    fn is_over(&mut self) -> impl Future<Output = bool> + Send;
}

/// Every event as it stands in the log.
struct AsLogged;

impl Projection for AsLogged {
    async fn frames(&mut self, logged: &LoggedEvent) -> (Vec<String>, bool) {
        (vec![logged.json.clone()], false)
    }

    async fn is_over(&mut self) -> bool {
        false
    }
}

struct Streaming<P> {
    follower: Follower,
    projection: P,
    heartbeat: Duration,
    beat_at: Instant,
    shutdown: CancellationToken,
    /// Ready when the token that the request came with is not taken any more.
    ended: Ended,
    over: bool,
}

/// The response that streams what a follower gives.
pub fn respond(
    follower: Follower,
    app: &AppState,
    access: Option<Access>,
    projection: impl Projection,
) -> Response {
    let heartbeat = Duration::from_secs_f64(app.settings.timeouts.heartbeat_seconds);
    let streaming = Streaming {
        follower,
        projection,
        heartbeat,
        // The first beat at once: the client learns that it is connected, whatever stands between.
        beat_at: Instant::now(),
        shutdown: app.shutdown.clone(),
        ended: app.tokens.ended(access),
        over: false,
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
    // nginx would hold events back until its buffer is full.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

impl<P: Projection> Streaming<P> {
    /// Nothing at the end. An event may become no frame at all.
    async fn next_chunk(&mut self) -> Option<String> {
        loop {
            let chunk = self.chunk().await?;
            if !chunk.is_empty() {
                return Some(chunk);
            }
        }
    }

    async fn chunk(&mut self) -> Option<String> {
        if self.over {
            return None;
        }
        let followed = tokio::select! {
            biased;
            () = self.shutdown.cancelled() => return None,
            ended = &mut self.ended => return match ended {
                Ok(()) => None,
                Err(error) => {
                    tracing::error!(%error, "a token can't be read");
                    Some(self.last_words(Notice::Unavailable))
                }
            },
            followed = self.follower.next() => followed,
            () = sleep_until(self.beat_at) => {
                self.beat_at = Instant::now() + self.heartbeat;
                return if self.projection.is_over().await { None } else { Some(sse::HEARTBEAT.to_owned()) };
            }
        };
        self.beat_at = Instant::now() + self.heartbeat;
        let first = match followed {
            Ok(Followed::Event(event)) => event,
            Ok(Followed::Reset) => return Some(self.last_words(Notice::Reset)),
            Err(error) => {
                tracing::error!(%error, "the log can't be read");
                return Some(self.last_words(Notice::Unavailable));
            }
        };
        let mut chunk = String::new();
        let mut next = Some(first);
        while let Some(logged) = next {
            let (frames, over) = self.projection.frames(&logged).await;
            for data in frames {
                chunk += &sse::encode(Some(logged.event.position.0), None, &data);
            }
            self.over = over;
            next = if over || chunk.len() > CHUNK {
                None
            } else {
                self.follower.try_next()
            };
        }
        Some(chunk)
    }

    fn last_words(&mut self, notice: Notice) -> String {
        self.over = true;
        sse::encode(None, None, &serde_json::to_string(&notice).unwrap_or_default())
    }
}
