use std::time::Duration;

use reqwest::Url;
use serde_json::{Value, json};
use upstream::{Page, Upstream};

use super::{Fault, Service, ServiceError};
use crate::tools::ToolError;

/// What a service is for which nobody waits long.
fn service(url: &str) -> (Service, Url) {
    let url: Url = url.parse().expect("a URL");
    let service = Service::new("The oracle", &url).expect("a client");
    (service.hurried(Duration::from_secs(20)), url)
}

async fn ask(upstream: &Upstream) -> Result<Value, ServiceError> {
    let (service, url) = service(&upstream.url_of("/ask"));
    service.ask_json(service.http().get(url)).await
}

/// An oracle that answers with these pages, one after the other, and the last one from then on.
async fn answering(pages: &[Page]) -> Upstream {
    let upstream = Upstream::start().await;
    let (last, first) = pages.split_last().expect("a page");
    upstream.page("/ask", last.clone());
    for page in first.iter().rev() {
        upstream.page_times(1, "/ask", page.clone());
    }
    upstream
}

#[tokio::test]
async fn what_is_overwhelmed_or_ill_for_a_moment_is_asked_again() {
    let upstream = answering(&[
        Page::text("").status(503),
        Page::text("").status(429).header("retry-after", "0"),
        Page::json(&json!({ "answer": 42 })),
    ])
    .await;
    assert_eq!(ask(&upstream).await, Ok(json!({ "answer": 42 })));
    assert_eq!(upstream.requests().len(), 3);
}

#[tokio::test]
async fn what_stays_ill_is_given_up() {
    let upstream = answering(&[Page::text("<h1>Oops</h1>").status(500)]).await;
    let error = ToolError::from(ask(&upstream).await.unwrap_err());
    assert_eq!(
        error.0,
        "The oracle failed (500 Internal Server Error). Do without it, or try again later."
    );
    assert_eq!(upstream.requests().len(), 3);
}

#[tokio::test]
async fn who_wants_to_be_left_alone_for_long_is() {
    let upstream = answering(&[Page::text("").status(429).header("retry-after", "3600")]).await;
    let error = ToolError::from(ask(&upstream).await.unwrap_err());
    assert_eq!(
        error.0,
        "The oracle is asked too much (429). It can be asked again in 3600 seconds."
    );
    assert_eq!(upstream.requests().len(), 1);
}

#[tokio::test]
async fn a_refusal_is_not_asked_for_twice_and_says_whose_business_it_is() {
    let upstream = answering(&[Page::text("").status(403)]).await;
    let error = ToolError::from(ask(&upstream).await.unwrap_err());
    assert!(error.0.contains("address and key in the settings"), "{error}");
    assert_eq!(upstream.requests().len(), 1);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Upstream::start().await;
    let away = Page::text("")
        .status(302)
        .header("location", &elsewhere.url_of("/ask"));
    let upstream = answering(&[away]).await;
    let error = ToolError::from(ask(&upstream).await.unwrap_err());
    assert!(error.0.contains("302"), "{error}");
    assert_eq!(elsewhere.requests().len(), 0);
}

#[tokio::test]
async fn an_answer_without_end_is_cut_off() {
    let upstream = answering(&[Page::spaces(50 << 20)]).await;
    let error = ToolError::from(ask(&upstream).await.unwrap_err());
    assert_eq!(error.0, "The oracle answered with more than 8 MB. Ask for less.");
}

#[tokio::test]
async fn who_never_answers_is_not_waited_for() {
    let upstream = answering(&[Page::never()]).await;
    let (service, url) = service(&upstream.url_of("/ask"));
    let service = service.hurried(Duration::from_millis(50));
    let error = ToolError::from(service.ask(service.http().get(url)).await.unwrap_err());
    assert_eq!(
        error.0,
        "The oracle did not answer within 0.05 seconds. Do without it, or try again later."
    );
}

#[tokio::test]
async fn what_makes_no_sense_is_an_error_and_broken_characters_are_replaced() {
    for nonsense in ["", "<html>", "{\"answer\":", "nul"] {
        let upstream = answering(&[Page::text(nonsense)]).await;
        let error = ToolError::from(ask(&upstream).await.unwrap_err());
        assert!(
            error
                .0
                .starts_with("The oracle gave an answer that can't be read"),
            "{error}"
        );
    }
    let upstream = answering(&[Page::bytes(*b"{\"answer\": \"caf\xe9\"}")]).await;
    assert_eq!(ask(&upstream).await, Ok(json!({ "answer": "caf\u{fffd}" })));
}

#[tokio::test]
async fn an_error_does_not_tell_the_address() {
    let upstream = Upstream::start().await;
    let url = upstream.url_of("/ask?api_key=secret");
    upstream.stop().await;
    let (service, url) = service(&url);
    let error = ToolError::from(service.ask(service.http().get(url)).await.unwrap_err());
    assert_eq!(error.0, "The oracle can't be reached. Do without it.");
}

#[test]
fn what_happened_is_said_without_what_a_model_should_do() {
    let crowded = ServiceError {
        name: "The oracle",
        fault: Fault::Crowded,
    };
    let happened = "The oracle is asked too much from here: too many requests wait for their turn already.";
    assert_eq!(crowded.to_string(), happened);
    assert_eq!(
        ToolError::from(crowded).0,
        format!("{happened} Try again in a minute.")
    );
}
