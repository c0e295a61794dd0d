//! Tests of the access rules for request headers.

use axum::http::{HeaderName, HeaderValue};

use super::*;
use parlor_base::settings::{AuthMode, Settings};

const LOCAL_HOST: (&str, &str) = ("host", "localhost:8080");

fn check_site_at(
    method: Method,
    uri: &'static str,
    headers: &[(&'static str, &str)],
) -> Result<(), ApiError> {
    let value = |value: &str| HeaderValue::from_bytes(value.as_bytes()).unwrap();
    let mut map = HeaderMap::new();
    for (name, text) in headers {
        map.append(HeaderName::from_static(name), value(text));
    }
    let head = RequestHead {
        method: &method,
        uri: &Uri::from_static(uri),
        headers: &map,
    };
    let hosts = hosts(AuthMode::None);
    let host = head.check_host(&hosts)?;
    head.check_site(&host, &hosts)
}

fn hosts(auth: AuthMode) -> Hosts {
    let mut settings = Settings::default();
    settings.server.data = Some("/nowhere".into());
    settings.server.allowed_hosts = vec!["parlor.lan".into(), "parlor.lan:8443".into()];
    settings.accounts.auth = auth;
    Hosts::open(&settings)
}

fn is_accepted(method: Method, headers: &[(&'static str, &str)]) -> bool {
    check_site_at(method, "/x", headers).is_ok()
}

fn with_host_header(more: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    [LOCAL_HOST].into_iter().chain(more.iter().copied()).collect()
}

fn fetch_headers(mode: &'static str, dest: &'static str) -> Vec<(&'static str, &'static str)> {
    vec![
        ("sec-fetch-site", "same-site"),
        ("sec-fetch-mode", mode),
        ("sec-fetch-dest", dest),
    ]
}

#[test]
fn answers_under_loopback_and_allowed_names_only() {
    for host in [
        "127.0.0.1:8080",
        "localhost",
        "LOCALHOST:1",
        "[::1]:8080",
        "127.9.9.9",
        "parlor.lan",
        "Parlor.LAN:8443",
    ] {
        assert!(is_accepted(Method::GET, &[("host", host)]), "{host}");
    }
    for host in [
        "example.com",
        "127.0.0.1.example.com",
        "192.168.0.1",
        "localhost.example.com",
        "",
        "[::2]",
        "evil@127.0.0.1",
        "parlor.lan:81",
        "a.parlor.lan",
    ] {
        assert!(!is_accepted(Method::GET, &[("host", host)]), "{host}");
    }
    assert!(!is_accepted(Method::GET, &[]));
    assert!(!is_accepted(Method::GET, &[LOCAL_HOST, LOCAL_HOST]), "twice");
    let absolute = |uri| check_site_at(Method::GET, uri, &[LOCAL_HOST]).is_ok();
    assert!(absolute("http://localhost:8080/x") && !absolute("http://example.com/x"));
}

/// Without accounts, whoever is in the network would have everything. A name can be an attacker's in any case.
#[test]
fn answers_under_addresses_only_with_accounts() {
    let is_accepted = |auth, host: &str| {
        let headers = HeaderMap::from_iter([(header::HOST, HeaderValue::from_str(host).unwrap())]);
        let head = RequestHead {
            method: &Method::GET,
            uri: &Uri::from_static("/"),
            headers: &headers,
        };
        head.check_host(&hosts(auth)).is_ok()
    };
    for host in [
        "192.168.0.1",
        "192.168.0.1:7387",
        "203.0.113.7",
        "[fd00::7]:7387",
        "[2001:db8::1]",
    ] {
        assert!(is_accepted(AuthMode::Password, host), "{host}");
        assert!(!is_accepted(AuthMode::None, host), "{host}");
    }
    for host in [
        "evil.example",
        "192.168.0.1.evil.example",
        "192.168.0.1.nip.io:7387",
        "evil@192.168.0.1",
        // Browsers write these as addresses.
        "3232235521",
        "0xc0a80001",
        "192.168.1",
        "nas.local",
    ] {
        assert!(!is_accepted(AuthMode::Password, host), "{host}");
    }
}

#[test]
fn rejected_host_error_names_the_setting() {
    let error = check_site_at(Method::GET, "/", &[("host", "chat.example:81")]).unwrap_err();
    assert!(
        error
            .message
            .contains("\"chat.example:81\" to the setting server.allowed_hosts"),
        "{error}"
    );
    let page = [LOCAL_HOST, ("origin", "https://chat.example")];
    let error = check_site_at(Method::POST, "/rpc/x", &page).unwrap_err();
    assert!(
        error
            .message
            .contains("\"chat.example\" to the setting server.allowed_hosts"),
        "{error}"
    );
}

#[test]
fn rejects_cross_origin_for_every_method() {
    let cases: [(&[(&str, &str)], bool); 12] = [
        (&[], true),
        (&[("origin", "http://localhost:8080")], true),
        (&[("origin", "https://LOCALHOST:8080")], true),
        (
            &[
                ("sec-fetch-site", "same-origin"),
                ("origin", "http://localhost:8080"),
            ],
            true,
        ),
        (&[("origin", "https://parlor.lan")], true),
        (&[("origin", "http://localhost:9090")], false),
        (&[("origin", "http://evil.example")], false),
        (&[("origin", "ftp://localhost:8080")], false),
        (&[("origin", "null")], false),
        (&[("origin", "")], false),
        (
            &[
                ("origin", "http://localhost:8080"),
                ("origin", "http://evil.example"),
            ],
            false,
        ),
        (&[("origin", "é")], false),
    ];
    for (more, allowed) in cases {
        for method in [Method::GET, Method::HEAD, Method::POST, Method::OPTIONS] {
            assert_eq!(
                is_accepted(method, &[&[LOCAL_HOST], more].concat()),
                allowed,
                "{more:?}"
            );
        }
    }
}

#[test]
fn rejects_foreign_referers() {
    let cases: [(&[(&str, &str)], bool); 9] = [
        (
            &[("referer", "http://parlor.lan/c/1?q=http://evil.example/")],
            true,
        ),
        (&[("referer", "https://PARLOR.lan:8443/")], true),
        (&[("referer", "http://evil.example/")], false),
        (&[("referer", "http://evil.example/http://parlor.lan/")], false),
        (&[("referer", "http://parlor.lan:81/")], false),
        (&[("referer", "http://parlor.lan@evil.example/")], false),
        (&[("referer", "about:client")], false),
        (
            &[
                ("referer", "http://parlor.lan/"),
                ("referer", "http://evil.example/"),
            ],
            false,
        ),
        // A browser's own statement of the origin is trusted.
        (
            &[
                ("referer", "http://evil.example/"),
                ("sec-fetch-site", "same-origin"),
            ],
            true,
        ),
    ];
    let at = |path, more: &[(&'static str, &'static str)]| {
        check_site_at(Method::GET, path, &[&[("host", "parlor.lan")], more].concat()).is_ok()
    };
    for (more, allowed) in cases {
        assert_eq!(at("/rpc/search_articles?query=x", more), allowed, "{more:?}");
        assert!(at("/c/1", more), "links from anywhere are allowed: {more:?}");
    }
    assert!(at("/rpc/models", &[]), "programs send no such headers");
}

#[test]
fn own_assets_load_behind_a_rewriting_proxy() {
    let theirs = ("origin", "https://chat.example");
    let module = with_host_header(&[
        theirs,
        ("sec-fetch-site", "same-origin"),
        ("sec-fetch-mode", "cors"),
    ]);
    assert!(check_site_at(Method::GET, "/pkg/parlor.js", &module).is_ok());
    for path in ["/", "/rpc/models", "/pkgs"] {
        assert!(check_site_at(Method::GET, path, &module).is_err(), "{path}");
    }
    let of_another = with_host_header(&[theirs, ("sec-fetch-site", "cross-site")]);
    assert!(check_site_at(Method::GET, "/pkg/parlor.js", &of_another).is_err());
    assert!(check_site_at(Method::GET, "/pkg/parlor.js", &with_host_header(&[theirs])).is_err());
}

#[test]
fn rejects_cross_site_for_every_method() {
    for site in ["cross-site", "same-site", "", "same-origin, none", "é"] {
        for method in [Method::GET, Method::POST, Method::OPTIONS] {
            assert!(
                !is_accepted(method, &[LOCAL_HOST, ("sec-fetch-site", site)]),
                "{site}"
            );
        }
    }
    let twice = with_host_header(&[
        ("sec-fetch-site", "same-origin"),
        ("sec-fetch-site", "cross-site"),
    ]);
    assert!(!is_accepted(Method::GET, &twice));
}

#[test]
fn other_sites_may_link_but_not_load() {
    let leads = fetch_headers("navigate", "document");
    let cases = [
        (
            vec![("sec-fetch-site", "none"), ("sec-fetch-dest", "image")],
            true,
        ),
        (
            vec![("sec-fetch-site", "same-origin"), ("sec-fetch-mode", "cors")],
            true,
        ),
        (fetch_headers("no-cors", "image"), false),
        (fetch_headers("cors", "empty"), false),
        (fetch_headers("navigate", "iframe"), false),
        (leads.clone(), true),
        ([leads.clone(), vec![("sec-purpose", "prefetch")]].concat(), false),
        ([leads.clone(), vec![("purpose", "prefetch")]].concat(), false),
        (
            [leads.clone(), vec![("sec-fetch-dest", "iframe")]].concat(),
            false,
        ),
        ([leads.clone(), vec![("origin", "null")]].concat(), false),
    ];
    for (more, allowed) in cases {
        for method in [Method::GET, Method::HEAD] {
            assert_eq!(is_accepted(method, &with_host_header(&more)), allowed, "{more:?}");
        }
    }
    for path in [
        "/rpc/search_articles?query=x",
        "/api/models",
        "/send",
        "/v1/models",
    ] {
        assert!(
            check_site_at(Method::GET, path, &with_host_header(&leads)).is_err(),
            "{path}"
        );
    }
    assert!(
        !is_accepted(Method::POST, &with_host_header(&leads)),
        "a form of another site"
    );
}

#[test]
fn recognizes_cross_site_opening_without_click() {
    let is_led = |more: &[(&'static str, &'static str)]| {
        let headers = with_host_header(more);
        let pairs = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        RequestHead {
            method: &Method::GET,
            uri: &Uri::from_static("/literature?q=x"),
            headers: &pairs.collect(),
        }
        .is_unclicked_cross_site()
    };
    let leads = fetch_headers("navigate", "document");
    let clicked = [leads.clone(), vec![("sec-fetch-user", "?1")]].concat();
    assert!(is_led(&leads));
    assert!(!is_led(&clicked));
    assert!(!is_led(&[]));
    assert!(!is_led(&[("sec-fetch-site", "same-origin")]));
}

#[test]
fn distinguishes_upgrades_from_h2c_offers() {
    let is_upgrade = |headers: &[(&'static str, &'static str)]| {
        let pairs = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        RequestHead {
            method: &Method::GET,
            uri: &Uri::from_static("/"),
            headers: &pairs.collect(),
        }
        .is_upgrade()
    };
    assert!(is_upgrade(&[("upgrade", "websocket")]));
    assert!(is_upgrade(&[("upgrade", "h2c, WebSocket")]));
    assert!(is_upgrade(&[("sec-websocket-key", "x")]));
    assert!(!is_upgrade(&[
        ("upgrade", "H2C"),
        ("connection", "Upgrade, HTTP2-Settings")
    ]));
    assert!(!is_upgrade(&[]));
}
