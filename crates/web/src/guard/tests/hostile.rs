//! Hundreds of URLs that lead to internal hosts, against internal listeners that count
//! connections.

use std::{
    collections::HashSet,
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::atomic::Ordering,
    time::Duration,
};

use super::{
    hostile_urls::{internal_names, internal_urls},
    *,
};
use crate::FetchError;

/// Listeners on one port of several loopback addresses. Only [`InternalListeners::connections`]
/// accepts from them.
struct InternalListeners {
    port: u16,
    listeners: Vec<TcpListener>,
}

impl InternalListeners {
    fn listen() -> Self {
        let first = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = first.local_addr().unwrap().port();
        let others = ["127.0.0.2", "127.1.2.3", "::1"].into_iter();
        let others = others.filter_map(|ip| TcpListener::bind((ip, port)).ok());
        let listeners: Vec<_> = [first].into_iter().chain(others).collect();
        Self { port, listeners }
    }

    /// Returns the number of connections so far. A listener accepts them in order, so all that come
    /// before this call's own are counted.
    fn connections(&self) -> usize {
        let of_one = |listener: &TcpListener| {
            let last = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let last = last.local_addr().unwrap();
            let before = std::iter::repeat_with(|| listener.accept().unwrap().1);
            before.take_while(|from| *from != last).count()
        };
        self.listeners.iter().map(of_one).sum()
    }
}

/// Returns `true` if a URL was refused by the check. Any other error would mean that a
/// connection was tried.
fn is_refusal(response: &Result<Download, FetchError>) -> bool {
    use FetchError::{
        HasCredentials, InternalAddress, InvalidRedirect, InvalidUrl, Status, UnsupportedScheme,
    };
    match response {
        Ok(_) => false,
        // A redirect without its own host leads to the redirector, which has no other page.
        Err(Status { status }) => *status == 404,
        Err(error) => matches!(
            error,
            InvalidRedirect | HasCredentials | InternalAddress(_) | InvalidUrl(_) | UnsupportedScheme(_)
        ),
    }
}

#[tokio::test]
async fn hostile_urls_never_connect_inside() {
    let inside = InternalListeners::listen();
    let named = internal_names(inside.port);
    let mut urls = internal_urls(inside.port);
    urls.extend(named.iter().map(|(url, _)| url.clone()));
    assert!(urls.len() >= 300, "{}", urls.len());
    assert_eq!(
        urls.iter().collect::<HashSet<_>>().len(),
        urls.len(),
        "all differ"
    );

    // Each of them is also the target of a redirect from an allowed host, which must not help.
    let locations = urls.clone();
    let redirector = serve(move |request| {
        let number = request.split(['/', ' ']).nth(2).unwrap();
        match number.parse::<usize>() {
            Ok(number) => {
                // Characters that a header can't contain.
                let location = locations[number].replace(['\n', '\t', '\u{1}'], "");
                http_response("302 Found", &format!("location: {location}\r\n"), b"")
            }
            Err(_) => http_response("404 Not Found", "", b""),
        }
    })
    .await;
    // Every name resolves to an internal address.
    let names = FakeNames::new(move |name, _| {
        let is_it = |url: &str| url.split(['/', ':']).nth(3) == Some(name);
        let known = named.iter().find(|(url, _)| is_it(url));
        known.map_or(vec![Ipv4Addr::LOCALHOST.into()], |(_, ips)| ips.clone())
    });
    let config = WebConfig {
        allowed_hosts: vec![format!("redirector.test:{redirector}")],
        ..WebConfig::default()
    };
    let client = WebClient::with_resolver(config, names).unwrap();

    // The redirector's name is allowed on its own port only, and its address not at all.
    urls.push(format!("http://redirector.test:{}/", inside.port));
    urls.push(format!("http://127.0.0.1:{redirector}/0"));
    urls.extend((0..urls.len() - 2).map(|number| format!("http://redirector.test:{redirector}/{number}")));

    let mut outcome = Ok(());
    for url in &urls {
        let response = client.get(url, |_| true).await;
        if !is_refusal(&response) {
            // With a hole in the guard, each of them could take its time.
            outcome = Err((url, response));
            break;
        }
    }
    assert_eq!(inside.connections(), 0, "{outcome:?}");
    assert_eq!(outcome, Ok(()));
}

#[tokio::test]
async fn resolves_each_name_once() {
    let inside = InternalListeners::listen();
    // First an external address without a route (the range is unassigned), and then an internal
    // one.
    let names = FakeNames::new(|_, before| match before {
        0 => vec!["2d00::1".parse().unwrap()],
        _ => vec![Ipv4Addr::LOCALHOST.into()],
    });
    let config = WebConfig {
        timeout: Duration::from_millis(500),
        ..WebConfig::default()
    };
    let client = WebClient::with_resolver(config, names.clone()).unwrap();
    let url = format!("http://rebind.test:{}/", inside.port);

    let error = client.get(&url, |_| true).await.unwrap_err();
    assert!(
        matches!(error, FetchError::Unreachable { .. } | FetchError::Timeout(_)),
        "{error:?}"
    );
    assert_eq!(names.asked.load(Ordering::SeqCst), 1);
    assert_eq!(
        client.get(&url, |_| true).await,
        Err(FetchError::InternalAddress("rebind.test".into()))
    );
    assert_eq!(inside.connections(), 0);
}

#[tokio::test]
async fn rejects_answers_from_internal_peers() {
    let port = serve(|_| http_response("200 OK", "", b"secret")).await;
    let names = FakeNames::new(|_, _| vec![Ipv4Addr::LOCALHOST.into()]);
    let client = WebClient::without_name_check(WebConfig::default(), names).unwrap();
    assert_eq!(
        client.get(&format!("http://inside.test:{port}/"), |_| true).await,
        Err(FetchError::InternalAddress("inside.test".into()))
    );
}

#[test]
fn listeners_count_connections() {
    let inside = InternalListeners::listen();
    assert_eq!(inside.connections(), 0);
    for listener in &inside.listeners {
        let address: SocketAddr = listener.local_addr().unwrap();
        drop(TcpStream::connect(address).unwrap());
    }
    assert_eq!(inside.connections(), inside.listeners.len());
}
