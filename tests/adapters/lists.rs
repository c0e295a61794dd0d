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
        let sent: Vec<String> = upstream
            .requests()
            .into_iter()
            .map(|request| request.query)
            .collect();
        assert_eq!(sent, queries, "{kind:?}");
        assert_eq!(endpoint.context_window("new").await, Some(5000), "{kind:?}");
        assert_eq!(endpoint.context_window("old").await, None, "{kind:?}");
        assert_eq!(
            upstream.requests().len(),
            queries.len(),
            "{kind:?}: the list is known"
        );
    }
}

#[tokio::test]
async fn respects_configured_models_and_windows() {
    for kind in NATIVE_KINDS {
        let upstream = Upstream::start().await;
        let config = EndpointConfig {
            models: vec!["mine".into()],
            context_window: Some(4000),
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
