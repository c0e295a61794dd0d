//! Streams of research that the assistant creates, changes and deletes, and a server without PubMed.

use serde_json::{Value, json};
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use super::{
    call_rpc, last_prompt_and_tools, load_library, pubmed_settings, question_on_page, start_parlor,
    start_with,
};
use crate::support::{Parlor, string_field};

/// Has the model call a tool, approves the call, and returns the shown details and the result.
async fn call_approved_tool(
    upstream: &Upstream,
    parlor: &Parlor,
    tool: &str,
    arguments: &Value,
) -> (Value, String) {
    let ask = Uuid::now_v7().to_string();
    upstream.add_script(
        When::user_contains(ask.clone()),
        Script::new().tool_call("id0", tool, arguments.to_string()),
    );
    upstream.add_script(When::tool_gave("stream"), Script::new().text("Done."));
    let context = json!({ "current_page": "literature" });
    let request = json!({ "message": ask, "model": "test/any", "context": context });
    let mut stream = parlor.chat(&request).await;
    let asked = stream.next_of_type("approval_requested").await;
    let run = string_field(&stream.next_of_type("waiting").await, "message_id");
    let allow = json!({ "index": 0, "answer": "allow" });
    let answered = parlor.post(&format!("/api/runs/{run}/approvals"), &allow);
    assert!(answered.send().await.unwrap().status().is_success());
    let given = stream.next_of_type("tool_complete").await["output"].to_string();
    stream.next_of_type("complete").await;
    (asked["detail"].clone(), given)
}

#[tokio::test]
async fn assistant_creates_changes_and_deletes_streams() {
    let (_folder, upstream, parlor) = start_parlor().await;
    let new = json!({ "name": "Sea level", "query": "tides", "instructions": "Mind the moon." });
    let (detail, _) = call_approved_tool(&upstream, &parlor, "make_stream", &new).await;
    assert_eq!(detail, "Sea level: tides. Instructions: Mind the moon.");
    let kept = load_library(&parlor).await["streams"][0].clone();
    assert_eq!(
        (&kept["name"], &kept["query"]),
        (&json!("Sea level"), &json!("tides"))
    );

    let change = json!({ "stream_id": kept["id"], "name": "Sea level", "query": "tides[ti]" });
    let (detail, _) = call_approved_tool(&upstream, &parlor, "change_stream", &change).await;
    assert_eq!(detail, "Sea level → query: tides[ti]");
    let changed = load_library(&parlor).await["streams"][0].clone();
    assert_eq!(
        (&changed["name"], &changed["query"]),
        (&json!("Sea level"), &json!("tides[ti]"))
    );

    // With the name of another stream, the user would have approved something else.
    let wrong = json!({ "stream_id": kept["id"], "name": "Old things" });
    let (_, given) = call_approved_tool(&upstream, &parlor, "delete_stream", &wrong).await;
    assert!(given.contains("is called “Sea level”"), "{given}");
    assert_eq!(load_library(&parlor).await["streams"][0], changed);

    let right = json!({ "stream_id": kept["id"], "name": "Sea level" });
    call_approved_tool(&upstream, &parlor, "delete_stream", &right).await;
    assert_eq!(load_library(&parlor).await["streams"], json!([]));
}

