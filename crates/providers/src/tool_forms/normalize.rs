//! JSON Schemas of strangers as valid JSON Schema 2020-12, which model servers check: older drafts, the dialects of languages and
//! plain faults are rewritten, and what can't be read is dropped.

use serde_json::{Map, Value, json};

use super::pattern::is_portable;

/// The maximum nesting of schemas. Deeper ones accept anything.
const MAX_DEPTH: usize = 32;

/// Keywords that only name or describe a schema itself.
const DROPPED: [&str; 10] = [
    "$schema",
    "$id",
    "$comment",
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$recursiveRef",
    "$recursiveAnchor",
    "$vocabulary",
    // Only beside a list in `items`, which is rewritten.
    "additionalItems",
];

/// Keywords whose values are objects of schemas.
pub const SCHEMA_MAPS: [&str; 5] = [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
];

/// Keywords whose values are lists of schemas.
pub const SCHEMA_LISTS: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];

/// Keywords whose values are schemas.
pub const SCHEMAS: [&str; 9] = [
    "items",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "additionalProperties",
    "unevaluatedProperties",
];

const COUNTS: [&str; 8] = [
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minContains",
    "maxContains",
];
const NUMBERS: [&str; 5] = [
    "minimum",
    "maximum",
    "multipleOf",
    "exclusiveMinimum",
    "exclusiveMaximum",
];
const TEXTS: [&str; 4] = ["title", "description", "format", "pattern"];
const FLAGS: [&str; 4] = ["uniqueItems", "readOnly", "writeOnly", "deprecated"];

/// Returns a schema as an object that JSON Schema 2020-12 accepts.
pub fn normalize(schema: &Value) -> Map<String, Value> {
    normalize_at(schema, 0).unwrap_or_default()
}

/// Normalizes a schema at a depth; `None` for `false`, which nothing fits.
fn normalize_at(schema: &Value, depth: usize) -> Option<Map<String, Value>> {
    match schema {
        Value::Bool(false) => None,
        Value::Object(_) if depth > MAX_DEPTH => Some(Map::new()),
        Value::Object(fields) => Some(normalize_fields(fields, depth)),
        // `"name": "string"` in place of `"name": {"type": "string"}`.
        Value::String(text) => Some(match type_name(text) {
            Some(name) => Map::from_iter([("type".to_owned(), json!(name))]),
            None => Map::from_iter([("description".to_owned(), json!(text))]),
        }),
        _ => Some(Map::new()),
    }
}

fn normalize_fields(fields: &Map<String, Value>, depth: usize) -> Map<String, Value> {
    let mut schema = Map::new();
    let mut required = required_names(fields);
    for (name, value) in fields {
        if let Some(value) = normalize_keyword(name, value, depth) {
            schema.insert(name.clone(), value);
        }
    }
    if let Some(Value::Object(properties)) = fields.get("properties") {
        // Draft 3 says in a property that it is required.
        let needed = properties
            .iter()
            .filter(|(_, property)| property["required"] == true);
        for (name, _) in needed {
            if !required.contains(name) {
                required.push(name.clone());
            }
        }
    }
    match required.is_empty() && !fields.get("required").is_some_and(Value::is_array) {
        true => drop(schema.remove("required")),
        false => drop(schema.insert("required".into(), json!(required))),
    }
    join_exclusive(&mut schema, fields, "exclusiveMinimum", "minimum");
    join_exclusive(&mut schema, fields, "exclusiveMaximum", "maximum");
    if schema.remove("nullable") == Some(Value::Bool(true))
        && let Some(Value::String(one)) = schema.get("type")
        && one != "null"
    {
        let both = json!([one, "null"]);
        schema.insert("type".into(), both);
    }
    if has_type(&schema, "array") && !schema.contains_key("items") {
        schema.insert("items".into(), json!({}));
    }
    describe_odd_pattern(&mut schema);
    schema
}

/// Moves a regular expression that not every server can read into the description.
fn describe_odd_pattern(schema: &mut Map<String, Value>) {
    let Some(Value::String(pattern)) = schema.get("pattern") else {
        return;
    };
    if is_portable(pattern) {
        return;
    }
    let note = format!("(pattern: {pattern})");
    let described = match schema.get("description") {
        Some(Value::String(text)) if !text.is_empty() => format!("{text} {note}"),
        _ => note,
    };
    schema.remove("pattern");
    schema.insert("description".into(), json!(described));
}

