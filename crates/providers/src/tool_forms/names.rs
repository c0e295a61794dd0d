//! The names of tools and of their arguments in requests. Model servers accept few characters; the calls of the answer get the
//! real names back.

use std::collections::HashMap;

use serde_json::{Map, Value};
use uuid::Uuid;

use super::normalize::{SCHEMA_LISTS, SCHEMA_MAPS, SCHEMAS};
use parlor_base::settings::EndpointKind;
use parlor_model::lenient_json;

/// The maximum length of a name.
const MAX_NAME_CHARS: usize = 64;

/// The number of characters of a hash.
const HASH_CHARS: usize = 8;

/// The real names of arguments, by their names in the request.
pub type ArgumentNames = HashMap<String, String>;

/// Returns the name of a tool in requests to a kind of endpoint. It depends on nothing else, so that it is the same in each
/// request.
pub fn tool_name(name: &str, kind: EndpointKind) -> String {
    let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let begins_well = |c: char| kind != EndpointKind::Gemini || c.is_ascii_alphabetic() || c == '_';
    fit_name(name, is_fit, begins_well)
}

/// Returns the name of an argument in requests. OpenAI's protocols take any.
fn argument_name(name: &str, kind: EndpointKind) -> String {
    match kind {
        EndpointKind::OpenAi | EndpointKind::OpenAiResponses => name.to_owned(),
        EndpointKind::Anthropic | EndpointKind::Gemini => {
            let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
            fit_name(name, is_fit, |_| true)
        }
    }
}

fn fit_name(name: &str, is_fit: impl Fn(char) -> bool, begins_well: impl Fn(char) -> bool) -> String {
    let has_begun_well = name.chars().next().is_some_and(&begins_well);
    if has_begun_well && name.len() <= MAX_NAME_CHARS && name.chars().all(&is_fit) {
        return name.to_owned();
    }
    let hash = Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes())
        .simple()
        .to_string();
    let start = if has_begun_well { "" } else { "_" };
    let max = MAX_NAME_CHARS - HASH_CHARS - 1 - start.len();
    let fitted = name.chars().map(|c| if is_fit(c) { c } else { '_' });
    let fitted: String = fitted.take(max).collect();
    format!("{start}{fitted}_{}", &hash[..HASH_CHARS])
}

/// Renames the arguments of a schema, at any depth, and adds their real names to `names`.
pub fn rename_arguments(schema: &mut Map<String, Value>, kind: EndpointKind, names: &mut ArgumentNames) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        let odd = |name: &&String| argument_name(name, kind) != **name;
        let odd: Vec<String> = properties.keys().filter(odd).cloned().collect();
        for name in &odd {
            let Some(mut property) = properties.remove(name) else {
                continue;
            };
            let sent = argument_name(name, kind);
            if let Value::Object(property) = &mut property {
                let text = property.get("description").and_then(Value::as_str);
                let text = text.map_or(name.clone(), |text| format!("{name}: {text}"));
                property.insert("description".into(), text.into());
            }
            properties.insert(sent.clone(), property);
            names.insert(sent, name.clone());
        }
        if let Some(Value::Array(required)) = schema.get_mut("required") {
            for name in required {
                if let Some(text) = name.as_str().filter(|text| odd.iter().any(|odd| odd == text)) {
                    *name = argument_name(text, kind).into();
                }
            }
        }
    }
    for (keyword, value) in schema {
        match value {
            Value::Object(schemas) if SCHEMA_MAPS.contains(&keyword.as_str()) => {
                let schemas = schemas.values_mut().filter_map(Value::as_object_mut);
                schemas.for_each(|schema| rename_arguments(schema, kind, names));
            }
            Value::Array(schemas) if SCHEMA_LISTS.contains(&keyword.as_str()) => {
                let schemas = schemas.iter_mut().filter_map(Value::as_object_mut);
                schemas.for_each(|schema| rename_arguments(schema, kind, names));
            }
            Value::Object(schema) if SCHEMAS.contains(&keyword.as_str()) => {
                rename_arguments(schema, kind, names);
            }
            _ => {}
        }
    }
}

/// Returns arguments with other names; unchanged if they are no JSON.
pub fn with_names(arguments: &str, name: impl Fn(&str) -> Option<String>) -> String {
    match serde_json::from_str::<Value>(&lenient_json::tool_arguments(arguments)) {
        Ok(mut value) => {
            rename_keys(&mut value, &name);
            value.to_string()
        }
        Err(_) => arguments.to_owned(),
    }
}

fn rename_keys(value: &mut Value, name: &impl Fn(&str) -> Option<String>) {
    match value {
        Value::Object(fields) => {
            let renamed = std::mem::take(fields).into_iter().map(|(key, mut value)| {
                rename_keys(&mut value, name);
                (name(&key).unwrap_or(key), value)
            });
            *fields = renamed.collect();
        }
        Value::Array(values) => values.iter_mut().for_each(|value| rename_keys(value, name)),
        _ => {}
    }
}