#[tokio::test]
async fn approval_shows_the_open_stream() {
    let (folder, upstream, mut parlor) = start_parlor().await;
    let id = Uuid::now_v7();
    let stream = json!({ "id": id, "name": "Tides", "query": "tides", "instructions": "" });
    call_rpc(&parlor, "save_stream", &json!({ "stream": stream })).await;
    let ask = |tool: &str, arguments: &Value| {
        upstream.add_script(
            When::user_contains("What is this about?"),
            Script::new().tool_call("id0", tool, arguments.to_string()),
        );
    };
    let open = json!({ "current_page": "literature", "stream_id": id });
    for (tool, arguments, detail) in [
        (
            "change_stream",
            json!({ "query": "tides[ti]" }),
            "Tides → query: tides[ti]",
        ),
        ("delete_stream", json!({}), "Tides"),
    ] {
        ask(tool, &arguments);
        let mut stream = parlor.chat(&question_on_page(open.clone())).await;
        let asked = stream.next_of_type("approval_requested").await;
        assert_eq!(asked["detail"], detail);
        assert_eq!(asked["input"], arguments, "what the model wrote stays as it is");
        let run = string_field(&stream.next_of_type("waiting").await, "message_id");
        // Another process plans the call again.
        parlor.stop().await;
        parlor = Parlor::start_built_in(folder.path(), &upstream, pubmed_settings(&upstream)).await;
        upstream.add_script(When::tool_gave("stream"), Script::new().text("Done."));
        let mut stream = parlor.follow(&format!("/api/runs/{run}/events?after=0")).await;
        let allow = json!({ "index": 0, "answer": "allow" });
        let answered = parlor.post(&format!("/api/runs/{run}/approvals"), &allow);
        assert_eq!(answered.send().await.unwrap().status(), 204);
        let ended = stream.next_of_type("tool_complete").await;
        assert_eq!(ended["status"], "complete", "{ended}");
        stream.next_of_type("complete").await;
        if tool == "change_stream" {
            assert_eq!(load_library(&parlor).await["streams"][0]["query"], "tides[ti]");
        }
    }
    assert_eq!(load_library(&parlor).await["streams"], json!([]));

    upstream.add_script(When::tool_gave("No stream is open"), Script::new().text("Which?"));
    ask("delete_stream", &json!({}));
    let nothing_open = question_on_page(json!({ "current_page": "literature" }));
    let events = parlor.chat(&nothing_open).await.read_to_end().await;
    let ended = events.iter().find(|event| event["type"] == "tool_complete");
    assert_eq!(ended.expect("a call")["status"], "failed");
}

#[tokio::test]
async fn disabled_pubmed_removes_its_features() {
    let (_folder, upstream, parlor) = start_with(|settings| settings.tools.pubmed.enabled = false).await;
    let why = load_library(&parlor).await["no_search"].clone();
    assert!(why.as_str().unwrap().contains("tools.pubmed.enabled"), "{why}");
    parlor
        .chat(&question_on_page(json!({ "current_page": "literature" })))
        .await
        .read_to_end()
        .await;
    let (prompt, tools) = last_prompt_and_tools(&upstream);
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
async fn panel_articles_can_be_opened_and_saved() {
    let (_folder, upstream, parlor) = start_parlor().await;
    upstream.add_script(
        When::user_contains("Find"),
        Script::new().tool_call("id0", "search_pubmed", r#"{"query": "tides"}"#),
    );
    upstream.add_script(When::tool_gave("PubMed has"), Script::new().text("One."));
    let ask = json!({ "message": "Find some", "model": "test/any" });
    let events = parlor.chat(&ask).await.read_to_end().await;
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
    // Articles that the assistant has found are cached.
    for program in ["esummary", "efetch"] {
        upstream.add_page(format!("/eutils/{program}.fcgi"), upstream::Page::never());
    }
    let save = json!({ "pmid": "11", "note": "", "saved_at": null });
    call_rpc(&parlor, "save_article", &save).await;
    assert_eq!(shown().await["is_saved"], true);
    let opened = parlor.get_json("/rpc/article?pmid=11").await.1;
    assert_eq!(opened["summary"], json!(super::ABSTRACT_LINES));
}

#[tokio::test]
async fn proposed_query_needs_pubmed() {
    let (folder, upstream, parlor) = start_parlor().await;
    let proposal = r#"QUERY_SUGGESTION: {"query": "tides[ti]"}"#;
    upstream.add_script(When::user_contains("about"), Script::new().text(proposal));
    let ask = question_on_page(json!({ "current_page": "literature" }));
    let events = parlor.chat(&ask).await.read_to_end().await;
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
