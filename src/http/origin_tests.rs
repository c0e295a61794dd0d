//! Which requests are let through, by their headers.

use axum::http::{HeaderName, HeaderValue};

use super::*;

const HERE: (&str, &str) = ("host", "localhost:8080");

fn checked_at(method: Method, uri: &'static str, headers: &[(&'static str, &str)]) -> Result<(), ApiError> {
    let value = |value: &str| HeaderValue::from_bytes(value.as_bytes()).unwrap();
    let mut map = HeaderMap::new();
    for (name, text) in headers {
        map.append(HeaderName::from_static(name), value(text));
    }
    let asked = Asked {
        method: &method,
        uri: &Uri::from_static(uri),
        headers: &map,
    };
    let allowed = ["parlor.lan".to_owned(), "parlor.lan:8443".to_owned()];
    let host = asked.check_host(&allowed)?;
    asked.check_site(&host, &allowed)
}

fn checked(method: Method, headers: &[(&'static str, &str)]) -> bool {
    checked_at(method, "/x", headers).is_ok()
}

fn with_host(more: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    [HERE].into_iter().chain(more.iter().copied()).collect()
}

fn fetched(mode: &'static str, dest: &'static str) -> Vec<(&'static str, &'static str)> {
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
        assert!(checked(Method::GET, &[("host", host)]), "{host}");
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
        assert!(!checked(Method::GET, &[("host", host)]), "{host}");
    }
    assert!(!checked(Method::GET, &[]));
    assert!(!checked(Method::GET, &[HERE, HERE]), "twice");
    let absolute = |uri| checked_at(Method::GET, uri, &[HERE]).is_ok();
    assert!(absolute("http://localhost:8080/x") && !absolute("http://example.com/x"));
}

#[test]
fn a_refused_host_is_named_with_its_setting() {
    let error = checked_at(Method::GET, "/", &[("host", "chat.example:81")]).unwrap_err();
    assert!(
        error
            .message
            .contains("\"chat.example:81\" to the setting server.allowed_hosts"),
        "{error}"
    );
    let page = [HERE, ("origin", "https://chat.example")];
    let error = checked_at(Method::POST, "/rpc/x", &page).unwrap_err();
    assert!(
        error
            .message
            .contains("\"chat.example\" to the setting server.allowed_hosts"),
        "{error}"
    );
}

#[test]
fn another_origin_is_refused_with_every_method() {
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
            assert_eq!(checked(method, &[&[HERE], more].concat()), allowed, "{more:?}");
        }
    }
}

#[test]
fn pages_of_other_origins_are_refused_by_their_referer() {
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
        // A browser that says where a request comes from is believed.
        (
            &[
                ("referer", "http://evil.example/"),
                ("sec-fetch-site", "same-origin"),
            ],
            true,
        ),
    ];
    let at = |path, more: &[(&'static str, &'static str)]| {
        checked_at(Method::GET, path, &[&[("host", "parlor.lan")], more].concat()).is_ok()
    };
    for (more, allowed) in cases {
        assert_eq!(at("/rpc/search_articles?query=x", more), allowed, "{more:?}");
        assert!(at("/c/1", more), "one may come here from anywhere: {more:?}");
    }
    assert!(at("/rpc/models", &[]), "programs say nothing");
}

#[test]
fn own_code_loads_behind_a_proxy_that_sets_host() {
    let theirs = ("origin", "https://chat.example");
    let module = with_host(&[
        theirs,
        ("sec-fetch-site", "same-origin"),
        ("sec-fetch-mode", "cors"),
    ]);
    assert!(checked_at(Method::GET, "/pkg/parlor.js", &module).is_ok());
    for path in ["/", "/rpc/models", "/pkgs"] {
        assert!(checked_at(Method::GET, path, &module).is_err(), "{path}");
    }
    let of_another = with_host(&[theirs, ("sec-fetch-site", "cross-site")]);
    assert!(checked_at(Method::GET, "/pkg/parlor.js", &of_another).is_err());
    assert!(checked_at(Method::GET, "/pkg/parlor.js", &with_host(&[theirs])).is_err());
}

#[test]
fn another_site_is_refused_with_every_method() {
    for site in ["cross-site", "same-site", "", "same-origin, none", "é"] {
        for method in [Method::GET, Method::POST, Method::OPTIONS] {
            assert!(!checked(method, &[HERE, ("sec-fetch-site", site)]), "{site}");
        }
    }
    let twice = with_host(&[
        ("sec-fetch-site", "same-origin"),
        ("sec-fetch-site", "cross-site"),
    ]);
    assert!(!checked(Method::GET, &twice));
}

#[test]
fn other_sites_lead_here_and_load_nothing() {
    let leads = fetched("navigate", "document");
    let cases = [
        (
            vec![("sec-fetch-site", "none"), ("sec-fetch-dest", "image")],
            true,
        ),
        (
            vec![("sec-fetch-site", "same-origin"), ("sec-fetch-mode", "cors")],
            true,
        ),
        (fetched("no-cors", "image"), false),
        (fetched("cors", "empty"), false),
        (fetched("navigate", "iframe"), false),
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
            assert_eq!(checked(method, &with_host(&more)), allowed, "{more:?}");
        }
    }
    for path in [
        "/rpc/search_articles?query=x",
        "/api/models",
        "/send",
        "/v1/models",
    ] {
        assert!(
            checked_at(Method::GET, path, &with_host(&leads)).is_err(),
            "{path}"
        );
    }
    assert!(!checked(Method::POST, &with_host(&leads)), "a form of theirs");
}

#[test]
fn only_a_click_leads_to_a_search() {
    let is_led = |uri, more: &[(&'static str, &'static str)]| {
        let headers = with_host(more);
        let pairs = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        Asked {
            method: &Method::GET,
            uri: &Uri::from_static(uri),
            headers: &pairs.collect(),
        }
        .is_led_to_a_search()
    };
    let leads = fetched("navigate", "document");
    let clicked = [leads.clone(), vec![("sec-fetch-user", "?1")]].concat();
    assert!(is_led("/literature?q=x", &leads));
    assert!(!is_led("/literature?q=x", &clicked));
    assert!(is_led("/literature/articles/11", &leads));
    assert!(!is_led("/literature/articles/11", &clicked));
    assert!(!is_led("/literature", &leads));
    assert!(!is_led("/c/1?q=x", &leads));
    assert!(!is_led("/literature?q=x", &[]));
    assert!(!is_led("/literature?q=x", &[("sec-fetch-site", "same-origin")]));
}

#[test]
fn upgrades_are_told_from_offers_of_http_2() {
    let is_upgrade = |headers: &[(&'static str, &'static str)]| {
        let pairs = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        Asked {
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
