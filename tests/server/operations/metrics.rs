//! `GET /metrics`: where it exists, who may read it, and that its figures are exact.

use std::{collections::BTreeSet, path::Path};

use parlor::server::{Server, built_in_pages};
use parlor_base::settings::{Secret, Settings};
use parlor_tools::{Tool, ToolContext, ToolError, ToolKind, ToolRegistry, ToolResult};
use reqwest::header::HOST;
use serde_json::json;
use tokio::{net::TcpListener, time::timeout};
use upstream::{Script, Upstream, When};

use super::exposition::{Exposition, Labels};
use crate::{
    accounts::with_passwords,
    support::{Nothing, Parlor, TEST_TIMEOUT, settings, string_field, with_database},
};

const TOKEN: &str = "a-token-of-the-metrics";

/// Texts that must not come out.
const CANARIES: [&str; 4] = [TOKEN, "CANARY-QUESTION", "CANARY-ANSWER", "canary-model"];

fn with_token(settings: &mut Settings) {
    settings.metrics.token = Some(Secret(TOKEN.into()));
}

async fn scrape(parlor: &Parlor) -> Exposition {
    let response = parlor.get("/metrics").bearer_auth(TOKEN).send().await.unwrap();
    assert_eq!(response.status(), 200);
    let content_type = &response.headers()["content-type"];
    assert_eq!(content_type, "text/plain; version=0.0.4; charset=utf-8");
    let text = response.text().await.unwrap();
    for canary in CANARIES {
        assert!(!text.contains(canary), "{canary}: {text}");
    }
    Exposition::parse(&text)
}

/// Scrapes until a series has a value, and returns the figures of then. What happens after an event was sent may be counted a
/// moment later than the event is read.
async fn scrape_until(parlor: &Parlor, name: &str, labels: &[(&str, &str)], wanted: f64) -> Exposition {
    let mut last = None;
    let scraping = async {
        loop {
            let exposition = scrape(parlor).await;
            last = exposition.value(name, labels);
            if last == Some(wanted) {
                return exposition;
            }
        }
    };
    let scraped = timeout(TEST_TIMEOUT, scraping).await;
    scraped.unwrap_or_else(|_| panic!("{name} {labels:?} is {last:?} instead of {wanted}"))
}

#[tokio::test]
async fn metrics_exist_only_with_a_token_or_an_address() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = Parlor::start(folder.path(), &upstream).await;
    for request in [parlor.get("/metrics"), parlor.get("/metrics").bearer_auth(TOKEN)] {
        assert_eq!(request.send().await.unwrap().status(), 404);
    }
    parlor.stop().await;

    let parlor = Parlor::start_with(folder.path(), &upstream, with_token).await;
    let mut refusals = BTreeSet::new();
    for request in [
        parlor.get("/metrics"),
        parlor.get("/metrics").bearer_auth(&TOKEN[1..]),
        parlor.get("/metrics").bearer_auth(format!("{TOKEN}x")),
        parlor.get("/metrics").basic_auth(TOKEN, Some(TOKEN)),
        parlor
            .get("/metrics")
            .bearer_auth(TOKEN)
            .header("authorization", "Bearer x"),
    ] {
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 401);
        refusals.insert(response.text().await.unwrap());
    }
    assert_eq!(refusals.len(), 1, "the answer says what is wrong: {refusals:?}");
    scrape(&parlor).await;
    // Whoever has the token is no page of another site.
    let elsewhere = parlor.get("/metrics").header(HOST, "parlor.internal:80");
    let scraped = elsewhere.bearer_auth(TOKEN).send().await.unwrap();
    assert_eq!(scraped.status(), 200);
}

#[tokio::test]
async fn the_token_is_enough_and_needed_with_accounts() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
        with_passwords(settings);
        with_token(settings);
    })
    .await;
    assert_eq!(parlor.get("/metrics").send().await.unwrap().status(), 401);
    scrape(&parlor).await;
}

/// Starts a server whose metrics have an address of their own, and returns that.
async fn start_with_own_address(
    folder: &Path,
    upstream: &Upstream,
    change: impl FnOnce(&mut Settings),
) -> (Parlor, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let settings = with_database(settings(folder, upstream, change)).await;
    let server = Server::open_with(settings, |_| ToolRegistry::default(), built_in_pages).await;
    let server = server.unwrap().with_metrics_listener(listener);
    (Parlor::serve(server).await, url)
}

