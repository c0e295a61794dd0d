use serde_json::{Value, json};
use upstream::{CapturedRequest, Page, Upstream};

use super::*;
use crate::test_call;
use parlor_base::settings::{SearchEngine, Secret};

/// A fake search engine with this response, and a tool that queries it.
async fn fake_engine(provider: SearchEngine, response: &Value) -> (Upstream, WebSearch) {
    let upstream = Upstream::start().await;
    upstream.add_page("/search", Page::json(response));
    let settings = settings::WebSearchSettings {
        provider,
        url: Some(upstream.url_of(match provider {
            // The URL of a SearXNG instance, without the path of its API.
            SearchEngine::Searxng => "/",
            SearchEngine::Brave | SearchEngine::Tavily => "/search",
        })),
        api_key_env: Some("KEY".into()),
        api_key: provider.needs_key().then(|| Secret("the-key".into())),
    };
    let search = WebSearch::new(&settings).expect("it can be used");
    (upstream, search)
}

fn input(query: &str) -> Input {
    Input {
        query: query.into(),
        count: Some(2),
        time_range: Some(TimeRange::Month),
    }
}

/// Returns the single request that was made.
fn only_request(upstream: &Upstream) -> CapturedRequest {
    let [request] = &upstream.requests()[..] else {
        panic!("one request")
    };
    request.clone()
}

/// The results that every engine's response should give.
fn expected() -> Value {
    json!({
        "query": "rust & co",
        "results": [
            { "title": "The Rust Book", "url": "https://doc.rust-lang.org/book/", "snippet": "Learn Rust & more." },
            { "title": "https://example.com/", "url": "https://example.com/", "snippet": "" },
        ],
    })
}

async fn check(search: &WebSearch) {
    let result = search.run(input(" rust & co "), test_call::call()).await.unwrap();
    assert_eq!(serde_json::from_str::<Value>(&result.text).unwrap(), expected());
    let payload = result.payload.expect("a payload");
    assert_eq!(
        (payload.kind.as_str(), payload.data),
        ("web_search_results", expected())
    );
}

#[tokio::test]
async fn sends_searxng_parameters() {
    let response = json!({ "query": "rust", "results": [
        { "url": "https://doc.rust-lang.org/book/", "title": "The Rust Book", "content": "Learn Rust &amp; more.", "score": 1.5 },
        { "url": "https://example.com", "title": null, "content": null },
        { "url": "https://too.many/", "title": "Third" },
    ] });
    let (upstream, search) = fake_engine(SearchEngine::Searxng, &response).await;
    check(&search).await;
    let request = only_request(&upstream);
    assert_eq!(
        (request.method.as_str(), request.query.as_str()),
        ("GET", "q=rust+%26+co&format=json&time_range=month")
    );
    assert!(!request.headers.contains_key("authorization"));
}

#[tokio::test]
async fn sends_brave_parameters() {
    let response = json!({ "type": "search", "web": { "results": [
        { "url": "https://doc.rust-lang.org/book/", "title": "The Rust Book", "description": "Learn <strong>Rust</strong> &amp; more." },
        { "url": "https://example.com", "title": "" },
    ] } });
    let (upstream, search) = fake_engine(SearchEngine::Brave, &response).await;
    check(&search).await;
    let request = only_request(&upstream);
    assert_eq!(request.query, "q=rust+%26+co&count=2&freshness=pm");
    assert_eq!(request.headers["x-subscription-token"], "the-key");
}

#[tokio::test]
async fn sends_tavily_parameters() {
    let response = json!({ "answer": null, "results": [
        { "url": "https://doc.rust-lang.org/book/", "title": "The Rust Book", "content": "Learn Rust\n& more.", "raw_content": null },
        { "url": "https://example.com", "title": "", "content": "" },
    ] });
    let (upstream, search) = fake_engine(SearchEngine::Tavily, &response).await;
    check(&search).await;
    let request = only_request(&upstream);
    assert_eq!(
        (request.method.as_str(), request.path.as_str()),
        ("POST", "/search")
    );
    assert_eq!(request.headers["authorization"], "Bearer the-key");
    assert_eq!(
        request.body,
        json!({ "query": "rust & co", "max_results": 2, "time_range": "month" })
    );
}

#[tokio::test]
async fn drops_invalid_results_and_shortens_long_ones() {
    let long = "x".repeat(100_000);
    let response = json!({ "results": [
        { "url": "javascript:alert(1)", "title": "evil" },
        { "url": format!("https://example.com/{long}"), "title": "long" },
        { "url": 7 },
        "nonsense",
        { "url": "https://example.com", "title": long, "content": long },
    ], "web": null });
    let (_upstream, search) = fake_engine(SearchEngine::Searxng, &response).await;
    let result = search.run(input("x"), test_call::call()).await.unwrap();
    let found = json!({
        "title": format!("{}…", "x".repeat(MAX_TITLE_CHARS)),
        "url": "https://example.com/",
        "snippet": format!("{}…", "x".repeat(MAX_SNIPPET_CHARS)),
    });
    assert_eq!(
        serde_json::from_str::<Value>(&result.text).unwrap(),
        json!({ "query": "x", "results": [found] })
    );
}

#[tokio::test]
async fn reports_an_empty_result() {
    let (_upstream, search) = fake_engine(SearchEngine::Brave, &json!({ "type": "search" })).await;
    let result = search.run(input("qwrtzp"), test_call::call()).await.unwrap();
    assert_eq!(
        result.text,
        "Nothing was found for “qwrtzp”. Try other or fewer words."
    );
    assert_eq!(
        result.payload.expect("a payload").data,
        json!({ "query": "qwrtzp", "results": [] })
    );
}

#[tokio::test]
async fn limits_the_query_length() {
    let (upstream, search) = fake_engine(SearchEngine::Searxng, &json!({})).await;
    for query in ["  ", &"x".repeat(MAX_QUERY_BYTES + 1)] {
        let error = search.run(input(query), test_call::call()).await.unwrap_err();
        assert!(error.0.contains("1 to 400 bytes"), "{error}");
    }
    assert_eq!(upstream.requests().len(), 0);
}

#[tokio::test]
async fn suspended_engines_are_not_an_empty_result() {
    for (engines, named) in [
        (
            json!([["google", "Suspended: too many requests"], ["bing", "timeout"]]),
            "google (Suspended: too many requests), bing (timeout)",
        ),
        (
            json!([["brave", "access denied", true], [7, null], null]),
            "brave (access denied)",
        ),
        (json!(["qwant"]), "qwant"),
    ] {
        let response = json!({ "results": [], "unresponsive_engines": engines });
        let (_upstream, search) = fake_engine(SearchEngine::Searxng, &response).await;
        let error = search.run(input("x"), test_call::call()).await.unwrap_err();
        assert!(error.0.contains(&format!("no response of {named}.")), "{error}");
    }
    // Some of them are always silent.
    let page = json!({ "url": "https://example.com/", "title": "A page" });
    for (results, engines) in [
        (json!([page]), json!([["google", "timeout"]])),
        (json!([]), json!(null)),
    ] {
        let response = json!({ "results": results, "unresponsive_engines": engines });
        let (_upstream, search) = fake_engine(SearchEngine::Searxng, &response).await;
        assert!(
            search.run(input("x"), test_call::call()).await.is_ok(),
            "{response}"
        );
    }
}
