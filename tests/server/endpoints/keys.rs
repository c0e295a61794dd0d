//! The keys of added model servers at rest: encrypted, bound to their address, and lost with Parlor's own key.

use std::fs;

use parlor_base::settings::Secret;

use super::*;

fn with_secret_key(byte: u8) -> impl FnOnce(&mut Settings) {
    move |settings| settings.server.secret_key = Some(Secret(format!("{byte:02x}").repeat(32)))
}

/// Returns true if a file of the data folder has a text.
fn is_stored(folder: &Path, text: &str) -> bool {
    fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => is_stored(&path, text),
            false => fs::read(path)
                .unwrap()
                .windows(text.len())
                .any(|part| part == text.as_bytes()),
        }
    })
}

#[tokio::test]
async fn a_key_is_stored_encrypted_and_never_sent_back() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), upstream_with_models(&["a"]).await);
    let parlor = start(folder.path(), &upstream, |_| {}).await;
    let new = endpoint("mine", &upstream);
    let added = add(&parlor, &new).await;
    let (_, listed) = parlor.get_json("/api/endpoints").await;
    let (_, of_page) = parlor.get_json("/rpc/endpoints").await;
    for answer in [&added, &listed, &of_page] {
        assert!(!answer.to_string().contains(KEY), "{answer}");
    }
    model_ids(&parlor).await;
    let requests = upstream.requests();
    let sent = requests.last().unwrap().headers.get("authorization");
    assert_eq!(sent.map(String::as_str), Some(&*format!("Bearer {KEY}")));
    parlor.stop().await;
    assert!(is_stored(folder.path(), "mine"), "the server is stored");
    assert!(!is_stored(folder.path(), KEY));
    assert!(folder.path().join("secret.key").exists());
}

#[tokio::test]
async fn another_secret_key_costs_only_the_keys() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), upstream_with_models(&["a"]).await);
    let parlor = start(folder.path(), &upstream, with_secret_key(1)).await;
    let new = endpoint("mine", &upstream);
    add(&parlor, &new).await;
    let mut open = endpoint("open", &upstream);
    open["key"] = Value::Null;
    add(&parlor, &open).await;
    parlor.stop().await;

    let parlor = start(folder.path(), &upstream, with_secret_key(2)).await;
    let (_, listed) = parlor.get_json("/api/endpoints").await;
    assert_eq!(
        (&listed["endpoints"][0]["key"], &listed["endpoints"][1]["key"]),
        (&json!("needed_again"), &json!("none"))
    );
    assert_eq!(model_ids(&parlor).await, ["open/a"]);
    let (_, models) = parlor.get_json("/api/models").await;
    assert_eq!(models["problems"][0]["code"], "endpoint_key_needed", "{models}");
    let (status, changed) = send(&parlor, "PATCH", &path_of(&new), &json!({ "key": KEY })).await;
    assert_eq!((status, &changed["key"]), (200, &json!("set")));
    assert_eq!(model_ids(&parlor).await, ["mine/a", "open/a"]);
}

#[tokio::test]
async fn an_older_secret_key_is_replaced() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), upstream_with_models(&["a"]).await);
    let parlor = start(folder.path(), &upstream, with_secret_key(1)).await;
    add(&parlor, &endpoint("mine", &upstream)).await;
    parlor.stop().await;
    let both = |settings: &mut Settings| {
        let keys = ["02", "01"].map(|byte| byte.repeat(32)).join(",");
        settings.server.secret_key = Some(Secret(keys));
    };
    let parlor = start(folder.path(), &upstream, both).await;
    assert_eq!(model_ids(&parlor).await, ["mine/a"]);
    parlor.stop().await;
    let parlor = start(folder.path(), &upstream, with_secret_key(2)).await;
    let (_, listed) = parlor.get_json("/api/endpoints").await;
    assert_eq!(listed["endpoints"][0]["key"], "set");
}

#[tokio::test]
async fn a_key_never_goes_to_another_address() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), upstream_with_models(&["a"]).await);
    let other = upstream_with_models(&["b"]).await;
    let parlor = start(folder.path(), &upstream, |_| {}).await;
    let new = endpoint("mine", &upstream);
    add(&parlor, &new).await;
    let moved = json!({ "base_url": other.url() });
    let (status, refused) = send(&parlor, "PATCH", &path_of(&new), &moved).await;
    assert_eq!(status, 400, "{refused}");
    let test = json!({ "kind": "openai", "base_url": other.url(), "id": new["id"] });
    let (status, refused) = send(&parlor, "POST", "/api/endpoints/test", &test).await;
    assert_eq!(status, 400, "{refused}");
    assert_eq!(other.requests().len(), 0);

    let test = json!({ "kind": "openai", "base_url": upstream.url(), "id": new["id"] });
    upstream.require_key(KEY);
    let (_, found) = send(&parlor, "POST", "/api/endpoints/test", &test).await;
    assert_eq!(found["problem"], Value::Null, "{found}");
    let moved = json!({ "base_url": other.url(), "key": "" });
    let (status, changed) = send(&parlor, "PATCH", &path_of(&new), &moved).await;
    assert_eq!((status, &changed["key"]), (200, &json!("none")));
    assert_eq!(model_ids(&parlor).await, ["mine/b"]);
    let sent = other.requests();
    assert!(
        sent.iter()
            .all(|request| !request.headers.contains_key("authorization"))
    );
}
