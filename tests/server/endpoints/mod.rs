//! Model servers that administrators add while Parlor runs.
//!
//! - [`certificates`]: an address that can not be trusted
//! - [`fields`]: what is refused
//! - [`keys`]: their keys at rest
//! - [`own_keys`]: keys that users bring

mod certificates;
mod fields;
mod keys;
mod own_keys;

use std::path::Path;

use parlor_base::settings::Settings;
use serde_json::{Value, json};
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use crate::{
    accounts::{Browser, with_passwords},
    support::{Parlor, event_types, read_json},
    tokens::create_token,
};

const KEY: &str = "sk-added-0123456789";

/// Starts a server without a model server in its settings.
async fn start(data: &Path, upstream: &Upstream, change: impl FnOnce(&mut Settings)) -> Parlor {
    Parlor::start_built_in(data, upstream, |settings| {
        settings.endpoints.clear();
        settings.models.discover = false;
        change(settings);
    })
    .await
}

fn endpoint(name: &str, upstream: &Upstream) -> Value {
    json!({
        "id": Uuid::now_v7(), "name": name, "kind": "openai", "base_url": upstream.url(), "key": KEY,
    })
}

/// Sends a request with a body. Returns the status and the JSON body.
async fn send(parlor: &Parlor, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let request = parlor
        .client
        .request(method.parse().unwrap(), format!("{}{path}", parlor.url))
        .header("content-type", "application/json")
        .body(body.to_string());
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    match status {
        204 => (status, Value::Null),
        _ => (status, read_json(response).await),
    }
}

async fn add(parlor: &Parlor, endpoint: &Value) -> Value {
    let (status, added) = send(parlor, "POST", "/api/endpoints", endpoint).await;
    assert_eq!(status, 201, "{added}");
    added
}

fn path_of(endpoint: &Value) -> String {
    format!("/api/endpoints/{}", endpoint["id"].as_str().unwrap())
}

async fn model_ids(parlor: &Parlor) -> Vec<String> {
    let (_, list) = parlor.get_json("/api/models").await;
    let models = list["models"].as_array().unwrap().iter();
    models
        .map(|model| model["id"].as_str().unwrap().to_owned())
        .collect()
}

async fn upstream_with_models(models: &[&str]) -> Upstream {
    let upstream = Upstream::start().await;
    let data: Vec<_> = models.iter().map(|id| json!({ "id": id })).collect();
    upstream.list_models(200, json!({ "data": data }));
    upstream.add_script(When::any(), Script::new().text("Yes."));
    upstream
}

#[tokio::test]
async fn an_added_server_answers_without_a_restart() {
    let (folder, upstream) = (
        tempfile::tempdir().unwrap(),
        upstream_with_models(&["a", "b"]).await,
    );
    upstream.require_key(KEY);
    let parlor = start(folder.path(), &upstream, |_| {}).await;
    assert_eq!(model_ids(&parlor).await, ["parlor/tour"]);
    let mut live = parlor.follow("/api/events").await;

    let new = endpoint("mine", &upstream);
    let added = add(&parlor, &new).await;
    let expected = json!({
        "id": new["id"], "name": "mine", "kind": "openai", "base_url": upstream.url(), "key": "set", "is_enabled": true,
        "models": [], "hidden_models": [], "takes_own_keys": false, "problem": null,
    });
    assert_eq!(added, expected);
    assert_eq!(live.next().await.unwrap()["type"], "models_changed");
    assert_eq!(model_ids(&parlor).await, ["mine/a", "mine/b"]);
    let turn = json!({ "message": "Hello", "model": "mine/a" });
    let events = parlor.chat(&turn).await.read_to_end().await;
    assert_eq!(
        event_types(&events).last().copied(),
        Some("complete"),
        "{events:?}"
    );
    parlor.stop().await;

    let parlor = start(folder.path(), &upstream, |_| {}).await;
    assert_eq!(model_ids(&parlor).await, ["mine/a", "mine/b"], "it is stored");
    let (status, changed) = send(
        &parlor,
        "PATCH",
        &path_of(&new),
        &json!({ "hidden_models": ["a"] }),
    )
    .await;
    assert_eq!((status, &changed["hidden_models"]), (200, &json!(["a"])));
    assert_eq!(model_ids(&parlor).await, ["mine/b"]);
    send(&parlor, "PATCH", &path_of(&new), &json!({ "is_enabled": false })).await;
    assert_eq!(model_ids(&parlor).await, ["parlor/tour"]);
    send(&parlor, "PATCH", &path_of(&new), &json!({ "is_enabled": true })).await;
    assert_eq!(model_ids(&parlor).await, ["mine/b"]);
    for _ in 0..2 {
        assert_eq!(send(&parlor, "DELETE", &path_of(&new), &Value::Null).await.0, 204);
        assert_eq!(model_ids(&parlor).await, ["parlor/tour"]);
    }
    assert_eq!(
        parlor.get_json("/api/endpoints").await,
        (200, json!({ "endpoints": [] }))
    );
}

