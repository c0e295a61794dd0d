//! The document of the public contract (`docs/openapi.json`), checked against every response and every event
//! of these tests.

mod document;

use std::collections::BTreeSet;

use reqwest::header::CONTENT_TYPE;
use serde_json::{Value, json};
use upstream::{Script, Upstream, When};
use uuid::Uuid;

pub use self::document::{DOCUMENT, check_event, check_response};
use self::document::{operations, resolve_reference, schema_errors, validator};
use crate::support::{Parlor, TEST_TIMEOUT, parlor_answering, raw_model_calls, read_json};

#[tokio::test]
async fn serves_the_document_unchanged() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new()).await;
    let response = parlor.get("/api/openapi.json").send().await.unwrap();
    assert_eq!(response.headers()[CONTENT_TYPE], "application/json");
    assert_eq!(read_json(response).await, *DOCUMENT);
}

#[tokio::test]
async fn routes_accept_exactly_the_documented_methods() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new()).await;
    for (path, methods) in DOCUMENT["paths"].as_object().unwrap() {
        let other = reqwest::Method::from_bytes(b"PURGE").unwrap();
        let url = format!("{}{}", parlor.url, fill_path(path, &Uuid::now_v7().to_string()));
        let refused = parlor.client.request(other, url).send().await.unwrap();
        assert_eq!(refused.status(), 405, "{path}");
        let allowed = refused.headers()["allow"].to_str().unwrap().to_lowercase();
        // A URL that supports GET also supports HEAD.
        let allowed: BTreeSet<&str> = allowed.split(',').filter(|method| *method != "head").collect();
        let described: BTreeSet<&str> = methods.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(allowed, described, "{path}");
        assert_eq!(read_json(refused).await["code"], "wrong_method");
    }
}

/// Replaces each parameter of a path.
fn fill_path(path: &str, id: &str) -> String {
    let parts = path
        .split('/')
        .map(|part| if part.starts_with('{') { id } else { part });
    parts.collect::<Vec<_>>().join("/")
}

#[test]
fn examples_and_references_are_valid() {
    let mut examples = 0;
    for (path, method, operation) in operations() {
        let bodies = operation["requestBody"]["content"]
            .as_object()
            .into_iter()
            .flatten();
        let responses = operation["responses"].as_object().unwrap().values();
        let answers = responses.flat_map(|response| {
            let content = resolve_reference(response)["content"].as_object();
            content.into_iter().flatten()
        });
        for (media_type, content) in bodies.chain(answers) {
            // A body of any type needs no schema.
            if matches!(media_type.as_str(), "*/*" | "application/octet-stream") {
                continue;
            }
            assert!(!validator(&content["schema"]).is_valid(&json!("neither text nor nothing")));
            if let Some(example) = content.get("example") {
                examples += 1;
                let faults = schema_errors(&content["schema"], example);
                assert!(faults.is_empty(), "{method} {path}: {faults:#?}");
            }
        }
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let parameter = resolve_reference(parameter);
            let is_in_path = path.contains(&format!("{{{}}}", parameter["name"].as_str().unwrap()));
            assert_eq!(
                parameter["in"] == "path",
                is_in_path,
                "{method} {path}: {parameter}"
            );
        }
    }
    assert!(examples > 4, "there are examples");
}

/// The server takes all that the document allows.
#[test]
fn document_rejects_what_the_server_rejects() {
    let chat = json!({ "$ref": "#/components/schemas/ChatRequest" });
    let is_valid = |request: &Value| schema_errors(&chat, request).is_empty();
    let with = |parameters: Value| json!({ "message": "Hi", "parameters": parameters });
    for rejected in [
        json!({ "message": "" }),
        json!({ "message": " \n" }),
        json!({ "message": "", "files": [] }),
        json!({ "message": "Hi", "interaction_type": "shouted" }),
        with(json!({ "thinking_budget": 0 })),
        with(json!({ "thinking_budget": "0" })),
        with(json!({ "thinking_budget": 10_000_001 })),
        with(json!({ "thinking_budget": -1 })),
        with(json!({ "max_completion_tokens": 0 })),
        with(json!({ "max_completion_tokens": "many" })),
        with(json!({ "temperature": 2.5 })),
        with(json!({ "temperature": -1 })),
        with(json!({ "temperature": "warm" })),
        with(json!({ "thinking_level": "hard" })),
    ] {
        assert!(!is_valid(&rejected), "{rejected}");
    }
    for accepted in [
        json!({ "message": "", "files": [Uuid::now_v7()] }),
        json!({ "message": " Hi\n" }),
        with(json!({ "thinking_budget": "1", "max_completion_tokens": 10_000_000, "temperature": "0,7" })),
        with(
            json!({ "thinking_budget": null, "max_completion_tokens": "", "temperature": 2, "thinking_level": null }),
        ),
        with(json!({ "temperature": " 1.25 ", "thinking_level": "xhigh" })),
    ] {
        assert!(
            is_valid(&accepted),
            "{accepted}: {:?}",
            schema_errors(&chat, &accepted)
        );
    }
}

