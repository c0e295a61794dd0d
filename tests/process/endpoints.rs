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

/// Crashes at a point of a change, and sends it again. Returns what was there after the crash, and in the end.
async fn crash(
    data: &Path,
    upstream: &Upstream,
    point: &str,
    request: &Request,
) -> [Vec<(String, Value)>; 2] {
    let server = Server::start_with_failpoint(data, upstream, point).await;
    assert_eq!(request.send(&server).await, None, "it crashes");
    server.expect_crash().await;
    let server = Server::start(data, upstream).await;
    let found = added(&server).await;
    for _ in 0..2 {
        let status = request.send(&server).await.unwrap();
        assert!((200..300).contains(&status), "{status}");
    }
    let end = added(&server).await;
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
            let [found, end] = crash(folder.path(), &upstream, point, change).await;
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
