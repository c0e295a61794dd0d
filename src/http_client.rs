//! Asking over HTTP what the settings name: model servers, search engines, MCP servers. Their addresses are trusted, and may be on
//! this machine. Addresses that models and pages name are another matter: `web` asks those.

use std::{
    net::IpAddr,
    time::{Duration, SystemTime},
};

use reqwest::{Client, ClientBuilder, Url, header::HeaderMap, redirect};

/// A client for one address.
pub fn client_for(url: &Url) -> ClientBuilder {
    install_tls();
    let mut client = Client::builder()
        // A redirect would take keys along, and make a GET of a POST.
        .redirect(redirect::Policy::none())
        .user_agent(concat!("parlor/", env!("CARGO_PKG_VERSION")));
    if is_loopback(url) {
        // HTTP_PROXY is not meant for this machine, even where NO_PROXY forgets it.
        client = client.no_proxy();
    }
    if url.scheme() == "http" {
        // Nothing to check: don't load, and don't depend on, the system's certificates.
        client = client.tls_certs_only([]);
    }
    client
}

/// Makes ring the TLS of this process, unless something else is already. Whoever makes a client calls it; calling it again does
/// nothing.
pub fn install_tls() {
    // An error says that there is one: fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// Whether a URL is one of this very machine.
pub fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

/// How long a server asks to wait: seconds or a date (RFC 9110, 10.2.3), or OpenAI's milliseconds.
pub fn parse_retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .map(str::trim)
    };
    let seconds = |text: &str| {
        text.parse()
            .ok()
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
    };
    if let Some(milliseconds) = text("retry-after-ms").and_then(|text| text.parse().ok()) {
        return Some(Duration::from_millis(milliseconds));
    }
    let after = text("retry-after")?;
    seconds(after).or_else(|| {
        let at = httpdate::parse_http_date(after).ok()?;
        Some(at.duration_since(now).unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    #[test]
    fn parses_every_retry_after_form() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        for (name, value, after) in [
            ("retry-after", "7", Some(7000)),
            ("retry-after", "1.5", Some(1500)),
            ("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT", Some(10_000)),
            ("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("retry-after-ms", "250", Some(250)),
            ("retry-after", "soon", None),
            ("retry-after", "-1", None),
        ] {
            let headers = HeaderMap::from_iter([(name.parse().unwrap(), HeaderValue::from_static(value))]);
            assert_eq!(
                parse_retry_after(&headers, now),
                after.map(Duration::from_millis),
                "{value}"
            );
        }
    }

    #[test]
    fn recognizes_every_loopback_name() {
        for (url, is_here) in [
            ("http://localhost:1", true),
            ("http://x.localhost", true),
            ("http://127.9.9.9", true),
            ("http://[::1]:1", true),
            ("http://localhost.example", false),
            ("http://10.0.0.1", false),
        ] {
            assert_eq!(is_loopback(&url.parse().unwrap()), is_here, "{url}");
        }
    }
}
