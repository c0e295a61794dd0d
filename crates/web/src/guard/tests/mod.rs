//! The client against allowed servers on this machine. Forbidden URLs are in [`hostile`].

mod hostile;
mod hostile_urls;

use std::{
    io::Write,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use flate2::{Compression, write::GzEncoder};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::*;
use crate::FetchError;

/// Resolves names by a function of the name and the number of earlier requests for it.
pub struct FakeNames<F> {
    pub names: F,
    pub asked: AtomicUsize,
}

impl<F: Fn(&str, usize) -> Vec<IpAddr> + Send + Sync + 'static> FakeNames<F> {
    pub fn new(names: F) -> Arc<Self> {
        let asked = AtomicUsize::new(0);
        Arc::new(Self { names, asked })
    }
}

impl<F: Fn(&str, usize) -> Vec<IpAddr> + Send + Sync> Resolve for FakeNames<F> {
    fn resolve(&self, name: Name) -> Resolving {
        let before = self.asked.fetch_add(1, Ordering::SeqCst);
        let addresses = (self.names)(name.as_str(), before);
        let addresses = addresses.into_iter().map(|ip| SocketAddr::new(ip, 0));
        let addresses: Vec<_> = addresses.collect();
        Box::pin(async move { Ok(Box::new(addresses.into_iter()) as Addrs) })
    }
}

/// Starts a server that passes every request to `response` and sends the result; returns its port.
pub async fn serve(response: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Some((mut stream, request)) = read_head(stream).await else {
                continue;
            };
            let _ = stream.write_all(&response(&request)).await;
        }
    });
    port
}

async fn read_head(mut stream: TcpStream) -> Option<(TcpStream, String)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    Some((stream, String::from_utf8(head).ok()?))
}

pub fn http_response(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let mut response =
        format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n")
            .into_bytes();
    response.extend_from_slice(body);
    response
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A client that may reach this machine under the name `inside.test`.
fn client(config: WebConfig) -> WebClient {
    let config = WebConfig {
        allowed_hosts: vec!["inside.test".into()],
        ..config
    };
    let names = FakeNames::new(|_, _| vec![Ipv4Addr::LOCALHOST.into()]);
    WebClient::with_resolver(config, names).unwrap()
}

async fn get(config: WebConfig, port: u16) -> Result<Download, FetchError> {
    client(config)
        .get(&format!("http://inside.test:{port}/"), |_| true)
        .await
}

#[tokio::test]
async fn fetches_from_an_allowed_internal_host() {
    let port =
        serve(|request| http_response("200 OK", "content-type: text/plain\r\n", request.as_bytes())).await;
    let download = get(WebConfig::default(), port).await.unwrap();
    assert_eq!(download.url.as_str(), format!("http://inside.test:{port}/"));
    assert_eq!(download.content_type, "text/plain");
    assert!(!download.is_cut);
    let mut lines: Vec<_> = str::from_utf8(&download.body).unwrap().trim().lines().collect();
    lines[1..].sort_unstable();
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        lines,
        [
            "GET / HTTP/1.1",
            "accept-encoding: gzip",
            "accept: text/html, application/xhtml+xml, text/plain;q=0.9, application/json;q=0.9, text/*;q=0.8, */*;q=0.1",
            &format!("host: inside.test:{port}"),
            &format!("user-agent: Parlor/{version}"),
        ]
    );
}

#[tokio::test]
async fn does_not_read_unwanted_types() {
    let endless =
        "HTTP/1.1 200 OK\r\ncontent-type: application/pdf; x=y\r\ncontent-length: 99999999\r\n\r\n%PDF";
    let port = serve(move |_| endless.into()).await;
    let error = client(WebConfig::default())
        .get(&format!("http://inside.test:{port}/"), |kind| kind == "text/html")
        .await;
    assert_eq!(error, Err(FetchError::UnsupportedType("application/pdf".into())));
}

#[tokio::test]
async fn reads_a_body_up_to_the_limit() {
    let port = serve(|_| http_response("200 OK", "", b"0123456789")).await;
    for (max_bytes, body, is_cut) in [
        (11, "0123456789", false),
        (10, "0123456789", false),
        (9, "012345678", true),
    ] {
        let config = WebConfig {
            max_bytes,
            ..WebConfig::default()
        };
        let download = get(config, port).await.unwrap();
        assert_eq!((&*download.body, download.is_cut), (body.as_bytes(), is_cut));
    }
}