/// Returns the value of a keyword in its valid form; `None` if it has none.
fn normalize_keyword(name: &str, value: &Value, depth: usize) -> Option<Value> {
    let schema = |value: &Value| normalize_at(value, depth + 1).map(Value::Object);
    if DROPPED.contains(&name) {
        return None;
    }
    if SCHEMA_MAPS.contains(&name) {
        let schemas = value.as_object()?.iter();
        let schemas = schemas.filter_map(|(name, value)| Some((name.clone(), schema(value)?)));
        return Some(Value::Object(schemas.collect()));
    }
    if SCHEMA_LISTS.contains(&name) {
        let schemas: Vec<Value> = match value {
            Value::Array(list) => list.iter().filter_map(schema).collect(),
            Value::Object(_) => schema(value).into_iter().collect(),
            _ => Vec::new(),
        };
        return (!schemas.is_empty()).then_some(Value::Array(schemas));
    }
    match (name, value) {
        ("type", _) => normalize_type(value),
        // A tuple of an earlier draft.
        ("items", Value::Array(items)) => {
            let mut forms: Vec<Value> = Vec::new();
            for form in items.iter().filter_map(schema) {
                if !forms.contains(&form) {
                    forms.push(form);
                }
            }
            Some(match forms.len() {
                0 => json!({}),
                1 => forms.remove(0),
                _ => json!({ "anyOf": forms }),
            })
        }
        ("additionalProperties" | "unevaluatedProperties", Value::Bool(_)) => Some(value.clone()),
        ("additionalProperties" | "unevaluatedProperties", Value::Object(_)) => schema(value),
        ("additionalProperties" | "unevaluatedProperties", _) => None,
        // Nothing else says that nothing fits.
        ("then" | "else", Value::Bool(false)) => Some(json!({ "not": {} })),
        (name, _) if SCHEMAS.contains(&name) => schema(value),
        // Its names are collected.
        ("required", _) => Some(json!([])),
        ("enum", _) => {
            let mut values: Vec<Value> = Vec::new();
            for value in value.as_array()? {
                if !values.contains(value) {
                    values.push(value.clone());
                }
            }
            (!values.is_empty()).then_some(Value::Array(values))
        }
        ("examples", _) => value.is_array().then(|| value.clone()),
        ("dependentRequired", _) => {
            let is_names = |value: &Value| {
                let names = value.as_array();
                names.is_some_and(|names| names.iter().all(Value::is_string))
            };
            let all = value.as_object()?;
            all.values().all(is_names).then(|| value.clone())
        }
        ("dependencies", _) => value.is_object().then(|| value.clone()),
        ("$ref", _) => value.is_string().then(|| value.clone()),
        (name, _) if COUNTS.contains(&name) => as_count(value).map(Value::from),
        (name, _) if NUMBERS.contains(&name) => value.is_number().then(|| value.clone()),
        (name, _) if TEXTS.contains(&name) => value.is_string().then(|| value.clone()),
        (name, _) if FLAGS.contains(&name) => value.is_boolean().then(|| value.clone()),
        _ => Some(value.clone()),
    }
}

/// Returns the names of a valid `required`.
fn required_names(fields: &Map<String, Value>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let listed = fields.get("required").and_then(Value::as_array);
    for name in listed.into_iter().flatten().filter_map(Value::as_str) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// Returns a whole number that is not negative, also one like `3.0`.
fn as_count(value: &Value) -> Option<u64> {
    let rounded = || {
        value
            .as_f64()
            .filter(|number| number.fract() == 0.0 && *number >= 0.0)
    };
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is whole, and a huge limit limits nothing"
    )]
    value.as_u64().or_else(|| rounded().map(|number| number as u64))
}

/// Converts a limit of draft 4, where a flag says that another keyword's value is excluded.
fn join_exclusive(schema: &mut Map<String, Value>, fields: &Map<String, Value>, flag: &str, limit: &str) {
    if fields.get(flag) == Some(&Value::Bool(true))
        && let Some(value) = schema.remove(limit)
    {
        schema.insert(flag.into(), value);
    }
}

/// Returns the valid form of a `type`: the names of known types, in the spelling of JSON Schema.
fn normalize_type(value: &Value) -> Option<Value> {
    match value {
        Value::String(name) => type_name(name).map(Value::from),
        Value::Array(names) => {
            let mut known: Vec<&str> = Vec::new();
            for name in names {
                // A type that means any, or a schema in place of a name.
                let name = type_name(name.as_str()?)?;
                if !known.contains(&name) {
                    known.push(name);
                }
            }
            match known.as_slice() {
                [] => None,
                [one] => Some(json!(one)),
                _ => Some(json!(known)),
            }
        }
        _ => None,
    }
}

/// Returns the name of a type in JSON Schema for a name in any language; `None` for one that means any type, or nothing.
fn type_name(name: &str) -> Option<&'static str> {
    Some(match name.trim().to_ascii_lowercase().as_str() {
        "object" | "dict" | "map" | "record" | "struct" => "object",
        "array" | "list" | "tuple" | "set" => "array",
        "string" | "str" | "text" | "char" | "varchar" | "date" | "datetime" | "uuid" => "string",
        "integer" | "int" | "int32" | "int64" | "uint" | "long" => "integer",
        "number" | "float" | "double" | "decimal" | "numeric" => "number",
        "boolean" | "bool" => "boolean",
        "null" | "none" | "nil" => "null",
        _ => return None,
    })
}

/// Returns true if values of a type fit.
pub fn has_type(schema: &Map<String, Value>, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(one)) => one == name,
        Some(Value::Array(types)) => types.iter().any(|one| one == name),
        _ => false,
    }
}
