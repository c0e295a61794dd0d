//! The tools that Parlor includes, as a model calls them.

use parlor::server::{Server, built_in_pages, built_in_tools};
use parlor_base::settings::{SearchEngine, Secret, Settings, WebSearchSettings};
use parlor_protocol::tool_kind::{ALL, EXECUTE_CODE, JUPYTER_NOTEBOOK};
use serde_json::{Value, json};
use upstream::{Page, Script, Upstream, When};

use crate::{
    data::make_database,
    support::{Parlor, model_calls, settings},
};

/// Starts a server with all built-in tools, which use the scripted server.
async fn start_parlor() -> (tempfile::TempDir, Upstream, Parlor) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = Parlor::start_built_in(folder.path(), &upstream, tool_settings(&upstream)).await;
    (folder, upstream, parlor)
}

/// Changes the settings so that the tools use the scripted server.
fn tool_settings(upstream: &Upstream) -> impl FnOnce(&mut Settings) {
    let (searxng, eutils) = (upstream.url_of("/searxng"), upstream.url_of("/eutils"));
    move |settings| {
        settings.tools.web_search = Some(WebSearchSettings {
            provider: SearchEngine::Searxng,
            url: Some(searxng),
            api_key_env: None,
            api_key: None,
        });
        settings.tools.pubmed.base_url = eutils;
        // A key raises the rate limit.
        settings.tools.pubmed.api_key = Some(Secret("ncbi-key".into()));
    }
}

/// Returns the events of a turn in which a model calls a tool with these arguments and then ends.
async fn call_tool(upstream: &Upstream, parlor: &Parlor, tool: &str, arguments: Value) -> Vec<Value> {
    upstream.add_script(
        When::any(),
        Script::new().tool_call("id0", tool, arguments.to_string()),
    );
    upstream.add_script(When::tool_gave(""), Script::new().text("Done."));
    let message = json!({ "message": "Do it", "model": "test/any" });
    let events = parlor.chat(&message).await.read_to_end().await;
    assert_eq!(
        events.last().expect("an event")["type"],
        "complete",
        "{events:#?}"
    );
    events
}

/// Returns the status of the call and the output that the model received.
fn call_outcome(upstream: &Upstream, events: &[Value]) -> (Value, String) {
    let mut ends = events.iter().filter(|event| event["type"] == "tool_complete");
    let end = ends.next().expect("an end");
    let last = model_calls(upstream).pop().expect("a call of the model");
    let given = last["messages"]
        .as_array()
        .and_then(|messages| messages.last())
        .expect("a message");
    assert_eq!(
        (&given["role"], &given["content"]),
        (&json!("tool"), &end["output"])
    );
    let output = end["output"].as_str().expect("an output");
    // The run adds the note about the panel, not the tool.
    let output = output
        .split("\n\n(The person sees this as")
        .next()
        .expect("a first");
    (json!([end["status"], end["label"]]), output.to_owned())
}

/// Returns the type and the summary of the payload in the panel.
fn payload_summary(events: &[Value]) -> Value {
    let end = events.iter().find(|event| event["type"] == "tool_complete");
    let payload = &end.expect("an end")["payload"];
    json!([payload["type"], payload["summary"]])
}

fn tool_start(events: &[Value]) -> Value {
    let start = events.iter().find(|event| event["type"] == "tool_start");
    let start = start.expect("a start");
    json!([start["label"], start["detail"]])
}

#[tokio::test]
async fn model_calculates() {
    let (_folder, upstream, parlor) = start_parlor().await;
    let events = call_tool(
        &upstream,
        &parlor,
        "calculate",
        json!({ "expression": "0.1 + 0.2" }),
    )
    .await;
    assert_eq!(tool_start(&events), json!(["Calculating", "0.1 + 0.2"]));
    let expected = (json!(["complete", "Calculated"]), "0.1 + 0.2 = 0.3".to_owned());
    assert_eq!(call_outcome(&upstream, &events), expected);

    let events = call_tool(
        &upstream,
        &parlor,
        "calculate",
        json!({ "expression": "9^9^9^9" }),
    )
    .await;
    let (how, told) = call_outcome(&upstream, &events);
    assert_eq!(how[0], "failed");
    assert!(told.contains("too large"), "{told}");
}

#[tokio::test]
async fn model_searches_the_web() {
    let (_folder, upstream, parlor) = start_parlor().await;
    let results =
        json!([{ "url": "https://example.com/", "title": "An example", "content": "For examples." }]);
    upstream.add_page(
        "/searxng/search",
        Page::json(&json!({ "query": "examples", "results": results })),
    );
    let events = call_tool(&upstream, &parlor, "web_search", json!({ "query": "examples" })).await;
    assert_eq!(tool_start(&events), json!(["Searching the web", "examples"]));
    let (how, given) = call_outcome(&upstream, &events);
    assert_eq!(how, json!(["complete", "Searched"]));
    assert_eq!(
        serde_json::from_str::<Value>(&given).unwrap(),
        json!({ "query": "examples", "results": [
            { "title": "An example", "url": "https://example.com/", "snippet": "For examples." },
        ] })
    );
    assert_eq!(
        payload_summary(&events),
        json!(["web_search_results", "Web search results: examples (1)"])
    );
}

