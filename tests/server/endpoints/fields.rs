//! What is entered in the wrong field, and names with markup.

use super::*;

#[tokio::test]
async fn a_key_in_the_wrong_field_is_refused_unquoted() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), upstream_with_models(&["a"]).await);
    let parlor = start(folder.path(), &upstream, |_| {}).await;
    let with_user = upstream.url().replacen("://", &format!("://user:{KEY}@"), 1);
    for (field, value) in [
        ("name", KEY.to_owned()),
        ("base_url", KEY.to_owned()),
        ("base_url", with_user),
        ("base_url", format!("{}?key={KEY}", upstream.url())),
    ] {
        let mut new = endpoint("mine", &upstream);
        new["key"] = Value::Null;
        new[field] = json!(value);
        let (status, refused) = send(&parlor, "POST", "/api/endpoints", &new).await;
        let text = refused.to_string();
        assert_eq!(status, 400, "{text}");
        assert!(
            text.contains("own field") && text.contains("Nothing was saved."),
            "{text}"
        );
        assert!(!text.contains(KEY), "{text}");
        let test = json!({ "test": { "kind": "openai", "base_url": new["base_url"] } });
        if field == "base_url" {
            let (status, refused) = send(&parlor, "POST", "/rpc/test_endpoint", &test).await;
            assert_eq!(status, 400);
            assert!(!refused.to_string().contains(KEY), "{refused}");
        }
    }
    let mut new = endpoint("mine", &upstream);
    new["key"] = json!(upstream.url());
    let (status, refused) = send(&parlor, "POST", "/api/endpoints", &new).await;
    assert_eq!(status, 400, "{refused}");
    assert_eq!(
        parlor.get_json("/api/endpoints").await,
        (200, json!({ "endpoints": [] }))
    );
    assert_eq!(upstream.requests().len(), 0);
}

#[tokio::test]
async fn names_of_models_with_markup_are_only_text() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start().await);
    let odd = "<img src=x onerror=alert(1)>/\"a b\"";
    upstream.list_models(200, json!({ "data": [{ "id": odd }, { "id": "a" }] }));
    upstream.add_script(When::any(), Script::new().text("Yes."));
    let parlor = start(folder.path(), &upstream, |_| {}).await;
    let test = json!({ "kind": "openai", "base_url": upstream.url() });
    let (_, found) = send(&parlor, "POST", "/api/endpoints/test", &test).await;
    let found = found["models"].as_array().unwrap();
    assert!(found.iter().any(|model| model["name"] == odd), "{found:?}");
    let mut new = endpoint("mine", &upstream);
    new["hidden_models"] = json!(["a"]);
    add(&parlor, &new).await;
    assert_eq!(model_ids(&parlor).await, [format!("mine/{odd}")]);
    let turn = json!({ "message": "Hello", "model": format!("mine/{odd}") });
    let events = parlor.chat(&turn).await.read_to_end().await;
    assert_eq!(event_types(&events).last().copied(), Some("complete"));
    for path in ["/", "/settings/models"] {
        let page = parlor
            .get(path)
            .header("accept", "text/html")
            .send()
            .await
            .unwrap();
        let html = page.text().await.unwrap();
        assert!(!html.contains("<img src=x"), "{path}");
        assert!(
            path != "/" || html.contains("&lt;img src=x"),
            "it is in the list of models"
        );
    }
}
