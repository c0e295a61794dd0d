//! The document, and the checks of values against it.
//!
//! A client must accept unknown fields. These checks do not: every field of the server must be documented.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, LazyLock},
};

use jsonschema::{Draft, Validator};
use parking_lot::Mutex;
use parlor::http::openapi;
use serde_json::{Value, json};

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
                // A condition names some fields of many.
                Value::Object(_) if matches!(name.as_str(), "if" | "then") => {}
                Value::Array(values) => values
                    .iter_mut()
                    .for_each(|value| forbid_additional_properties(value, name == "allOf")),
                Value::Object(_) => forbid_additional_properties(value, false),
                _ => {}
            }
        }
    }
}

pub(super) fn validator(schema: &Value) -> Arc<Validator> {
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
pub(super) fn schema_errors(schema: &Value, value: &Value) -> Vec<String> {
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

/// Returns the schema and the media type of a response of a path with this status, for any method.
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
pub(super) fn resolve_reference(value: &'static Value) -> &'static Value {
    match value["$ref"].as_str() {
        Some(reference) => DOCUMENT
            .pointer(reference.trim_start_matches('#'))
            .unwrap_or_else(|| panic!("{reference} leads nowhere")),
        None => value,
    }
}

/// Returns every operation: path, method and description.
pub(super) fn operations() -> impl Iterator<Item = (&'static String, &'static String, &'static Value)> {
    let paths = DOCUMENT["paths"].as_object().expect("paths").iter();
    paths.flat_map(|(path, methods)| {
        let methods = methods.as_object().expect("methods").iter();
        methods.map(move |(method, operation)| (path, method, operation))
    })
}