#[tokio::test]
async fn reports_a_failing_search_engine() {
    let (_folder, upstream, parlor) = start_parlor().await;
    upstream.add_page("/searxng/search", Page::bytes(*b"\xff\xfe<html>"));
    let events = call_tool(&upstream, &parlor, "web_search", json!({ "query": "examples" })).await;
    let (how, told) = call_outcome(&upstream, &events);
    assert_eq!(how[0], "failed");
    assert!(told.contains("can't be read"), "{told}");
}

#[tokio::test]
async fn pubmed_search_reports_progress() {
    let (_folder, upstream, parlor) = start_parlor().await;
    let ids: Vec<String> = (1..=7).map(|id| id.to_string()).collect();
    let mut result = json!({ "uids": ids });
    for id in &ids {
        result[id] = json!({ "title": format!("Study {id}."), "source": "J Water", "pubdate": "2024" });
    }
    let found = json!({ "esearchresult": { "count": "15", "idlist": ids } });
    upstream.add_page("/eutils/esearch.fcgi", Page::json(&found));
    upstream.add_page("/eutils/esummary.fcgi", Page::json(&json!({ "result": result })));
    let xml =
        "<PubmedArticle><PMID>7</PMID><Abstract><AbstractText>Wet.</AbstractText></Abstract></PubmedArticle>";
    upstream.add_page("/eutils/efetch.fcgi", Page::text(xml));

    let events = call_tool(&upstream, &parlor, "search_pubmed", json!({ "query": "water" })).await;
    let (how, given) = call_outcome(&upstream, &events);
    assert_eq!(how, json!(["complete", "Searched PubMed"]));
    assert!(
        given.ends_with("7. Study 7. J Water, 2024. PMID 7. https://pubmed.ncbi.nlm.nih.gov/7/\n   Wet."),
        "{given}"
    );
    assert_eq!(
        payload_summary(&events),
        json!(["pubmed_search_results", "PubMed search results: water (7)"])
    );
    let progress: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "tool_progress")
        .collect();
    // Progress that comes too fast is dropped; the first message is always sent.
    assert_eq!(progress[0]["message"], "Searching PubMed");
    assert_eq!(progress[0]["progress"], 0.0);
    let asked = upstream.requests();
    let asked = asked
        .iter()
        .filter(|request| request.path.starts_with("/eutils/"));
    assert_eq!(
        asked
            .filter(|request| request.query.contains("api_key=ncbi-key"))
            .count(),
        4
    );
    let told = serde_json::to_string(&events).unwrap();
    assert!(!told.contains("ncbi-key"), "{told}");
}

#[tokio::test]
async fn memories_survive_a_restart() {
    let (folder, upstream, parlor) = start_parlor().await;
    let fact = json!({ "text": "She is allergic to peanuts." });
    let events = call_tool(&upstream, &parlor, "remember", fact).await;
    assert_eq!(
        tool_start(&events),
        json!(["Remembering", "She is allergic to peanuts."])
    );
    assert_eq!(
        call_outcome(&upstream, &events).0,
        json!(["complete", "Remembered"])
    );
    parlor.stop().await;

    let parlor = Parlor::start_built_in(folder.path(), &upstream, tool_settings(&upstream)).await;
    let events = call_tool(&upstream, &parlor, "recall", json!({ "query": "peanut" })).await;
    let (how, given) = call_outcome(&upstream, &events);
    assert_eq!(how, json!(["complete", "Recalled"]));
    let memories: Value = serde_json::from_str(&given).unwrap();
    assert_eq!(memories[0]["text"], "She is allergic to peanuts.");

    let events = call_tool(&upstream, &parlor, "forget", json!({ "id": memories[0]["id"] })).await;
    assert_eq!(call_outcome(&upstream, &events).0, json!(["complete", "Forgot"]));
    let events = call_tool(&upstream, &parlor, "recall", json!({})).await;
    assert_eq!(call_outcome(&upstream, &events).1, "Nothing is remembered yet.");
}

#[tokio::test]
async fn disabled_and_unconfigured_tools_are_not_offered() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let disable = |settings: &mut Settings| {
        settings.tools.pubmed.enabled = false;
        settings.tools.disabled = vec!["calculate".into()];
    };
    let parlor = Parlor::start_built_in(folder.path(), &upstream, disable).await;
    let message = json!({ "message": "Hello", "model": "test/echo" });
    parlor.chat(&message).await.read_to_end().await;
    let offered: Vec<Value> = model_calls(&upstream)[0]["tools"]
        .as_array()
        .expect("tools")
        .iter()
        .map(|tool| tool["function"]["name"].clone())
        .collect();
    assert_eq!(
        offered,
        ["current_time", "fetch_webpage", "remember", "recall", "forget"]
    );
}

#[tokio::test]
async fn every_known_kind_is_a_tool() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let database = make_database(folder.path(), "jobs").await;
    let settings = settings(&folder.path().join("data"), &upstream, |settings| {
        tool_settings(&upstream)(settings);
        settings.databases = vec![database];
    });
    let mut missing = Vec::new();
    Server::open_with(
        settings,
        |parts| {
            let tools = built_in_tools(parts).with_scoped_tools(built_in_pages(parts).tools());
            missing = tools.unknown_names(ALL.iter().map(|kind| kind.name));
            tools
        },
        built_in_pages,
    )
    .await
    .unwrap();
    // The tools of Python come and go with its environment.
    assert_eq!(missing, [EXECUTE_CODE.name, JUPYTER_NOTEBOOK.name]);
}
