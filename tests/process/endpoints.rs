//! A crash while model servers are changed: the change is there or not, and the same request again applies it once.

use std::path::Path;

use serde_json::{Value, json};
use upstream::Upstream;
use uuid::Uuid;

use crate::{Server, failpoints::ENDPOINT_POINTS};

/// A change of the model servers by a request.
struct Request {
    method: reqwest::Method,
    path: String,
    body: Value,
}

impl Request {
    /// Returns the status; `None` if the server is gone.
    async fn send(&self, server: &Server) -> Option<u16> {
        let url = format!("{}{}", server.url, self.path);
        let request = reqwest::Client::new().request(self.method.clone(), url);
        let request = request
            .header("content-type", "application/json")
            .body(self.body.to_string());
        Some(request.send().await.ok()?.status().as_u16())
    }
}

/// The names and the hidden models of those that were added.
async fn added(server: &Server) -> Vec<(String, Value)> {
    let listed = reqwest::get(format!("{}/api/endpoints", server.url))
        .await
        .unwrap();
    let listed: Value = serde_json::from_str(&listed.text().await.unwrap()).unwrap();
    let all = listed["endpoints"].as_array().unwrap().iter();
    all.filter(|endpoint| !endpoint["id"].is_null())
        .map(|endpoint| {
            (
                endpoint["name"].as_str().unwrap().to_owned(),
                endpoint["hidden_models"].clone(),
            )
        })
        .collect()
}

fn new_endpoint(name: &str) -> Value {
    json!({
        "id": Uuid::now_v7(), "name": name, "kind": "openai", "base_url": "http://127.0.0.1:9/v1", "key": "sk-0123456789",
    })
}

/// True if keys of users' own are allowed, and the enabled ones of those that were added.
async fn own_keys(server: &Server) -> (bool, Vec<bool>) {
    let listed = reqwest::get(format!("{}/api/own-keys", server.url))
        .await
        .unwrap();
    let listed: Value = serde_json::from_str(&listed.text().await.unwrap()).unwrap();
    let keys = listed["keys"].as_array().unwrap().iter();
    let are_enabled = keys.map(|key| key["is_enabled"] == true).collect();
    (listed["is_allowed"] == true, are_enabled)
}

/// Crashes at a point of a change, and sends it again. Returns what `read` finds after the crash, and in the end.
async fn crash<T>(
    data: &Path,
    upstream: &Upstream,
    point: &str,
    request: &Request,
    read: impl AsyncFn(&Server) -> T,
) -> [T; 2] {
    let server = Server::start_with_failpoint(data, upstream, point).await;
    assert_eq!(request.send(&server).await, None, "it crashes");
    server.expect_crash().await;
    let server = Server::start(data, upstream).await;
    let found = read(&server).await;
    for _ in 0..2 {
        let status = request.send(&server).await.unwrap();
        assert!((200..300).contains(&status), "{status}");
    }
    let end = read(&server).await;
    server.kill().await;
    [found, end]
}

#[tokio::test]
async fn a_change_that_was_cut_off_is_applied_once() {
    parlor_web::http_client::install_tls();
    let upstream = Upstream::start().await;
    let name = |name: &str, hidden: &[&str]| (name.to_owned(), json!(hidden));
    for (point, is_applied) in ENDPOINT_POINTS.into_iter().zip([false, true]) {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (new_endpoint("one"), new_endpoint("two"));
        let path = format!("/api/endpoints/{}", one["id"].as_str().unwrap());
        let request = |method, path: &str, body| Request {
            method,
            path: path.into(),
            body,
        };
        let changes = [
            request(reqwest::Method::POST, "/api/endpoints", one),
            request(reqwest::Method::POST, "/api/endpoints", two),
            request(reqwest::Method::PATCH, &path, json!({ "hidden_models": ["a"] })),
            request(reqwest::Method::DELETE, &path, Value::Null),
        ];
        let states = [
            vec![],
            vec![name("one", &[])],
            vec![name("one", &[]), name("two", &[])],
            vec![name("one", &["a"]), name("two", &[])],
            vec![name("two", &[])],
        ];
        for (change, states) in changes.iter().zip(states.windows(2)) {
            let [found, end] = crash(folder.path(), &upstream, point, change, added).await;
            let expected = if is_applied { &states[1] } else { &states[0] };
            assert_eq!(
                (&found, &end),
                (expected, &states[1]),
                "{point}, {} {}",
                change.method,
                change.path
            );
        }
    }
}

#[tokio::test]
async fn a_change_of_own_keys_that_was_cut_off_is_applied_once() {
    parlor_web::http_client::install_tls();
    let upstream = Upstream::start().await;
    for (point, is_applied) in ENDPOINT_POINTS.into_iter().zip([false, true]) {
        let folder = tempfile::tempdir().unwrap();
        let id = Uuid::now_v7();
        let path = format!("/api/own-keys/{id}");
        let request = |method, path: &str, body| Request {
            method,
            path: path.into(),
            body,
        };
        let new = json!({ "id": id, "service": "groq", "key": "sk-0123456789" });
        let changes = [
            request(
                reqwest::Method::PUT,
                "/api/own-keys/allowed",
                json!({ "is_allowed": true }),
            ),
            request(reqwest::Method::POST, "/api/own-keys", new),
            request(reqwest::Method::PATCH, &path, json!({ "is_enabled": false })),
            request(reqwest::Method::DELETE, &path, Value::Null),
        ];
        let states = [
            (false, vec![]),
            (true, vec![]),
            (true, vec![true]),
            (true, vec![false]),
            (true, vec![]),
        ];
        for (change, states) in changes.iter().zip(states.windows(2)) {
            let [found, end] = crash(folder.path(), &upstream, point, change, own_keys).await;
            let expected = if is_applied { &states[1] } else { &states[0] };
            let what = format!("{point}, {} {}", change.method, change.path);
            assert_eq!((&found, &end), (expected, &states[1]), "{what}");
        }
    }
}
