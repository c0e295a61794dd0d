//! Pages of a model in frames.

use reqwest::{RequestBuilder, Response};
use upstream::Script;

use crate::support::{Parlor, parlor_answering};

fn post(parlor: &Parlor, form: &str) -> RequestBuilder {
    let request = parlor.client.post(format!("{}/frame", parlor.url));
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    request.body(form.to_owned())
}

fn header<'a>(response: &'a Response, name: &str) -> &'a str {
    response.headers()[name].to_str().unwrap()
}

#[tokio::test]
async fn framed_page_has_no_origin_and_no_network() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new()).await;
    let form = "page=%3Cp%3E%C3%A9%3C/p%3E%3Clink+rel%3Dpreconnect%3E";
    let response = post(&parlor, form).send().await.unwrap();
    assert_eq!(response.status(), 200);
    let policy = header(&response, "content-security-policy").to_owned();
    assert!(policy.starts_with("sandbox; default-src 'none'; "), "{policy}");
    assert!(policy.contains("frame-ancestors 'self'"), "{policy}");
    assert!(
        !policy.contains("allow-") && !policy.contains("script-src"),
        "{policy}"
    );
    assert_eq!(header(&response, "x-frame-options"), "SAMEORIGIN");
    assert_eq!(header(&response, "content-type"), "text/html; charset=utf-8");
    assert_eq!(header(&response, "cache-control"), "no-store");
    assert_eq!(header(&response, "referrer-policy"), "no-referrer");
    assert_eq!(header(&response, "x-content-type-options"), "nosniff");
    assert_eq!(response.text().await.unwrap(), "<p>é</p><x-link rel=preconnect>");
}

#[tokio::test]
async fn only_parlors_page_fills_frames() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new()).await;
    for origin in ["http://evil.example", "null"] {
        let request = post(&parlor, "page=a").header("origin", origin);
        assert_eq!(request.send().await.unwrap().status(), 403, "{origin}");
    }
    assert_eq!(parlor.get("/frame").send().await.unwrap().status(), 405);
    let damaged = post(&parlor, "other=a").send().await.unwrap();
    assert_eq!(damaged.status(), 400);
    assert_eq!(header(&damaged, "x-frame-options"), "SAMEORIGIN");
    assert!(header(&damaged, "content-security-policy").starts_with("sandbox; default-src 'none'; "));
}

#[tokio::test]
async fn page_allows_frames_of_one_address() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new()).await;
    for path in ["/", "/literature"] {
        let response = parlor.get(path).send().await.unwrap();
        let host = parlor.url.strip_prefix("http://").unwrap();
        let expected = format!("frame-src {host}/frame;");
        let policy = header(&response, "content-security-policy");
        assert!(policy.contains(&expected), "{policy}");
    }
}