#[tokio::test]
async fn unpacks_a_bomb_up_to_the_limit() {
    let bomb = gzip(&vec![b'a'; 8 << 20]);
    assert!(bomb.len() < 10 << 10);
    let port = serve(move |_| http_response("200 OK", "content-encoding: gzip\r\n", &bomb)).await;
    let config = WebConfig {
        max_bytes: 1 << 20,
        ..WebConfig::default()
    };
    let download = get(config, port).await.unwrap();
    assert_eq!((download.body.len(), download.is_cut), (1 << 20, true));
}

#[tokio::test]
async fn limits_compressed_input_without_output() {
    let nothing = gzip(b"").repeat(1000);
    let port = serve(move |_| http_response("200 OK", "content-encoding: gzip\r\n", &nothing)).await;
    let config = WebConfig {
        max_bytes: 1000,
        ..WebConfig::default()
    };
    let download = get(config, port).await.unwrap();
    assert_eq!((download.body.len(), download.is_cut), (0, true));
}

#[tokio::test]
async fn unpacks_text_and_rejects_garbled_data() {
    let packed = gzip(b"hello");
    let half = packed[..packed.len() - 9].to_vec();
    let port = serve(move |_| http_response("200 OK", "content-encoding: GZip\r\n", &packed)).await;
    assert_eq!(get(WebConfig::default(), port).await.unwrap().body, b"hello");
    let port = serve(move |_| http_response("200 OK", "content-encoding: gzip\r\n", &half)).await;
    assert_eq!(
        get(WebConfig::default(), port).await,
        Err(FetchError::ConnectionBroken)
    );
    let port = serve(|_| http_response("200 OK", "content-encoding: gzip\r\n", b"hello")).await;
    assert_eq!(
        get(WebConfig::default(), port).await,
        Err(FetchError::ConnectionBroken)
    );
    let port = serve(|_| http_response("200 OK", "content-encoding: br\r\n", b"hello")).await;
    assert_eq!(get(WebConfig::default(), port).await, Err(FetchError::Unreadable));
}

#[tokio::test]
async fn broken_off_body_is_an_error() {
    let port = serve(|_| b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello".to_vec()).await;
    assert_eq!(
        get(WebConfig::default(), port).await,
        Err(FetchError::ConnectionBroken)
    );
}

#[tokio::test]
async fn follows_limited_redirects() {
    // /5 redirects to /4 … to /0, which is the page.
    let port = serve(|request| {
        let left = request.as_bytes()[5] - b'0';
        match left.checked_sub(1) {
            Some(next) => http_response(
                "302 Found",
                &format!("location: {next}\r\nset-cookie: a=b\r\n"),
                b"",
            ),
            None => http_response("200 OK", "", request.as_bytes()),
        }
    })
    .await;
    let client = client(WebConfig::default());
    let from = |n: usize| format!("http://inside.test:{port}/{n}");
    let page = client.get(&from(5), |_| true).await.unwrap();
    assert_eq!(page.url.as_str(), from(0));
    let request = String::from_utf8(page.body).unwrap();
    assert!(
        !request.contains("cookie") && !request.contains("referer"),
        "{request}"
    );
    assert_eq!(
        client.get(&from(6), |_| true).await,
        Err(FetchError::TooManyRedirects(5))
    );
}

#[tokio::test]
async fn unsuccessful_status_is_an_error() {
    let port = serve(|_| http_response("404 Not Found", "", b"no")).await;
    assert_eq!(
        get(WebConfig::default(), port).await,
        Err(FetchError::Status { status: 404 })
    );
}

#[tokio::test]
async fn times_out_on_an_endless_answer() {
    let timeout = Duration::from_millis(200);
    let config = WebConfig {
        timeout,
        ..WebConfig::default()
    };
    // It accepts nothing, but the kernel completes the connection.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    assert_eq!(get(config, port).await, Err(FetchError::Timeout(timeout)));
}

#[tokio::test]
async fn reports_unreachable_and_unknown_hosts() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr();
    assert_eq!(
        get(WebConfig::default(), closed.unwrap().port()).await,
        Err(FetchError::Unreachable {
            host: "inside.test".into(),
            cause: "nothing answers there".into()
        })
    );
    let nobody = WebClient::with_resolver(WebConfig::default(), FakeNames::new(|_, _| vec![])).unwrap();
    assert_eq!(
        nobody.get("http://nowhere.test/", |_| true).await,
        Err(FetchError::UnknownHost("nowhere.test".into()))
    );
}

#[tokio::test]
async fn names_an_invalid_setting() {
    let config = WebConfig {
        allowed_hosts: vec!["http://wiki".into()],
        ..WebConfig::default()
    };
    let error = WebClient::new(config).unwrap_err().to_string();
    assert!(error.starts_with("\"http://wiki\" is neither a host"), "{error}");
}
