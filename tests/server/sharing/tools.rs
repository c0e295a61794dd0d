//! Results of tools, which are the owner's alone.

use parlor_base::settings::{SearchEngine, WebSearchSettings};
use reqwest::Client;
use serde_json::{Value, json};
use upstream::{Page, Script, Upstream, When};

use super::{Share, page, read_shared};
use crate::{
    data::make_database,
    support::{Parlor, string_field},
};

/// Starts a server with a database, a search engine and an image model.
async fn start(upstream: &Upstream) -> (tempfile::TempDir, Parlor) {
    let folder = tempfile::tempdir().unwrap();
    let database = make_database(folder.path(), "town").await;
    let searxng = upstream.url_of("/searxng");
    let results =
        json!([{ "url": "https://example.com/", "title": "canary-result", "content": "canary-result" }]);
    let found = json!({ "query": "canary-argument", "results": results });
    upstream.add_page("/searxng/search", Page::json(&found));
    let parlor = Parlor::start_built_in(&folder.path().join("data"), upstream, |settings| {
        settings.databases = vec![database];
        settings.data.offer_everywhere = true;
        settings.images.model = Some("test/gpt-image-1".into());
        settings.tools.web_search = Some(WebSearchSettings {
            provider: SearchEngine::Searxng,
            url: Some(searxng),
            api_key_env: None,
            api_key: None,
        });
    })
    .await;
    (folder, parlor)
}

/// Returns the tool calls of a conversation's last message.
fn last_calls(transcript: &Value) -> Vec<Value> {
    let last = transcript["messages"]
        .as_array()
        .and_then(|messages| messages.last());
    let nodes = last.and_then(|last| last["nodes"].as_array()).expect("an answer");
    let parts = nodes
        .iter()
        .flat_map(|node| node["parts"].as_array().expect("parts"));
    parts
        .filter(|part| part["type"] == "tool_call")
        .cloned()
        .collect()
}

#[tokio::test]
async fn results_of_tools_stay_with_their_owner() {
    let upstream = Upstream::start().await;
    let (_folder, parlor) = start(&upstream).await;
    upstream.add_script(When::any(), Script::new().text("Yes."));
    let conversation = string_field(&parlor.turn(None, "Hello").await[0], "conversation_id");
    let share = Share::create(&parlor, &conversation, None, true).await;
    let reader = Client::new();
    let mut stream = share.follow(&parlor, &reader).await;
    stream.next().await.expect("the state");

    let query = "SELECT 'canary-' || 'result' AS a, 'canary-argument' AS b";
    let calls = Script::new()
        .tool_call("a", "sql_query", json!({ "query": query }).to_string())
        .tool_call(
            "b",
            "web_search",
            json!({ "query": "canary-argument" }).to_string(),
        )
        .tool_call(
            "c",
            "generate_image",
            json!({ "prompt": "canary-argument" }).to_string(),
        );
    upstream.add_script(When::user_contains("Look it up"), calls);
    upstream.add_script(When::tool_gave(""), Script::new().text("shown-answer"));
    parlor.turn(Some(&conversation), "Look it up").await;
    let own = parlor.transcript(&conversation).await;
    let calls = last_calls(&own);
    assert!(
        calls.len() == 3 && calls.iter().all(|call| call["status"] == "complete"),
        "{calls:#?}"
    );
    for planted in ["canary-result", "canary-argument.png"] {
        assert!(
            own.to_string().contains(planted),
            "{planted} was not planted: {own}"
        );
    }

    let mut found = json!(stream.until("complete").await).to_string();
    let snapshot = Share::create(&parlor, &conversation, None, false).await;
    for share in [&share, &snapshot] {
        let (status, state) = read_shared(&parlor, &reader, share.key()).await;
        assert_eq!((status, last_calls(&state["transcript"]).len()), (200, 3));
        found += &state.to_string();
        found += &page(&parlor, &reader, &share.path).await.1;
        for call in &calls {
            if let Some(id) = call["payload"]["payload_id"].as_str() {
                let request = reader.post(format!("{}/rpc/shared_payload", parlor.url));
                let request = request.header("content-type", "application/json");
                let body = json!({ "key": share.key(), "payload_id": id, "is_preview": false });
                let response = request.body(body.to_string()).send().await.unwrap();
                assert_eq!(response.status(), 404, "{call}");
                let path = format!("{}{}/payloads/{id}/file", parlor.url, share.path);
                assert_eq!(reader.get(path).send().await.unwrap().status(), 404, "{call}");
            }
        }
        let image = &calls[2]["attachments"][0];
        let path = format!("{}{}/files/{}", parlor.url, share.path, string_field(image, "id"));
        let response = reader.get(path).send().await.unwrap();
        assert_eq!(response.status(), 200);
        found += &format!("{:?}", response.headers());
    }
    for shown in ["shown-answer", "image.png"] {
        assert!(found.contains(shown), "{shown} is not shared");
    }
    assert!(!found.contains("canary-"), "a result is shared: {found}");
}