#[tokio::test]
async fn an_address_of_their_own_has_only_the_metrics() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let (parlor, url) = start_with_own_address(folder.path(), &upstream, |_| {}).await;
    let get = |path: &str, host: &'static str| {
        let request = parlor.client.get(format!("{url}{path}"));
        request.header(HOST, host).send()
    };
    for host in [
        "127.0.0.1:9187",
        "10.0.0.7:9187",
        "[fd00::7]",
        "parlor:9187",
        "localhost",
    ] {
        let response = get("/metrics", host).await.unwrap();
        assert_eq!(response.status(), 200, "{host}");
        Exposition::parse(&response.text().await.unwrap());
    }
    assert_eq!(get("/metrics", "evil.example").await.unwrap().status(), 403);
    for path in ["/", "/api/models", "/healthz", "/rpc/events"] {
        assert_eq!(get(path, "localhost").await.unwrap().status(), 404, "{path}");
    }
    assert_eq!(parlor.get("/metrics").send().await.unwrap().status(), 404);
    parlor.stop().await;

    let (parlor, url) = start_with_own_address(folder.path(), &upstream, with_token).await;
    let get = || parlor.client.get(format!("{url}/metrics"));
    assert_eq!(get().send().await.unwrap().status(), 401);
    assert_eq!(get().bearer_auth(TOKEN).send().await.unwrap().status(), 200);
}

/// A tool that fails if it is asked to.
struct Fickle;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Mood {
    /// The outcome.
    fails: bool,
}

impl Tool for Fickle {
    type Input = Mood;

    const KIND: ToolKind = ToolKind::plain("fickle");
    const DESCRIPTION: &'static str = "Works or fails.";
    const LABEL: &'static str = "Trying";
    const DONE: &'static str = "Tried";

    async fn run(&self, mood: Mood, _: ToolContext) -> Result<ToolResult, ToolError> {
        match mood.fails {
            true => Err(ToolError::new("It fails.")),
            false => Ok("It works.".to_owned().into()),
        }
    }
}

/// A tool that never ends.
struct Endless;

impl Tool for Endless {
    type Input = Nothing;

    const KIND: ToolKind = ToolKind::plain("endless");
    const DESCRIPTION: &'static str = "Never ends.";
    const LABEL: &'static str = "Going on";
    const DONE: &'static str = "Went on";

