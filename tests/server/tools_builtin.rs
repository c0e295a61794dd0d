//! The tools that come with Parlor, as a model calls them.

use parlor::settings::{SearchProvider, Secret, Settings, WebSearch};
use serde_json::{Value, json};
use upstream::{Page, Script, Upstream, When};

use crate::support::{Parlor, calls};

/// A server with all of its tools, which ask the scripted server.
async fn parlor() -> (tempfile::TempDir, Upstream, Parlor) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = Parlor::start_built_in(folder.path(), &upstream, asking(&upstream)).await;
    (folder, upstream, parlor)
}

/// Settings with which the tools ask the scripted server.
fn asking(upstream: &Upstream) -> impl FnOnce(&mut Settings) {
    let (searxng, eutils) = (upstream.url_of("/searxng"), upstream.url_of("/eutils"));
    move |settings| {
        settings.tools.web_search = Some(WebSearch {
            provider: SearchProvider::Searxng,
            url: Some(searxng),
            api_key_env: None,
            api_key: None,
        });
        settings.tools.pubmed.base_url = eutils;
        // With a key it may be asked more often.
        settings.tools.pubmed.api_key = Some(Secret("ncbi-key".into()));
    }
}

/// What happens when a model calls a tool with these arguments, and then says that it is done.
async fn call(upstream: &Upstream, parlor: &Parlor, tool: &str, arguments: Value) -> Vec<Value> {
    upstream.script(
        When::any(),
        Script::new().tool_call("id0", tool, arguments.to_string()),
    );
    upstream.script(When::tool_gave(""), Script::new().text("Done."));
    let message = json!({ "message": "Do it", "model": "test/any" });
    let events = parlor.chat(&message).await.rest().await;
    assert_eq!(
        events.last().expect("an event")["type"],
        "complete",
        "{events:#?}"
    );
    events
}

/// How the call ended, and what the model was given of it.
fn outcome(upstream: &Upstream, events: &[Value]) -> (Value, String) {
    let mut ends = events.iter().filter(|event| event["type"] == "tool_complete");
    let end = ends.next().expect("an end");
    let last = calls(upstream).pop().expect("a call of the model");
    let given = last["messages"]
        .as_array()
        .and_then(|messages| messages.last())
        .expect("a message");
    assert_eq!(
        (&given["role"], &given["content"]),
        (&json!("tool"), &end["output"])
    );
    let output = end["output"].as_str().expect("an output");
    // What the run adds about a panel is not the tool's.
    let output = output
        .split("\n\n(The person sees this as")
        .next()
        .expect("a first");
    (json!([end["status"], end["label"]]), output.to_owned())
}

/// What is shown in a panel: its type, and a line about it.
fn payload(events: &[Value]) -> Value {
    let end = events.iter().find(|event| event["type"] == "tool_complete");
    let payload = &end.expect("an end")["payload"];
    json!([payload["type"], payload["summary"]])
}

fn start(events: &[Value]) -> Value {
    let start = events.iter().find(|event| event["type"] == "tool_start");
    let start = start.expect("a start");
    json!([start["label"], start["detail"]])
}

#[tokio::test]
async fn a_model_calculates() {
    let (_folder, upstream, parlor) = parlor().await;
    let events = call(
        &upstream,
        &parlor,
        "calculate",
        json!({ "expression": "0.1 + 0.2" }),
    )
    .await;
    assert_eq!(start(&events), json!(["Calculating", "0.1 + 0.2"]));
    let expected = (json!(["complete", "Calculated"]), "0.1 + 0.2 = 0.3".to_owned());
    assert_eq!(outcome(&upstream, &events), expected);

    let events = call(
        &upstream,
        &parlor,
        "calculate",
        json!({ "expression": "9^9^9^9" }),
    )
    .await;
    let (how, told) = outcome(&upstream, &events);
    assert_eq!(how[0], "failed");
    assert!(told.contains("too large"), "{told}");
}

#[tokio::test]
async fn a_model_searches_the_web() {
    let (_folder, upstream, parlor) = parlor().await;
    let results =
        json!([{ "url": "https://example.com/", "title": "An example", "content": "For examples." }]);
    upstream.page(
        "/searxng/search",
        Page::json(&json!({ "query": "examples", "results": results })),
    );
    let events = call(&upstream, &parlor, "web_search", json!({ "query": "examples" })).await;
    assert_eq!(start(&events), json!(["Searching the web", "examples"]));
    let (how, given) = outcome(&upstream, &events);
    assert_eq!(how, json!(["complete", "Searched"]));
    assert_eq!(
        serde_json::from_str::<Value>(&given).unwrap(),
        json!({ "query": "examples", "results": [
            { "title": "An example", "url": "https://example.com/", "snippet": "For examples." },
        ] })
    );
    assert_eq!(
        payload(&events),
        json!(["web_search_results", "Web search results: examples (1)"])
    );
}

