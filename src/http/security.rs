//! Who may call at all: until there are accounts, only pages of Parlor itself and programs on this machine.
//!
//! The server listens on loopback only. What is left to fend off is other web pages in this machine's
//! browsers: by a name of theirs that resolves to loopback (DNS rebinding: `Host`), and by requests across
//! sites (`Origin`, `Sec-Fetch-Site`).

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderValue, Method, Uri, header, uri::Authority},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::problem::Problem;
use crate::api::{ApiError, ErrorCode};

/// Lets a request through or refuses it, and puts the headers on every answer that keep browsers careful.
pub async fn guard(request: Request, next: Next) -> Response {
    let mut response = match check(request.method(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(reason) => Problem(ApiError::new(ErrorCode::Forbidden, reason)).into_response(),
    };
    let headers = response.headers_mut();
    let always = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ];
    for (name, value) in always {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(
        "cross-origin-opener-policy",
        HeaderValue::from_static("same-origin"),
    );
    headers.insert(
        "cross-origin-resource-policy",
        HeaderValue::from_static("same-origin"),
    );
    // A page brings its own, with its nonce.
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static(
            "default-src 'none'; frame-ancestors 'none'",
        ));
    response
}

fn check(method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), &'static str> {
    let host = host(uri, headers).ok_or("The request names no host.")?;
    if !is_loopback(host.host()) {
        return Err(
            "Parlor answers only under a loopback name, such as http://127.0.0.1 or http://localhost.",
        );
    }
    if method.is_safe() {
        return Ok(());
    }
    if let Some(site) = headers.get("sec-fetch-site")
        && !matches!(site.as_bytes(), b"same-origin" | b"none")
    {
        return Err("The request came from another site.");
    }
    if let Some(origin) = headers.get(header::ORIGIN) {
        let origin = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
        if !origin.is_some_and(|(_, authority)| authority.eq_ignore_ascii_case(host.as_str())) {
            return Err("The request came from another origin.");
        }
    }
    Ok(())
}

/// The host that the client believes it talks with.
fn host(uri: &Uri, headers: &HeaderMap) -> Option<Authority> {
    let header = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok()?.parse().ok());
    header.or_else(|| uri.authority().cloned())
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || address
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(method: Method, headers: &[(&'static str, &str)]) -> bool {
        let headers = headers
            .iter()
            .map(|(name, value)| {
                (
                    header::HeaderName::from_static(name),
                    HeaderValue::from_str(value).unwrap(),
                )
            })
            .collect();
        check(&method, &Uri::from_static("/x"), &headers).is_ok()
    }

    #[test]
    fn only_loopback_names_are_answered() {
        for host in [
            "127.0.0.1:8080",
            "localhost",
            "LOCALHOST:1",
            "[::1]:8080",
            "127.9.9.9",
        ] {
            assert!(checked(Method::GET, &[("host", host)]), "{host}");
        }
        for host in [
            "example.com",
            "127.0.0.1.example.com",
            "192.168.0.1",
            "localhost.example.com",
            "",
            "[::2]",
        ] {
            assert!(!checked(Method::GET, &[("host", host)]), "{host}");
        }
        assert!(!checked(Method::GET, &[]));
    }

    #[test]
    fn other_sites_change_nothing() {
        let host = ("host", "localhost:8080");
        let cases = [
            (vec![], true),
            (vec![("origin", "http://localhost:8080")], true),
            (
                vec![
                    ("sec-fetch-site", "same-origin"),
                    ("origin", "http://localhost:8080"),
                ],
                true,
            ),
            (vec![("origin", "http://localhost:9090")], false),
            (vec![("origin", "http://evil.example")], false),
            (vec![("origin", "null")], false),
            (vec![("sec-fetch-site", "cross-site")], false),
            (vec![("sec-fetch-site", "same-site")], false),
        ];
        for (more, allowed) in cases {
            let headers: Vec<_> = [host].into_iter().chain(more).collect();
            assert_eq!(checked(Method::POST, &headers), allowed, "{headers:?}");
        }
    }
}