    async fn run(&self, _: Nothing, _: ToolContext) -> Result<ToolResult, ToolError> {
        std::future::pending().await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn counts_of_runs_calls_and_tools_are_exact() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("CANARY-ANSWER").text(" and more"));
    upstream.add_script(
        When::user_contains("refuse"),
        Script::new().status(401, json!({ "error": { "message": "CANARY-ANSWER" } }), &[]),
    );
    upstream.add_script(
        When::user_contains("try"),
        Script::new()
            .tool_call("1", "fickle", r#"{"fails": false}"#)
            .tool_call("2", "fickle", r#"{"fails": true}"#),
    );
    upstream.add_script(When::tool_gave("It fails"), Script::new().text("Tried."));
    upstream.add_script(
        When::user_contains("hang"),
        Script::new().tool_call("1", "endless", "{}"),
    );
    upstream.add_script(
        When::user_contains("wait"),
        Script::new().text("one").gate("never"),
    );
    let tools = ToolRegistry::default().with_tool(Fickle).with_tool(Endless);
    let parlor = Parlor::start_with_tools(folder.path(), &upstream, tools, with_token).await;

    let answer = |status| [("kind", "answer"), ("status", status)];
    let calls = |outcome| [("endpoint", "test"), ("outcome", outcome)];
    let before = scrape(&parlor).await;
    assert_eq!(
        before.value("parlor_runs_started_total", &[("kind", "answer")]),
        None
    );
    for question in ["CANARY-QUESTION", "Please refuse", "Please try"] {
        parlor.turn(None, question).await;
    }
    // One is stopped in its text, one in its tool.
    for (question, event) in [("Please wait", "text_delta"), ("Please hang", "tool_start")] {
        let ask = json!({ "message": question, "model": "test/canary-model" });
        let mut stream = parlor.chat(&ask).await;
        let run = string_field(&stream.next_of_type(event).await, "message_id");
        let active = scrape(&parlor).await;
        assert_eq!(
            active.value("parlor_runs_active", &[("kind", "answer")]),
            Some(1.0)
        );
        assert!(active.value("parlor_subscribers", &[]) >= Some(1.0));
        let stop = format!("/api/runs/{run}/stop");
        parlor.post(&stop, &json!({})).send().await.unwrap();
        stream.read_to_end().await;
    }

    let none_active = [("kind", "answer")];
    let after = scrape_until(&parlor, "parlor_runs_active", &none_active, 0.0).await;
    let value = |name: &str, labels: &[(&str, &str)]| after.value(name, labels);
    assert_eq!(
        value("parlor_runs_started_total", &[("kind", "answer")]),
        Some(5.0)
    );
    let ended = ["complete", "failed", "stopped", "interrupted", "waiting"]
        .map(|status| value("parlor_runs_ended_total", &answer(status)));
    assert_eq!(ended, [Some(2.0), Some(1.0), Some(2.0), None, None]);
    let called = ["complete", "refused", "unavailable", "broken", "cut"]
        .map(|outcome| value("parlor_model_calls_total", &calls(outcome)));
    // The answer with tools is two calls; the stopped text is cut, the stopped tool's call was complete.
    assert_eq!(called, [Some(4.0), Some(1.0), None, None, Some(1.0)]);
    assert_eq!(
        value("parlor_model_calls_active", &[("endpoint", "test")]),
        Some(0.0)
    );
    let tools = ["complete", "failed", "aborted"]
        .map(|outcome| value("parlor_tool_calls_total", &[("outcome", outcome)]));
    assert_eq!(tools, [Some(1.0), Some(1.0), Some(1.0)]);
    assert_eq!(value("parlor_first_token_seconds_count", &[]), Some(3.0));
    let deltas = value("parlor_delta_delay_seconds_count", &[]).unwrap();
    assert!(
        (3.0..=4.0).contains(&deltas),
        "the two deltas of one text may come together: {deltas}"
    );
    assert_eq!(
        value("parlor_events_committed_total", &[]),
        value("parlor_events_published_total", &[])
    );
    assert_eq!(value("parlor_commit_failures_total", &[]), Some(0.0));
    assert_eq!(
        value("parlor_commit_duration_seconds_count", &[]),
        value("parlor_commit_changes_count", &[])
    );
    let stored = [("kind", "answer"), ("status", "running")];
    scrape_until(&parlor, "parlor_runs", &stored, 0.0).await;
}

#[tokio::test]
async fn requests_are_counted_by_route() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = Parlor::start_with(folder.path(), &upstream, with_token).await;
    for id in 0..20 {
        let path = format!("/api/conversations/{}", uuid::Uuid::from_u128(id));
        parlor.get(&path).send().await.unwrap();
        parlor.get(&format!("/api/nothing/{id}")).send().await.unwrap();
        parlor
            .get(&format!("/CANARY-QUESTION/{id}"))
            .send()
            .await
            .unwrap();
    }
    let method = reqwest::Method::from_bytes(b"CANARY-ANSWER").unwrap();
    let odd = parlor
        .client
        .request(method, format!("{}/api/models", parlor.url));
    odd.send().await.unwrap();
    let figures = scrape(&parlor).await;
    let requests = |route, method, status| {
        let labels = [("route", route), ("method", method), ("status", status)];
        figures.value("parlor_http_requests_total", &labels)
    };
    assert_eq!(
        requests("/api/conversations/{conversation_id}", "GET", "4xx"),
        Some(20.0)
    );
    assert_eq!(requests("/api/{*unknown}", "GET", "4xx"), Some(20.0));
    assert_eq!(requests("/api/models", "other", "4xx"), Some(1.0));
    let series = figures.labels_of("parlor_http_requests_total");
    assert!(series.len() < 10, "{series:?}");
}

/// Every label is one of these, so that no series has an id or a text.
#[tokio::test]
async fn labels_are_bounded() {
    const LABELS: [&str; 10] = [
        "endpoint", "kind", "le", "method", "outcome", "queue", "route", "state", "status", "version",
    ];
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("CANARY-ANSWER"));
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
        with_token(settings);
        settings.metrics.endpoints = 2;
        let one = settings.endpoints[0].clone();
        for name in ["a", "b", "c\"d"] {
            let mut endpoint = one.clone();
            endpoint.name = name.into();
            settings.endpoints.push(endpoint);
        }
    })
    .await;
    for endpoint in ["a", "b", "c\"d", "test"] {
        for model in ["canary-model", "canary-model/2"] {
            let ask = json!({ "message": "CANARY-QUESTION", "model": format!("{endpoint}/{model}") });
            parlor.chat(&ask).await.read_to_end().await;
        }
    }
    let other = [("endpoint", "other"), ("outcome", "complete")];
    let figures = scrape_until(&parlor, "parlor_model_calls_total", &other, 4.0).await;
    let endpoints: Vec<_> = figures.labels_of("parlor_model_calls_total");
    let endpoints: Vec<_> = endpoints
        .iter()
        .map(|labels| labels["endpoint"].as_str())
        .collect();
    assert_eq!(endpoints, ["a", "b", "other"]);
    for name in figures.names() {
        for labels in figures.labels_of(name) {
            let unknown = |labels: &Labels| labels.keys().any(|label| !LABELS.contains(&&**label));
            assert!(!unknown(labels), "{name} {labels:?}");
        }
    }
}
