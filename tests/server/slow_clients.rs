//! Clients that never send the rest of a request, and clients that are only slow.

use std::time::Duration;

use futures::future::join_all;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};
use upstream::{Script, Upstream, When};

use crate::support::{Parlor, TEST_TIMEOUT};

async fn start_parlor() -> (tempfile::TempDir, Upstream, Parlor) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(
        When::any(),
        Script::new().text("first").gate("more").text(" last"),
    );
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
        settings.timeouts.request_head = Duration::from_secs(1);
        settings.timeouts.request_body = Duration::from_secs(1);
        settings.limits.request_bytes_per_second = 1_000_000_000;
    })
    .await;
    (folder, upstream, parlor)
}

/// Sends the beginning of a request and reads until the server closes the connection.
async fn send_partial_request(parlor: &Parlor, beginning: &[u8]) -> String {
    let address = parlor.url.strip_prefix("http://").unwrap();
    let mut connection = TcpStream::connect(address).await.unwrap();
    connection.write_all(beginning).await.unwrap();
    let mut answer = Vec::new();
    let read = timeout(TEST_TIMEOUT, connection.read_to_end(&mut answer)).await;
    read.expect("the server closes the connection").ok();
    String::from_utf8_lossy(&answer).into_owned()
}

/// Beginnings of requests whose head never ends.
const HEADS: [&[u8]; 3] = [
    b"",
    b"GET / HT",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: 1\r\n",
];

/// Returns the beginning of a request whose body never ends.
fn with_body(path: &str) -> String {
    let sent = match path {
        "/send" => "application/x-www-form-urlencoded",
        _ => "application/json",
    };
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {sent}\r\nContent-Length: 1000\r\n\r\n{{\"before\""
    )
}

#[tokio::test]
async fn missing_head_closes_the_connection() {
    let (_folder, _upstream, parlor) = start_parlor().await;
    let answers = join_all(HEADS.map(|beginning| send_partial_request(&parlor, beginning))).await;
    assert_eq!(answers, ["", "", ""]);
}

#[tokio::test]
async fn missing_body_returns_408() {
    let (_folder, _upstream, parlor) = start_parlor().await;
    let cases = [
        ("/rpc/conversations", "application/json"),
        ("/api/chat/stream", "application/problem+json"),
        ("/send", "application/problem+json"),
    ];
    let checked = cases.map(async |(path, kind)| {
        let answer = send_partial_request(&parlor, with_body(path).as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 408 "), "{path}: {answer}");
        assert!(
            answer.contains(&format!("content-type: {kind}\r\n")),
            "{path}: {answer}"
        );
        assert!(answer.contains("request_timeout"), "{path}: {answer}");
    });
    join_all(checked).await;
    // The body of a rejected request is not read, so it delays nothing.
    let refused = b"POST /rpc/x HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 1000\r\n\r\n{";
    assert!(
        send_partial_request(&parlor, refused)
            .await
            .starts_with("HTTP/1.1 403 ")
    );
}

/// A client that is not told would send its next request on the same connection.
#[tokio::test]
async fn early_rejections_announce_the_close() {
    let (_folder, _upstream, parlor) = start_parlor().await;
    let head = |path: &str, more: &str| format!("POST {path} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n");
    let json = "Content-Type: application/json\r\n";
    for (request, status) in [
        (
            head(
                "/api/chat/stream",
                "Authorization: Bearer x\r\nContent-Length: 9\r\n",
            ) + "{",
            401,
        ),
        (
            head(
                "/rpc/conversations",
                &format!("{json}Content-Length: 99999999\r\n"),
            ) + "{",
            413,
        ),
        // The beginning of a refused file is read all the same, and does not come.
        (head("/api/files", "Content-Length: 9999999999\r\n") + "%PDF", 408),
        (head("/api/nowhere", "Content-Length: 9\r\n") + "{", 404),
        (
            head("/api/chat/stream", &format!("{json}Content-Length: 1000\r\n")) + "{",
            408,
        ),
    ] {
        let answer = send_partial_request(&parlor, request.as_bytes()).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{request}\n{answer}"
        );
        assert!(
            answer.contains("\r\nconnection: close\r\n"),
            "{request}\n{answer}"
        );
    }
    // After a body that was read, the connection stays open.
    let whole = head("/api/chat/stream", &format!("{json}Content-Length: 2\r\n")) + "{}";
    let next = "GET /api/nothing HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let answers = send_partial_request(&parlor, format!("{whole}{next}").as_bytes()).await;
    assert!(
        answers.contains("HTTP/1.1 404 ") && !answers.contains("connection: close"),
        "{answers}"
    );
}

#[tokio::test]
async fn streams_outlive_the_request_timeout() {
    let (_folder, upstream, parlor) = start_parlor().await;
    let mut run = parlor
        .chat(&json!({ "message": "go", "model": "test/any" }))
        .await;
    assert_eq!(run.next_of_type("text_delta").await["text"], "first");
    // Requests that begin now end at their timeout.
    assert_eq!(send_partial_request(&parlor, HEADS[1]).await, "");
    let body = send_partial_request(&parlor, with_body("/send").as_bytes()).await;
    assert!(body.starts_with("HTTP/1.1 408 "), "{body}");
    upstream.open_gate("more");
    assert_eq!(
        run.next_of_type("complete").await["payload"]["message"],
        "first last"
    );
}
