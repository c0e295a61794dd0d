//! Raw requests that no HTTP library would send.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};
use tracing::Level;

use super::captures::{LogCapture, PanicCapture};
use crate::support::TEST_TIMEOUT;

#[tokio::test]
async fn malformed_requests_do_no_harm() {
    let (_folder, _upstream, parlor) = super::start_parlor().await;
    let (log, panics) = (LogCapture::start(Level::ERROR), PanicCapture::start());
    let address = parlor.url.strip_prefix("http://").unwrap();
    let many: String = (0..200).map(|n| format!("X-{n}: 1\r\n")).collect();
    let long = "x".repeat(500_000);
    let host = "Host: localhost\r\nConnection: close\r\n";
    let json = "Content-Type: application/json\r\n";
    let requests = [
        "\r\n\r\n\r\n".to_owned(),
        "GET /\r\n\r\n".into(),
        "GET / HTTP/9.9\r\n\r\n".into(),
        "GET / HTTP/1.0\r\n\r\n".into(),
        format!("CONNECT localhost:80 HTTP/1.1\r\n{host}\r\n"),
        format!("CONNECT evil.example:80 HTTP/1.1\r\n{host}\r\n"),
        format!("OPTIONS * HTTP/1.1\r\n{host}\r\n"),
        format!("GET http://evil.example/ HTTP/1.1\r\n{host}\r\n"),
        format!("GET http://localhost/api/models HTTP/1.1\r\n{host}\r\n"),
        format!("GET //api//models HTTP/1.1\r\n{host}\r\n"),
        format!("GET /../../etc/passwd HTTP/1.1\r\n{host}\r\n"),
        format!("GET /pkg/../manifest.json HTTP/1.1\r\n{host}\r\n"),
        format!("GET /\0 HTTP/1.1\r\n{host}\r\n"),
        format!("GET /é HTTP/1.1\r\n{host}\r\n"),
        format!("GET / HTTP/1.1\r\n{host}X: a\0b\r\n\r\n"),
        format!("GET / HTTP/1.1\r\n{host}X: a\r\n folded\r\n\r\n"),
        format!("GET / HTTP/1.1\r\n{host}{host}\r\n"),
        format!("GET / HTTP/1.1\r\n{host}{many}\r\n"),
        format!("GET /{long} HTTP/1.1\r\n{host}\r\n"),
        format!("GET / HTTP/1.1\r\n{host}X: {long}\r\n\r\n"),
        format!("GET /rpc/models HTTP/1.1\r\n{host}Upgrade: websocket\r\nConnection: upgrade\r\n\r\n"),
        format!("POST /rpc/mark_read HTTP/1.1\r\n{host}{json}Content-Length: -1\r\n\r\n"),
        format!(
            "POST /rpc/mark_read HTTP/1.1\r\n{host}{json}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{{}}"
        ),
        format!(
            "POST /rpc/mark_read HTTP/1.1\r\n{host}{json}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{{}}"
        ),
        format!(
            "POST /rpc/mark_read HTTP/1.1\r\n{host}{json}Transfer-Encoding: chunked\r\n\r\nzz\r\n{{}}\r\n0\r\n\r\n"
        ),
        format!(
            "POST /api/chat/stream HTTP/1.1\r\n{host}{json}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\n"
        ),
        format!(
            "POST /api/chat/stream HTTP/1.1\r\n{host}{json}Expect: 200-maybe\r\nContent-Length: 2\r\n\r\n{{}}"
        ),
    ];
    for request in requests {
        let mut connection = TcpStream::connect(address).await.unwrap();
        // The server may close the connection before all is sent.
        connection.write_all(request.as_bytes()).await.ok();
        connection.shutdown().await.ok();
        let mut answer = Vec::new();
        let read = timeout(TEST_TIMEOUT, connection.read_to_end(&mut answer)).await;
        let shown: String = request.chars().take(200).collect();
        read.unwrap_or_else(|_| panic!("no end of {shown:?}")).ok();
        let answer = String::from_utf8_lossy(&answer);
        assert!(!answer.starts_with("HTTP/1.1 5"), "{shown:?}: {answer}");
    }
    assert_eq!((panics.text(), log.text()), Default::default());
    assert_eq!(parlor.get("/healthz").send().await.unwrap().status(), 200);
}
