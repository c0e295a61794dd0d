//! Streams of research that the assistant makes, changes and deletes, and a server on which PubMed is switched off.

use serde_json::{Value, json};
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use super::{last_call, library, parlor, question, rpc, with};
use crate::support::{Parlor, id};

/// Has the model call a tool, which the person allows, and returns what the person was shown and what the tool gave.
async fn call(upstream: &Upstream, parlor: &Parlor, tool: &str, arguments: &Value) -> (Value, String) {
    let ask = Uuid::now_v7().to_string();
    upstream.script(
        When::user_contains(ask.clone()),
        Script::new().tool_call("id0", tool, arguments.to_string()),
    );
    upstream.script(When::tool_gave("stream"), Script::new().text("Done."));
    let context = json!({ "current_page": "literature" });
    let request = json!({ "message": ask, "model": "test/any", "context": context });
    let mut stream = parlor.chat(&request).await;
    let asked = stream.until("approval_requested").await;
    let run = id(&stream.until("waiting").await, "message_id");
    let allow = json!({ "index": 0, "answer": "allow" });
    let answered = parlor.post(&format!("/api/runs/{run}/approvals"), &allow);
    assert!(answered.send().await.unwrap().status().is_success());
    let given = stream.until("tool_complete").await["output"].to_string();
    stream.until("complete").await;
    (asked["detail"].clone(), given)
}

#[tokio::test]
async fn the_assistant_makes_changes_and_deletes_streams() {
    let (_folder, upstream, parlor) = parlor().await;
    let new = json!({ "name": "Sea level", "query": "tides", "instructions": "Mind the moon." });
    let (detail, _) = call(&upstream, &parlor, "make_stream", &new).await;
    assert_eq!(detail, "Sea level: tides. Instructions: Mind the moon.");
    let kept = library(&parlor).await["streams"][0].clone();
    assert_eq!(
        (&kept["name"], &kept["query"]),
        (&json!("Sea level"), &json!("tides"))
    );

    let change = json!({ "stream_id": kept["id"], "name": "Sea level", "query": "tides[ti]" });
    let (detail, _) = call(&upstream, &parlor, "change_stream", &change).await;
    assert_eq!(detail, "Sea level → query: tides[ti]");
    let changed = library(&parlor).await["streams"][0].clone();
    assert_eq!(
        (&changed["name"], &changed["query"]),
        (&json!("Sea level"), &json!("tides[ti]"))
    );

    // Under the name of another, the person would have allowed something else.
    let wrong = json!({ "stream_id": kept["id"], "name": "Old things" });
    let (_, given) = call(&upstream, &parlor, "delete_stream", &wrong).await;
    assert!(given.contains("is called “Sea level”"), "{given}");
    assert_eq!(library(&parlor).await["streams"][0], changed);

    let right = json!({ "stream_id": kept["id"], "name": "Sea level" });
    call(&upstream, &parlor, "delete_stream", &right).await;
    assert_eq!(library(&parlor).await["streams"], json!([]));
}

#[tokio::test]
async fn without_pubmed_nothing_is_offered_that_needs_it() {
    let (_folder, upstream, parlor) = with(|settings| settings.tools.pubmed.enabled = false).await;
    let why = library(&parlor).await["no_search"].clone();
    assert!(why.as_str().unwrap().contains("tools.pubmed.enabled"), "{why}");
    parlor
        .chat(&question(json!({ "current_page": "literature" })))
        .await
        .rest()
        .await;
    let (prompt, tools) = last_call(&upstream);
    assert!(tools.contains(&"list_saved_articles".to_owned()), "{tools:?}");
    for name in ["search_pubmed", "save_article", "make_stream"] {
        assert!(!tools.contains(&name.to_owned()), "{tools:?}");
    }
    assert!(!prompt.contains("QUERY_SUGGESTION"), "{prompt}");
    let missing = rpc_error(&parlor).await;
    assert!(missing.contains("switched off"), "{missing}");
}

async fn rpc_error(parlor: &Parlor) -> String {
    let found = parlor.get("/rpc/search_articles?query=tides&sort=date&page=1");
    found.send().await.unwrap().text().await.unwrap()
}

#[tokio::test]
async fn an_article_in_the_panel_can_be_opened_and_saved_here() {
    let (_folder, upstream, parlor) = parlor().await;
    upstream.script(
        When::user_contains("Find"),
        Script::new().tool_call("id0", "search_pubmed", r#"{"query": "tides"}"#),
    );
    upstream.script(When::tool_gave("PubMed has"), Script::new().text("One."));
    let ask = json!({ "message": "Find some", "model": "test/any" });
    let events = parlor.chat(&ask).await.rest().await;
    let made = events
        .iter()
        .find(|event| !event["payload"]["payload_id"].is_null())
        .expect("a payload");
    let (conversation, payload) = (
        events[0]["conversation_id"].as_str().unwrap(),
        made["payload"]["payload_id"].as_str().unwrap(),
    );
    let path = format!("/rpc/payload?conversation_id={conversation}&payload_id={payload}");
    let shown = async || parlor.get_json(&path).await.1["body"]["articles"]["articles"][0].clone();
    let before = shown().await;
    assert_eq!(
        (&before["pmid"], &before["is_saved"]),
        (&json!("11"), &Value::Null)
    );
    // What the assistant has found need not be asked for again.
    for program in ["esummary", "efetch"] {
        upstream.page(format!("/eutils/{program}.fcgi"), upstream::Page::never());
    }
    let save = json!({ "pmid": "11", "note": "", "saved_at": null });
    rpc(&parlor, "save_article", &save).await;
    assert_eq!(shown().await["is_saved"], true);
    let opened = parlor.get_json("/rpc/article?pmid=11").await.1;
    assert_eq!(opened["summary"], json!(super::ABSTRACT));
}

#[tokio::test]
async fn a_proposed_query_can_not_be_accepted_without_pubmed() {
    let (folder, upstream, parlor) = parlor().await;
    let proposal = r#"QUERY_SUGGESTION: {"query": "tides[ti]"}"#;
    upstream.script(When::user_contains("about"), Script::new().text(proposal));
    let ask = question(json!({ "current_page": "literature" }));
    let events = parlor.chat(&ask).await.rest().await;
    let made = events.iter().find(|event| event["type"] == "payload_made");
    let payload = made.expect("a payload")["payload"]["payload_id"]
        .as_str()
        .unwrap();
    let conversation = events[0]["conversation_id"].as_str().unwrap();
    let path = format!("/rpc/payload?conversation_id={conversation}&payload_id={payload}");
    let view = parlor.get_json(&path).await.1;
    assert_eq!(
        (&view["is_proposal"], &view["obstacle"]),
        (&json!(true), &Value::Null)
    );
    parlor.stop().await;

    let parlor = Parlor::start_built_in(folder.path(), &upstream, |settings| {
        settings.tools.pubmed.enabled = false;
    })
    .await;
    let obstacle = parlor.get_json(&path).await.1["obstacle"].clone();
    assert!(obstacle.as_str().unwrap().contains("switched off"), "{obstacle}");
}