#[tokio::test]
async fn a_search_engine_that_is_ill_is_told_of() {
    let (_folder, upstream, parlor) = parlor().await;
    upstream.page("/searxng/search", Page::bytes(*b"\xff\xfe<html>"));
    let events = call(&upstream, &parlor, "web_search", json!({ "query": "examples" })).await;
    let (how, told) = outcome(&upstream, &events);
    assert_eq!(how[0], "failed");
    assert!(told.contains("can't be read"), "{told}");
}

#[tokio::test]
async fn a_model_searches_pubmed_and_the_person_sees_how_far_it_is() {
    let (_folder, upstream, parlor) = parlor().await;
    let ids: Vec<String> = (1..=7).map(|id| id.to_string()).collect();
    let mut result = json!({ "uids": ids });
    for id in &ids {
        result[id] = json!({ "title": format!("Study {id}."), "source": "J Water", "pubdate": "2024" });
    }
    let found = json!({ "esearchresult": { "count": "15", "idlist": ids } });
    upstream.page("/eutils/esearch.fcgi", Page::json(&found));
    upstream.page("/eutils/esummary.fcgi", Page::json(&json!({ "result": result })));
    let xml =
        "<PubmedArticle><PMID>7</PMID><Abstract><AbstractText>Wet.</AbstractText></Abstract></PubmedArticle>";
    upstream.page("/eutils/efetch.fcgi", Page::text(xml));

    let events = call(&upstream, &parlor, "search_pubmed", json!({ "query": "water" })).await;
    let (how, given) = outcome(&upstream, &events);
    assert_eq!(how, json!(["complete", "Searched PubMed"]));
    assert!(
        given.ends_with("7. Study 7. J Water, 2024. PMID 7. https://pubmed.ncbi.nlm.nih.gov/7/\n   Wet."),
        "{given}"
    );
    assert_eq!(
        payload(&events),
        json!(["pubmed_search_results", "PubMed search results: water (7)"])
    );
    let progress: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "tool_progress")
        .collect();
    // What is said faster than it is worth is left out; the first is always told.
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
async fn what_a_model_remembers_it_recalls_in_another_conversation_after_a_restart() {
    let (folder, upstream, parlor) = parlor().await;
    let fact = json!({ "text": "She is allergic to peanuts." });
    let events = call(&upstream, &parlor, "remember", fact).await;
    assert_eq!(
        start(&events),
        json!(["Remembering", "She is allergic to peanuts."])
    );
    assert_eq!(outcome(&upstream, &events).0, json!(["complete", "Remembered"]));
    parlor.stop().await;

    let parlor = Parlor::start_built_in(folder.path(), &upstream, asking(&upstream)).await;
    let events = call(&upstream, &parlor, "recall", json!({ "query": "peanut" })).await;
    let (how, given) = outcome(&upstream, &events);
    assert_eq!(how, json!(["complete", "Recalled"]));
    let memories: Value = serde_json::from_str(&given).unwrap();
    assert_eq!(memories[0]["text"], "She is allergic to peanuts.");

    let events = call(&upstream, &parlor, "forget", json!({ "id": memories[0]["id"] })).await;
    assert_eq!(outcome(&upstream, &events).0, json!(["complete", "Forgot"]));
    let events = call(&upstream, &parlor, "recall", json!({})).await;
    assert_eq!(outcome(&upstream, &events).1, "Nothing is remembered yet.");
}

#[tokio::test]
async fn a_model_is_offered_no_tool_that_is_disabled_or_lacks_its_settings() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let disable = |settings: &mut Settings| {
        settings.tools.pubmed.enabled = false;
        settings.tools.disabled = vec!["calculate".into()];
    };
    let parlor = Parlor::start_built_in(folder.path(), &upstream, disable).await;
    let message = json!({ "message": "Hello", "model": "test/echo" });
    parlor.chat(&message).await.rest().await;
    let offered: Vec<Value> = calls(&upstream)[0]["tools"]
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
