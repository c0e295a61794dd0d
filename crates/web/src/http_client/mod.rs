//! HTTP clients for servers named in the settings: model servers, search engines, MCP servers. Their
//! URLs are trusted and may be on this machine. URLs from models and pages are not trusted: `web`
//! requests those. [`causes`] lists the causes of a failed request, [`roots`] has the CA certificates of all clients.

pub mod causes;
mod roots;

use std::{
    env,
    net::IpAddr,
    time::{Duration, SystemTime},
};

pub use self::roots::with_roots;

use crate::guard::guarded_resolver;
use reqwest::{Client, ClientBuilder, Url, header::HeaderMap, redirect};

/// Returns a builder of a client for one URL.
pub fn client_for(url: &Url) -> ClientBuilder {
    install_tls();
    let mut client = Client::builder()
        // A redirect would forward keys, and turn a POST into a GET.
        .redirect(redirect::Policy::none())
        .user_agent(concat!("parlor/", env!("CARGO_PKG_VERSION")));
    if is_loopback(url) {
        // HTTP_PROXY does not apply to this machine, even if NO_PROXY lacks it.
        client = client.no_proxy();
    }
    if url.scheme() == "http" {
        // No certificates are checked: the system's need not exist and are not loaded.
        return client.tls_certs_only([]);
    }
    with_roots(client)
}

/// Returns a builder of a client for the URL of a public service, which never connects to an internal IP address, whatever its name
/// resolves to. Behind a proxy of the environment, the proxy decides where it connects.
pub fn public_client_for(url: &Url) -> ClientBuilder {
    match has_proxy() {
        true => client_for(url),
        false => client_for(url).dns_resolver(guarded_resolver()),
    }
}

/// Returns true if the environment names a proxy.
fn has_proxy() -> bool {
    let names = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
    names
        .iter()
        .any(|name| env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// Installs ring as the TLS provider of this process, unless there is one already. Everything that creates a
/// client calls it; repeated calls have no effect.
pub fn install_tls() {
    // An error means that a provider is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// Returns true if a URL leads to this machine.
pub fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

/// Returns the delay that a server requests: seconds or a date (RFC 9110, 10.2.3), or OpenAI's milliseconds.
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
