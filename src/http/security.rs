//! Who may call at all: until there are accounts, only pages of Parlor itself and programs on this machine, and who has a token.
//!
//! The server listens on loopback only. What is left to fend off is other web pages in this machine's
//! browsers: by a name of theirs that resolves to loopback (DNS rebinding: `Host`), and by requests across
//! sites (`Origin`, `Sec-Fetch-Site`): also those that only read, since that can have others asked. Other pages have no token, so
//! whoever has one may come from anywhere ([`cors`] lets them); and since no browser sends one by itself, it can't be sent in
//! somebody's name. A token that is not taken is no request without one.

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, Uri, header, uri::Authority},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{
    AppState, cors,
    problem::Problem,
    tokens::{self, Access},
};
use crate::api::{ApiError, ErrorCode};

/// Lets a request through or refuses it, and puts the headers on every answer that keep browsers careful.
pub async fn guard(State(app): State<AppState>, mut request: Request, next: Next) -> Response {
    let with_token = is_api(request.uri().path()) && request.headers().contains_key(header::AUTHORIZATION);
    let admitted = admit(&app, request.method(), request.uri(), request.headers()).await;
    let mut response = match admitted {
        Ok(Admitted::Asking) => cors::yes(),
        Ok(Admitted::With(access)) => {
            if let Some(access) = access {
                request.extensions_mut().insert(access);
            }
            next.run(request).await
        }
        Err(error) => Problem(error).into_response(),
    };
    let headers = response.headers_mut();
    if with_token {
        cors::let_read(headers);
    }
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

/// A request that may come.
enum Admitted {
    /// A browser asks whether a page of another site may send a token.
    Asking,
    /// The token that it came with.
    With(Option<Access>),
}

/// What a request may do; an error if it may not come at all.
async fn admit(
    app: &AppState,
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<Admitted, ApiError> {
    check_host(uri, headers)?;
    if is_api(uri.path()) {
        if cors::asks(method, headers) {
            return Ok(Admitted::Asking);
        }
        if let Some(access) = app.tokens.check(headers).await? {
            return Ok(Admitted::With(Some(access)));
        }
    } else if tokens::is_with(headers) {
        return Err(tokens::refused("API tokens are taken under /api/ only."));
    }
    check_site(method, uri, headers)?;
    Ok(Admitted::With(None))
}

/// Whether an address is one of the public contract. The page's own functions are not.
fn is_api(path: &str) -> bool {
    path == "/api" || path.starts_with("/api/")
}

fn forbidden(reason: &str) -> ApiError {
    ApiError::new(ErrorCode::Forbidden, reason)
}

fn check_host(uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
    let host = host(uri, headers).ok_or_else(|| forbidden("The request names no host."))?;
    if !is_loopback(host.host()) {
        return Err(forbidden(
            "Parlor answers only under a loopback name, such as http://127.0.0.1 or http://localhost.",
        ));
    }
    Ok(())
}

/// Whether a request comes from a page of Parlor, or from no page at all. Pages of other sites may lead to Parlor's, no more: what
/// they only load can have PubMed asked, and so keep others from asking it.
fn check_site(method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), ApiError> {
    if let Some(site) = headers.get("sec-fetch-site")
        && !matches!(site.as_bytes(), b"same-origin" | b"none")
        && !(method.is_safe() && leads_here(headers))
    {
        return Err(forbidden("The request came from another site."));
    }
    if method.is_safe() {
        return Ok(());
    }
    if let Some(origin) = headers.get(header::ORIGIN) {
        let origin = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
        let host = host(uri, headers);
        let is_here = |authority: &str| {
            host.as_ref()
                .is_some_and(|host| authority.eq_ignore_ascii_case(host.as_str()))
        };
        if !origin.is_some_and(|(_, authority)| is_here(authority)) {
            return Err(forbidden("The request came from another origin."));
        }
    }
    Ok(())
}

/// Whether the person leaves a page for one of ours. One that is loaded in a frame, or in advance, is not seen to be ours.
fn leads_here(headers: &HeaderMap) -> bool {
    let is = |name: &str, value: &str| headers.get(name).is_some_and(|sent| sent == value);
    is("sec-fetch-mode", "navigate")
        && is("sec-fetch-dest", "document")
        && !headers.contains_key("sec-purpose")
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
        let uri = Uri::from_static("/x");
        check_host(&uri, &headers)
            .and_then(|()| check_site(&method, &uri, &headers))
            .is_ok()
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

    #[test]
    fn other_sites_may_lead_here_and_load_nothing_from_here() {
        let host = ("host", "localhost:8080");
        let cases = [
            (vec![], true),
            (
                vec![("sec-fetch-site", "none"), ("sec-fetch-dest", "image")],
                true,
            ),
            (
                vec![("sec-fetch-site", "same-origin"), ("sec-fetch-mode", "cors")],
                true,
            ),
            (vec![("sec-fetch-site", "cross-site")], false),
            (fetched("no-cors", "image"), false),
            (fetched("cors", "empty"), false),
            (fetched("navigate", "iframe"), false),
            (fetched("navigate", "document"), true),
            (
                [fetched("navigate", "document"), vec![("sec-purpose", "prefetch")]].concat(),
                false,
            ),
        ];
        for (more, allowed) in cases {
            let headers: Vec<_> = [host].into_iter().chain(more).collect();
            for method in [Method::GET, Method::HEAD] {
                assert_eq!(checked(method, &headers), allowed, "{headers:?}");
            }
        }
        let headers: Vec<_> = [host]
            .into_iter()
            .chain(fetched("navigate", "document"))
            .collect();
        assert!(
            !checked(Method::POST, &headers),
            "a form of theirs is none of ours"
        );
    }

    fn fetched(mode: &'static str, dest: &'static str) -> Vec<(&'static str, &'static str)> {
        vec![
            ("sec-fetch-site", "same-site"),
            ("sec-fetch-mode", mode),
            ("sec-fetch-dest", dest),
        ]
    }
}
