use std::collections::BTreeSet;

use jsonschema::Draft;
use serde_json::{Value, json};

use super::{document, schemas::REFERENCE_PREFIX};
use parlor_protocol::examples::{logged_event, of_every_kind};

/// The copy in the repository, for readers and for programs that generate clients.
const COPY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/openapi.json");

fn parsed_document() -> Value {
    serde_json::from_str(document()).unwrap()
}

#[test]
fn committed_document_is_current() {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(COPY, document()).unwrap();
    }
    let committed = std::fs::read_to_string(COPY).unwrap();
    assert!(
        committed == document(),
        "docs/openapi.json is out of date: make openapi"
    );
}

#[test]
fn document_lists_exactly_the_contracts_routes() {
    let document = parsed_document();
    let described = document["paths"].as_object().unwrap();
    let router = include_str!("../mod.rs");
    for path in described.keys() {
        assert!(router.contains(&format!("\"{path}\"")), "{path}");
    }
    assert_eq!(router.matches(".api_route(").count(), described.len());
    assert_eq!(
        router.matches(".route(\"/api").count(),
        3,
        "only for what is unknown"
    );
    assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn document_describes_every_event() {
    let document = parsed_document();
    let description = &document["components"]["schemas"]["Event"];
    let mapping = description["discriminator"]["mapping"].as_object().unwrap();
    let events: Vec<Value> = of_every_kind()
        .into_iter()
        .map(|body| serde_json::to_value(logged_event(body)).unwrap())
        .collect();
    let kinds: BTreeSet<&str> = events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    let described: BTreeSet<&str> = mapping.keys().map(String::as_str).collect();
    assert_eq!(described, kinds, "and no others");
    assert_eq!(description["oneOf"].as_array().unwrap().len(), kinds.len());
    for event in &events {
        let name = mapping[event["type"].as_str().unwrap()].clone();
        for reference in [name, json!("#/components/schemas/Event")] {
            // Only documented fields are allowed.
            let schema = json!({
                "$ref": reference, "components": document["components"], "unevaluatedProperties": false,
            });
            let options = jsonschema::options().with_draft(Draft::Draft202012);
            let validator = options.should_validate_formats(true).build(&schema).unwrap();
            let faults: Vec<_> = validator
                .iter_errors(event)
                .map(|fault| fault.to_string())
                .collect();
            assert!(faults.is_empty(), "{faults:?} in {event}");
        }
    }
}

/// Every description in the document, with the name of what it describes.
fn descriptions(name: &str, value: &Value, found: &mut Vec<(String, String)>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| descriptions(name, value, found)),
        Value::Object(fields) => {
            for (field, value) in fields {
                match value {
                    Value::String(text) if ["description", "summary"].contains(&field.as_str()) => {
                        found.push((name.into(), text.clone()));
                    }
                    _ => descriptions(field, value, found),
                }
            }
        }
        _ => {}
    }
}

#[test]
fn descriptions_do_not_speak_of_rust() {
    let mut found = Vec::new();
    descriptions("", &parsed_document(), &mut found);
    assert!(found.len() > 300, "{}", found.len());
    let terms = [
        "[`", "::", "None", "Some(", "crate", "serde", "rustdoc", " struct", "variant",
    ];
    let odd = found
        .iter()
        .filter(|(_, text)| terms.iter().any(|term| text.contains(term)));
    assert_eq!(odd.collect::<Vec<_>>(), Vec::<&(String, String)>::new());
}

#[test]
fn every_schema_is_described() {
    let document = parsed_document();
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let plain = |name: &&String| schemas[*name].get("description").is_none();
    assert_eq!(
        schemas.keys().filter(plain).collect::<Vec<_>>(),
        Vec::<&String>::new()
    );
}

#[test]
fn request_fields_with_a_default_are_optional() {
    let document = parsed_document();
    let schemas = &document["components"]["schemas"];
    let operations = document["paths"].as_object().unwrap().values();
    let operations = operations.flat_map(|methods| methods.as_object().unwrap().values());
    let mut required = std::collections::BTreeMap::new();
    for operation in operations {
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"]["$ref"];
        let Some(name) = schema
            .as_str()
            .and_then(|name| name.strip_prefix(REFERENCE_PREFIX))
        else {
            continue;
        };
        required.insert(name, schemas[name]["required"].clone());
    }
    required.insert("PageContext", schemas["PageContext"]["required"].clone());
    let expected = [
        ("ApprovalAnswer", json!(["index", "answer"])),
        ("ChatRequest", json!(["message"])),
        ("ContinuedJob", Value::Null),
        ("ConversationPatch", Value::Null),
        ("CorrectedCell", json!(["value"])),
        ("EndpointTest", json!(["kind", "base_url"])),
        ("EndpointUpdate", Value::Null),
        ("NewEndpoint", json!(["id", "name", "kind", "base_url"])),
        ("NewJob", json!(["kind", "input"])),
        ("NewOwnKey", json!(["id", "service", "key"])),
        ("OwnKeyPermission", json!(["is_allowed"])),
        ("OwnKeyTest", json!(["service"])),
        ("OwnKeyUpdate", Value::Null),
        ("PageContext", json!(["current_page"])),
        ("ParametersRequest", Value::Null),
        ("Project", json!(["name"])),
        ("SavedColumn", json!(["source", "name", "question", "type"])),
        ("Schedule", json!(["days", "time", "time_zone"])),
        ("VerdictRequest", json!(["verdict"])),
    ];
    assert_eq!(required.into_iter().collect::<Vec<_>>(), expected);
}
