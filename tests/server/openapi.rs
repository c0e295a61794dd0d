//! The document of the public contract (`docs/openapi.json`), checked against every response and every event
//! of these tests.
//!
//! A client must accept unknown fields. These tests do not: every field of the server must be documented.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, LazyLock},
};

use jsonschema::{Draft, Validator};
use parking_lot::Mutex;
use parlor::http::openapi;
use reqwest::header::CONTENT_TYPE;
use serde_json::{Value, json};
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use crate::support::{Parlor, TEST_TIMEOUT, parlor_answering, raw_model_calls, read_json};

/// The document as it is served.
pub static DOCUMENT: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(openapi::document()).expect("JSON"));

/// The document with all unknown fields forbidden.
static STRICT_DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    let mut parts = BTreeSet::new();
    collect_composed_schemas(&DOCUMENT, &mut parts);
    let mut components = DOCUMENT["components"].clone();
    for (name, schema) in components["schemas"].as_object_mut().expect("schemas") {
        let is_part = parts.contains(&format!("#/components/schemas/{name}"));
        forbid_additional_properties(schema, is_part);
    }
    components
});

/// Collects the schemas that others are composed of: they cannot forbid the others' fields.
fn collect_composed_schemas(value: &Value, parts: &mut BTreeSet<String>) {
    if let Some(all) = value["allOf"].as_array() {
        parts.extend(
            all.iter()
                .filter_map(|part| Some(part["$ref"].as_str()?.to_owned())),
        );
    }
    visit(value, &mut |value| collect_composed_schemas(value, parts));
}

fn visit(value: &Value, look: &mut dyn FnMut(&Value)) {
    match value {
        Value::Array(values) => values.iter().for_each(look),
        Value::Object(fields) => fields.values().for_each(look),
        _ => {}
    }
}

fn forbid_additional_properties(schema: &mut Value, is_part: bool) {
    let is_put_together = schema.get("allOf").is_some();
    if let Some(fields) = schema.as_object_mut() {
        let has_fields = fields.contains_key("properties") || is_put_together;
        if has_fields && !is_part && !fields.contains_key("additionalProperties") {
            fields.insert("unevaluatedProperties".into(), false.into());
        }
        for (name, value) in fields {
            match value {
                Value::Array(values) => values
                    .iter_mut()
                    .for_each(|value| forbid_additional_properties(value, name == "allOf")),
                Value::Object(_) => forbid_additional_properties(value, false),
                _ => {}
            }
        }
    }
}

fn validator(schema: &Value) -> Arc<Validator> {
    static VALIDATORS: Mutex<BTreeMap<String, Arc<Validator>>> = Mutex::new(BTreeMap::new());
    let mut known = VALIDATORS.lock();
    let made = known.entry(schema.to_string()).or_insert_with(|| {
        let mut schema = schema.clone();
        schema["components"] = STRICT_DOCUMENT.clone();
        let options = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .should_validate_formats(true);
        Arc::new(options.build(&schema).expect("a schema"))
    });
    made.clone()
}

/// Returns the differences between a value and a schema of the document.
fn schema_errors(schema: &Value, value: &Value) -> Vec<String> {
    let validator = validator(schema);
    let faults = validator.iter_errors(value);
    faults
        .map(|fault| format!("{}: {fault}", fault.instance_path()))
        .collect()
}

/// Checks an event of a stream against the document.
pub fn check_event(event: &Value) {
    let kind = event["type"].as_str().unwrap_or_default();
    let described = &DOCUMENT["components"]["schemas"]["Event"]["discriminator"]["mapping"][kind];
    let schema = match described {
        Value::Null => json!({ "$ref": "#/components/schemas/Notice" }),
        described => json!({ "$ref": described }),
    };
    let faults = schema_errors(&schema, event);
    assert!(faults.is_empty(), "{faults:#?} in {event}");
}

/// Checks a response of the public contract against the document.
pub fn check_response(path: &str, status: u16, content_type: &str, body: &Value) {
    if !path.starts_with("/api/") {
        return;
    }
    let (schema, expected) = response_schema(path, status)
        .unwrap_or_else(|| panic!("{path} is not described as answering with {status}: {body}"));
    // A file can have any type.
    if expected == "*/*" {
        return;
    }
    assert_eq!(content_type, expected, "{path} {status}");
    let faults = schema_errors(&schema, body);
    assert!(faults.is_empty(), "{path} {status}: {faults:#?} in {body}");
}

/// Returns the schema and the media type of an address's response with this status, for any method.
fn response_schema(path: &str, status: u16) -> Option<(Value, String)> {
    let problem = (
        json!({ "$ref": "#/components/schemas/Problem" }),
        "application/problem+json".to_owned(),
    );
    let Some((_, methods)) = path_template(path) else {
        return [401, 403, 404].contains(&status).then_some(problem);
    };
    if status == 405 {
        return Some(problem);
    }
    let operations = methods.as_object()?.values();
    let mut responses = operations.filter_map(|operation| operation["responses"].get(status.to_string()));
    let content = responses.find_map(|response| resolve_reference(response)["content"].as_object())?;
    let (media_type, content) = content.iter().next()?;
    Some((content["schema"].clone(), media_type.clone()))
}

/// Returns the matching path of the document. A path without parameters takes precedence.
fn path_template(path: &str) -> Option<(&'static String, &'static Value)> {
    let fits = |template: &str| {
        template.split('/').count() == path.split('/').count()
            && template
                .split('/')
                .zip(path.split('/'))
                .all(|(part, given)| part == given || part.starts_with('{'))
    };
    let templates = DOCUMENT["paths"].as_object()?.iter();
    templates
        .filter(|(template, _)| fits(template))
        .min_by_key(|(template, _)| template.matches('{').count())
}

/// Resolves a reference within the document.
fn resolve_reference(value: &'static Value) -> &'static Value {
    match value["$ref"].as_str() {
        Some(reference) => DOCUMENT
            .pointer(reference.trim_start_matches('#'))
            .unwrap_or_else(|| panic!("{reference} leads nowhere")),
        None => value,
    }
}

/// Returns every operation: address, method and description.
fn operations() -> impl Iterator<Item = (&'static String, &'static String, &'static Value)> {
    let paths = DOCUMENT["paths"].as_object().expect("addresses").iter();
    paths.flat_map(|(path, methods)| {
        let methods = methods.as_object().expect("methods").iter();
        methods.map(move |(method, operation)| (path, method, operation))
    })
}

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
        // An address that supports GET also supports HEAD.
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
            if media_type == "*/*" {
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
        // The conversation or run does not exist.
        assert!([200, 404].contains(&status.as_u16()), "{path}: {status}");
    }
}