#[test]
fn validation_detects_undocumented_fields() {
    let whole =
        json!({ "position": 1, "conversation_id": Uuid::now_v7(), "type": "model_chosen", "model": "x/m" });
    let schema = json!({ "$ref": "#/components/schemas/Event" });
    assert_eq!(schema_errors(&schema, &whole), Vec::<String>::new());
    for (field, value) in [
        ("another", json!(1)),
        ("model", json!(1)),
        ("conversation_id", json!("7")),
    ] {
        let mut other = whole.clone();
        other[field] = value;
        assert!(!schema_errors(&schema, &other).is_empty(), "{field}");
    }
    let mut less = whole;
    less.as_object_mut().unwrap().remove("model");
    assert!(!schema_errors(&schema, &less).is_empty());
}

/// Sends invalid values wherever values are accepted.
#[tokio::test]
async fn every_response_is_documented() {
    let (_folder, upstream, parlor) = parlor_answering(Script::new().text("x")).await;
    let big = "x".repeat(10 << 20);
    let forged = Uuid::now_v7().to_string();
    for (path, method, operation) in operations() {
        let method = reqwest::Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
        let send = |path: String, kind: &str, body: Vec<u8>| {
            let url = format!("{}{path}", parlor.url);
            let request = parlor.client.request(method.clone(), url).timeout(TEST_TIMEOUT);
            request.header(CONTENT_TYPE, kind).body(body).send()
        };
        if path.contains('{') {
            for id in [
                &*forged,
                "7",
                "%00",
                "%FF",
                "..%2F..",
                "' OR 1=1",
                &"9".repeat(5000),
            ] {
                // The client chooses the ids of schedules, projects and columns.
                let chosen = ["/api/schedules/", "/api/projects/", "/api/columns/"];
                let is_chosen = chosen.iter().any(|start| path.starts_with(start));
                if method == reqwest::Method::PUT && is_chosen && id == forged {
                    continue;
                }
                let valid = operation["requestBody"]["content"]["application/json"]["example"].to_string();
                let response = send(fill_path(path, id), "application/json", valid.into())
                    .await
                    .unwrap();
                let status = response.status();
                // Deleting again is not an error.
                let is_gone = method == reqwest::Method::DELETE && status == 204 && id == forged;
                assert!(is_gone || status == 404, "{method} {path} {id}: {status}");
                if !is_gone {
                    assert_eq!(
                        read_json(response).await["code"],
                        "not_found",
                        "{method} {path} {id}"
                    );
                }
            }
        }
        // A body of any type has other errors.
        if operation["requestBody"]["content"]
            .get("application/json")
            .is_none()
        {
            continue;
        }
        let path = fill_path(path, &forged);
        let json_type = "application/json";
        let cases: [(&str, Vec<u8>, u16); 8] = [
            (
                json_type,
                format!("{{\"message\":{big:?},\"title\":{big:?},\"answer\":{big:?}}}").into(),
                413,
            ),
            (json_type, b"".into(), 400),
            (json_type, b"{".into(), 400),
            (json_type, b"null".into(), 400),
            (
                json_type,
                b"{\"message\":\"\xff\",\"title\":\"\xff\",\"index\":0,\"answer\":\"\xff\"}".into(),
                400,
            ),
            (json_type, "[".repeat(100_000).into(), 400),
            ("text/plain", b"{\"message\":\"x\"}".into(), 415),
            ("multipart/form-data; boundary=x", b"--x--".into(), 415),
        ];
        for (n, (kind, body, expected)) in cases.into_iter().enumerate() {
            let response = match send(path.clone(), kind, body).await {
                Ok(response) => response,
                // The server may close the connection of a client that sends more than the limit.
                Err(error) if expected == 413 && !error.is_timeout() => continue,
                Err(error) => panic!("{error}"),
            };
            assert_eq!(response.status(), expected, "{method} {path} case {n}");
            read_json(response).await;
        }
    }
    assert_eq!(raw_model_calls(&upstream), Vec::<Value>::new());
}

#[tokio::test]
async fn example_requests_are_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("x"));
    // The name that the examples use.
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
        settings.endpoints[0].name = "openai".into();
    })
    .await;
    for (path, method, operation) in operations() {
        let Some(example) = operation["requestBody"]["content"]["application/json"].get("example") else {
            continue;
        };
        let method = reqwest::Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
        let url = format!("{}{}", parlor.url, fill_path(path, &Uuid::now_v7().to_string()));
        let request = parlor
            .client
            .request(method, url)
            .header(CONTENT_TYPE, "application/json");
        let status = request.body(example.to_string()).send().await.unwrap().status();
        // The conversation or run does not exist; keys of users' own are not allowed.
        let is_forbidden = status == 403 && path.starts_with("/api/own-keys");
        let is_accepted = [200, 201, 204, 404].contains(&status.as_u16());
        assert!(is_accepted || is_forbidden, "{path}: {status}");
    }
}
