//! The lists of models.

use super::*;

#[tokio::test]
async fn lists_all_pages_with_windows() {
    for kind in NATIVE_KINDS {
        let upstream = Upstream::start().await;
        let (pages, queries) = match kind {
            Anthropic => (
                vec![
                    json!({ "data": [{ "id": "new", "display_name": "New", "max_input_tokens": 5000 }], "has_more": true, "last_id": "new" }),
                    json!({ "data": [{ "id": "old", "display_name": "Old" }], "has_more": false, "last_id": "old" }),
                ],
                vec!["limit=1000", "limit=1000&after_id=new"],
            ),
            Gemini => (
                vec![
                    json!({ "models": [{ "name": "models/new", "displayName": "New", "inputTokenLimit": 5000 }], "nextPageToken": "t" }),
                    json!({ "models": [{ "name": "models/old", "displayName": "Old" }] }),
                ],
                vec!["pageSize=1000", "pageSize=1000&pageToken=t"],
            ),
            _ => (
                vec![json!({ "data": [
                    { "id": "new", "name": "New", "context_length": 5000, "created": 2 },
                    { "id": "old", "name": "Old", "created": 1 }, { "id": "whisper-1" },
                ] })],
                vec![""],
            ),
        };
        upstream.list_pages(pages);
        let endpoint = endpoint(kind, &upstream);
        let ListedModels { selectable, .. } = endpoint.models().await.unwrap();
        let names: Vec<(&str, &str)> = selectable
            .iter()
            .map(|model| (model.id.as_str(), model.name.as_str()))
            .collect();
        assert_eq!(names, [("acme/new", "New"), ("acme/old", "Old")], "{kind:?}");
        let list_queries = || -> Vec<String> {
            let requests = upstream.requests().into_iter();
            let lists = requests.filter(|request| {
                // LM Studio's own list is part of the probe.
                request.path.ends_with("/models") && request.path != "/api/v0/models"
            });
            lists.map(|request| request.query).collect()
        };
        let sent = list_queries();
        assert_eq!(sent, queries, "{kind:?}");
        assert_eq!(endpoint.context_window("new").await, Some(5000), "{kind:?}");
        assert_eq!(endpoint.context_window("old").await, None, "{kind:?}");
        assert_eq!(list_queries(), queries, "{kind:?}: the list is known");
    }
}

#[tokio::test]
async fn respects_configured_models_and_windows() {
    for kind in NATIVE_KINDS {
        let upstream = Upstream::start().await;
        let config = EndpointConfig {
            models: vec!["mine".into()],
            context_window: Some(4000),
            // Otherwise a local server is asked.
            takes_tools: Some(true),
            ..config(kind, &upstream)
        };
        let endpoint = create_endpoint(&config).unwrap();
        assert_eq!(endpoint.models().await.unwrap().ids, ["mine"]);
        assert_eq!(endpoint.context_window("mine").await, Some(4000));
        assert!(upstream.requests().is_empty(), "{kind:?}");
    }
}

#[tokio::test]
async fn a_repeated_page_ends_the_list() {
    let upstream = Upstream::start().await;
    upstream.list_pages([json!({ "data": [{ "id": "a" }], "has_more": true, "last_id": "a" })]);
    assert_eq!(endpoint(Anthropic, &upstream).models().await.unwrap().ids, ["a"]);
    assert_eq!(upstream.requests().len(), 2);
}

#[tokio::test]
async fn local_server_defines_window_and_tools() {
    for kind in NATIVE_KINDS {
        let upstream = Upstream::start().await;
        let entry = json!({ "id": "smol", "name": "models/smol", "meta": { "n_ctx_train": 8192 } });
        upstream.list_models(200, json!({ "data": [entry], "models": [entry] }));
        let props = |takes_tools: bool| {
            Page::json(&json!({
                "default_generation_settings": { "n_ctx": 4096 },
                "chat_template_caps": { "supports_tools": takes_tools },
            }))
        };
        upstream.add_page("/props", props(false));
        let endpoint = endpoint(kind, &upstream);
        assert!(endpoint.capabilities("smol").tools);
        assert_eq!(endpoint.context_window("smol").await, Some(4096), "{kind:?}");
        assert!(!endpoint.capabilities("smol").tools, "{kind:?}");
        upstream.add_page("/props", props(true));
        endpoint.context_window("smol").await;
        assert!(endpoint.capabilities("smol").tools, "{kind:?}");
    }
}