#[tokio::test]
async fn a_run_keeps_the_server_with_which_it_began() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), upstream_with_models(&["a"]).await);
    upstream.add_script(
        When::user_contains("clock"),
        Script::new().gate("removed").tool_call("1", "current_time", "{}"),
    );
    upstream.add_script(When::tool_gave(""), Script::new().text("It is late."));
    let parlor = start(folder.path(), &upstream, |_| {}).await;
    let new = endpoint("mine", &upstream);
    add(&parlor, &new).await;
    let turn = json!({ "message": "The clock?", "model": "mine/a" });
    let mut stream = parlor.chat(&turn).await;
    upstream.wait_for_gate("removed").await;
    assert_eq!(send(&parlor, "DELETE", &path_of(&new), &Value::Null).await.0, 204);
    upstream.open_gate("removed");
    let mut last = Value::Null;
    while let Some(event) = stream.next().await {
        last = event;
    }
    assert_eq!(last["type"], "complete", "{last}");
    let again = json!({ "message": "Hello", "model": "mine/a" });
    let (status, refused) = send(&parlor, "POST", "/api/chat/stream", &again).await;
    assert!(status >= 400, "{refused}");
}

#[tokio::test]
async fn the_settings_file_wins() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), upstream_with_models(&["a"]).await);
    let parlor = start(folder.path(), &upstream, |_| {}).await;
    let new = endpoint("test", &upstream);
    add(&parlor, &new).await;
    parlor.stop().await;

    let of_file = upstream_with_models(&["b"]).await;
    let parlor = Parlor::start(folder.path(), &of_file).await;
    assert_eq!(model_ids(&parlor).await, ["test/b"]);
    let (_, listed) = parlor.get_json("/api/endpoints").await;
    let [file, added] = &listed["endpoints"].as_array().unwrap()[..] else {
        panic!("two: {listed}")
    };
    assert_eq!((&file["id"], &file["problem"]), (&Value::Null, &Value::Null));
    assert!(
        added["problem"].as_str().unwrap().contains("settings file"),
        "{added}"
    );
    let (status, refused) = send(&parlor, "POST", "/api/endpoints", &endpoint("test", &upstream)).await;
    assert_eq!(status, 400, "{refused}");
}

#[tokio::test]
async fn the_same_request_adds_one() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), upstream_with_models(&["a"]).await);
    let parlor = start(folder.path(), &upstream, |_| {}).await;
    let new = endpoint("mine", &upstream);
    let first = add(&parlor, &new).await;
    parlor.stop().await;
    // The answer got lost in a restart.
    let parlor = start(folder.path(), &upstream, |_| {}).await;
    assert_eq!(add(&parlor, &new).await, first);
    for (field, value) in [
        ("key", "another"),
        ("name", "other"),
        ("base_url", "http://127.0.0.1:9"),
    ] {
        let mut other = new.clone();
        other[field] = json!(value);
        let (status, refused) = send(&parlor, "POST", "/api/endpoints", &other).await;
        assert_eq!(
            (status, &refused["code"]),
            (409, &json!("intent_reused")),
            "{field}"
        );
    }
    let (_, listed) = parlor.get_json("/api/endpoints").await;
    assert_eq!(listed, json!({ "endpoints": [first] }));
}

