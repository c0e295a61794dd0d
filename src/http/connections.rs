//! The connections: accepting and serving them, and ending them at shutdown.

use std::convert::Infallible;

use axum::{
    Router,
    body::Body,
    extract::Request,
    http::{HeaderValue, header},
    response::Response,
    serve::Listener,
};
use futures::FutureExt;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    pin,
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::{
    client::PeerAddress,
    upload::{PacedBody, UploadPace},
};
use parlor_base::{clock, settings::Settings};

/// Fills this thread's cache of the header `Date`. To be called by each thread of the runtime as it starts.
///
/// hyper formats the date with `httpdate`, which panics on a time before 1970. It does so only if the time is later than that of
/// the cache: a thread with a filled one keeps sending its last date after the clock was set back.
pub fn fill_date_cache() {
    if clock::check().is_err() {
        return;
    }
    let respond = service_fn(async |_: Request<Incoming>| Ok::<_, Infallible>(Response::new(Body::empty())));
    // A connection updates the date before it reads. This one has no input and ends at once.
    let connection = http1::Builder::new().serve_connection(TokioIo::new(tokio::io::empty()), respond);
    let _ = connection.now_or_never();
}

/// Serves connections of `listener` until `down` is cancelled. Returns after the last response was sent.
///
/// A connection that sends no complete request head within `timeouts.request_head` is closed, even if
/// it is idle. Responses may take any time.
pub async fn serve(mut listener: TcpListener, routes: Router, settings: &Settings, down: CancellationToken) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new());
    http.header_read_timeout(settings.timeouts.request_head);
    let pace = UploadPace::new(settings);
    // Built once: otherwise each connection would copy all routes.
    let routes = routes.with_state(());
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            () = down.cancelled() => break,
            // `accept` handles its own errors: without free sockets it waits for a moment.
            (stream, peer) = Listener::accept(&mut listener) => {
                connections.spawn(serve_connection(http.clone(), (stream, PeerAddress(peer)), routes.clone(), pace, down.clone()));
            }
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

async fn serve_connection(
    http: http1::Builder,
    (stream, peer): (TcpStream, PeerAddress),
    routes: Router,
    pace: UploadPace,
    down: CancellationToken,
) {
    // Small frames must be sent at once.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY");
    }
    let service = service_fn(move |request: Request<Incoming>| respond(routes.clone(), request, peer, pace));
    let connection = http.serve_connection(TokioIo::new(stream), service);
    pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = down.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection was interrupted");
    }
}

/// Responds to a request. If its body was not read to the end, because it was rejected before, hyper closes the connection:
/// the response says so, since clients would send their next request in vain.
async fn respond(
    routes: Router,
    request: Request<Incoming>,
    peer: PeerAddress,
    pace: UploadPace,
) -> Result<Response, Infallible> {
    let (mut parts, body) = request.into_parts();
    let body = PacedBody::new(body, pace);
    let end = body.end();
    parts.extensions.insert(body.slow());
    parts.extensions.insert(peer);
    let mut response = routes
        .oneshot(Request::from_parts(parts, Body::new(body)))
        .await?;
    if !end.was_reached() {
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
    }
    Ok(response)
}
