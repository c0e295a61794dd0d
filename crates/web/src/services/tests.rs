use std::time::Duration;

use reqwest::Url;
use serde_json::{Value, json};
use upstream::{Page, Upstream};

use super::{Service, ServiceError, ServiceErrorKind};

/// A service with a short time limit.
fn test_service(url: &str) -> (Service, Url) {
    let url: Url = url.parse().expect("a URL");
    let service = Service::new("The oracle", &url).expect("a client");
    (service.with_test_timeout(Duration::from_secs(20)), url)
}

/// The text of an error as a tool tells it to the model.
fn with_advice(error: &ServiceError) -> String {
    format!("{error} {}", error.kind.advice())
}

async fn fetch(upstream: &Upstream) -> Result<Value, ServiceError> {
    let (service, url) = test_service(&upstream.url_of("/ask"));
    service.fetch_json(service.http().get(url)).await
}

/// Serves these pages one after the other, and the last one from then on.
async fn serve_pages(pages: &[Page]) -> Upstream {
    let upstream = Upstream::start().await;
    let (last, first) = pages.split_last().expect("a page");
    upstream.add_page("/ask", last.clone());
    for page in first.iter().rev() {
        upstream.add_page_times(1, "/ask", page.clone());
    }
    upstream
}

#[tokio::test]
async fn retries_temporary_failures() {
    let upstream = serve_pages(&[
        Page::text("").status(503),
        Page::text("").status(429).header("retry-after", "0"),
        Page::json(&json!({ "answer": 42 })),
    ])
    .await;
    assert_eq!(fetch(&upstream).await, Ok(json!({ "answer": 42 })));
    assert_eq!(upstream.requests().len(), 3);
}

#[tokio::test]
async fn retries_failures_that_a_response_tells() {
    let upstream = serve_pages(&[
        Page::json(&json!({ "error": "Search Backend failed" })),
        Page::json(&json!({ "answer": 42 })),
        Page::json(&json!({ "error": "Empty term" })),
    ])
    .await;
    let (service, url) = test_service(&upstream.url_of("/ask"));
    let fetch = || {
        let request = service.http().get(url.clone());
        service.fetch_checked_json(request, |json: &Value| {
            let words = json["error"].as_str()?.to_owned();
            Some(match words.contains("failed") {
                true => ServiceErrorKind::Failed(words),
                false => ServiceErrorKind::InvalidQuery(words),
            })
        })
    };
    assert_eq!(fetch().await, Ok(json!({ "answer": 42 })));
    assert_eq!(upstream.requests().len(), 2);
    let refused = fetch().await.unwrap_err().kind;
    assert_eq!(refused, ServiceErrorKind::InvalidQuery("Empty term".into()));
    assert_eq!(upstream.requests().len(), 3, "another query would be needed");
}

#[tokio::test]
async fn gives_up_after_max_retries() {
    let upstream = serve_pages(&[Page::text("<h1>Oops</h1>").status(500)]).await;
    let error = with_advice(&fetch(&upstream).await.unwrap_err());
    assert_eq!(
        error,
        "The oracle failed (500 Internal Server Error). Do without it, or try again later."
    );
    assert_eq!(upstream.requests().len(), 3);
}

#[tokio::test]
async fn does_not_retry_after_a_long_retry_after() {
    let upstream = serve_pages(&[Page::text("").status(429).header("retry-after", "3600")]).await;
    let error = with_advice(&fetch(&upstream).await.unwrap_err());
    assert_eq!(
        error,
        "The oracle is asked too much (429). It can be asked again in 3600 seconds."
    );
    assert_eq!(upstream.requests().len(), 1);
}

#[tokio::test]
async fn does_not_retry_refusals() {
    let upstream = serve_pages(&[Page::text("").status(403)]).await;
    let error = with_advice(&fetch(&upstream).await.unwrap_err());
    assert!(error.contains("URL and key in the settings"), "{error}");
    assert_eq!(upstream.requests().len(), 1);
}

#[tokio::test]
async fn does_not_follow_redirects() {
    let elsewhere = Upstream::start().await;
    let away = Page::text("")
        .status(302)
        .header("location", &elsewhere.url_of("/ask"));
    let upstream = serve_pages(&[away]).await;
    let error = with_advice(&fetch(&upstream).await.unwrap_err());
    assert!(error.contains("302"), "{error}");
    assert_eq!(elsewhere.requests().len(), 0);
}

#[tokio::test]
async fn limits_an_endless_answer() {
    let upstream = serve_pages(&[Page::spaces(50 << 20)]).await;
    let error = with_advice(&fetch(&upstream).await.unwrap_err());
    assert_eq!(
        error,
        "The oracle sent a response of more than 8 MB. Ask for less."
    );
}

#[tokio::test]
async fn times_out_without_an_answer() {
    let upstream = serve_pages(&[Page::never()]).await;
    let (service, url) = test_service(&upstream.url_of("/ask"));
    let service = service.with_test_timeout(Duration::from_millis(50));
    let error = with_advice(&service.fetch_text(service.http().get(url)).await.unwrap_err());
    assert_eq!(
        error,
        "The oracle did not respond within 0.05 seconds. Do without it, or try again later."
    );
}

#[tokio::test]
async fn rejects_invalid_json_and_replaces_invalid_utf8() {
    for nonsense in ["", "<html>", "{\"answer\":", "nul"] {
        let upstream = serve_pages(&[Page::text(nonsense)]).await;
        let error = with_advice(&fetch(&upstream).await.unwrap_err());
        assert!(
            error.starts_with("The oracle sent a response that can't be read"),
            "{error}"
        );
    }
    let upstream = serve_pages(&[Page::bytes(*b"{\"answer\": \"caf\xe9\"}")]).await;
    assert_eq!(fetch(&upstream).await, Ok(json!({ "answer": "caf\u{fffd}" })));
}

#[tokio::test]
async fn error_hides_the_url() {
    let upstream = Upstream::start().await;
    let url = upstream.url_of("/ask?api_key=secret");
    upstream.stop().await;
    let (service, url) = test_service(&url);
    let error = with_advice(&service.fetch_text(service.http().get(url)).await.unwrap_err());
    assert_eq!(error, "The oracle can't be reached. Do without it.");
}

#[test]
fn error_text_has_no_advice() {
    let crowded = ServiceError {
        name: "The oracle",
        kind: ServiceErrorKind::QueueFull,
    };
    let happened = "The oracle is asked too much from here: too many requests wait for their turn already.";
    assert_eq!(crowded.to_string(), happened);
    assert_eq!(
        with_advice(&crowded),
        format!("{happened} Try again in a minute.")
    );
}