#[tokio::test]
async fn members_are_refused() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), upstream_with_models(&["a"]).await);
    let mut parlor = start(folder.path(), &upstream, with_passwords).await;
    let mut ann = Browser::new(&parlor);
    ann.set_up(&parlor, "ann").await;
    let ben = ann.invite(&parlor, "ben").await;
    let new = endpoint("mine", &upstream);
    let test = json!({ "kind": "openai", "base_url": upstream.url() });
    let id = new["id"].clone();
    let requests = [
        ("GET", "/api/endpoints".to_owned(), Value::Null),
        ("POST", "/api/endpoints".to_owned(), new.clone()),
        ("PATCH", path_of(&new), json!({})),
        ("DELETE", path_of(&new), Value::Null),
        ("POST", "/api/endpoints/test".to_owned(), test.clone()),
        ("GET", "/rpc/endpoints".to_owned(), Value::Null),
        ("POST", "/rpc/add_endpoint".to_owned(), json!({ "endpoint": new })),
        (
            "POST",
            "/rpc/change_endpoint".to_owned(),
            json!({ "id": id, "update": {} }),
        ),
        ("POST", "/rpc/remove_endpoint".to_owned(), json!({ "id": id })),
        ("POST", "/rpc/test_endpoint".to_owned(), json!({ "test": test })),
        ("GET", "/rpc/local_servers".to_owned(), Value::Null),
    ];
    parlor.client = ben.signed_in_client();
    for (method, path, body) in &requests {
        let (status, refused) = send(&parlor, method, path, body).await;
        assert_eq!(
            (status, &refused["code"]),
            (403, &json!("forbidden")),
            "{method} {path}"
        );
    }
    assert_eq!(upstream.requests().len(), 0, "nothing was tested");

    parlor.client = ann.signed_in_client();
    let token = create_token(&parlor, "a").await;
    for (method, path, body) in &requests[..5] {
        let url = format!("{}{path}", parlor.url);
        let client = Browser::new(&parlor).client;
        let request = client.request(method.parse().unwrap(), url).bearer_auth(&token);
        let refused = request.json(body).send().await.unwrap();
        assert_eq!(
            refused.status(),
            403,
            "a token of an administrator: {method} {path}"
        );
    }
    assert_eq!(upstream.requests().len(), 0, "nothing was tested");

    add(&parlor, &new).await;
    send(&parlor, "PATCH", &path_of(&new), &json!({ "key": "k2" })).await;
    send(&parlor, "DELETE", &path_of(&new), &Value::Null).await;
    let log = ann.page("/settings/audit").await;
    for sentence in [
        "added the model server mine",
        "changed the key of the model server mine",
        "removed the model server mine",
    ] {
        assert!(log.contains(sentence), "{sentence}");
    }
    parlor.client = ben.signed_in_client();
    assert_eq!(model_ids(&parlor).await, ["parlor/tour"]);
}

#[tokio::test]
async fn servers_of_this_machine_are_found() {
    let (folder, upstream) = (
        tempfile::tempdir().unwrap(),
        upstream_with_models(&["a", "b"]).await,
    );
    let (url, nothing) = (upstream.url(), "http://127.0.0.1:9/v1".to_owned());
    let parlor = start(folder.path(), &upstream, |settings| {
        // Whatever this machine has at the usual ports.
        settings.models.local = ["ollama", "lmstudio", "llama.cpp", "vllm"]
            .map(|name| (name.to_owned(), nothing.clone()))
            .into();
        settings.models.local.insert("llama.cpp".into(), url.clone());
    })
    .await;
    let (_, found) = parlor.get_json("/rpc/local_servers").await;
    let found = found.as_array().unwrap();
    let here = json!({
        "name": "llama.cpp", "label": "llama.cpp", "base_url": url, "models": 2, "finding": "It is here, with 2 models.",
    });
    assert_eq!((found.len(), &found[2]), (4, &here));
    for gone in [&found[0], &found[1], &found[3]] {
        assert_eq!(gone["models"], 0);
        assert!(
            gone["finding"]
                .as_str()
                .unwrap()
                .starts_with("Nothing answers at this port."),
            "{gone}"
        );
    }
    assert_eq!(model_ids(&parlor).await, ["parlor/tour"], "nothing is added");
}
