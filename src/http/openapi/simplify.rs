//! The form of the schemas: what schemars derives, in words that generators of clients understand.

use std::collections::BTreeSet;

use schemars::{
    Schema,
    transform::{Transform, transform_subschemas},
};
use serde_json::{Map, Value, json};

/// Rewrites a schema for generators of clients: without formats of numbers and defaults, which they misread.
pub fn simplify(schema: &mut Schema) {
    Simplify.transform(schema);
}

/// Removes `null` from fields that may be missing: responses leave them out.
pub fn remove_nulls(schema: &mut Schema) {
    ResponseFields.transform(schema);
}

/// Replaces the parts of a schema that generators of clients do not understand, without a change of meaning that matters to them.
struct Simplify;

impl Transform for Simplify {
    fn transform(&mut self, schema: &mut Schema) {
        if schema.get("type").is_some_and(names_number) {
            // The sizes of Rust's numbers, such as `uint`.
            schema.remove("format");
        }
        // openapi-typescript would demand fields with a default. Descriptions name defaults.
        schema.remove("default");
        schema.remove("writeOnly");
        if let Some(Value::String(description)) = schema.get_mut("description") {
            *description = unwrap_lines(description);
        }
        if let Some(fields) = schema.as_object_mut() {
            collapse_constants(fields);
            merge_alternatives(fields);
        }
        transform_subschemas(self, schema);
    }
}

fn names_number(kind: &Value) -> bool {
    match kind {
        Value::Array(kinds) => kinds.iter().any(names_number),
        kind => kind == "integer" || kind == "number",
    }
}

/// Joins the lines of each paragraph of a doc comment.
fn unwrap_lines(text: &str) -> String {
    let paragraphs = text.split("\n\n").map(|paragraph| {
        if paragraph.starts_with("- ") {
            paragraph.to_owned()
        } else {
            paragraph.replace('\n', " ")
        }
    });
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

/// Replaces a list of described constants by an enum, and lists their descriptions in its own.
fn collapse_constants(fields: &mut Map<String, Value>) {
    let Some(variants) = fields.get("oneOf").and_then(Value::as_array) else {
        return;
    };
    let (mut values, mut lines) = (Vec::new(), Vec::new());
    for variant in variants {
        let constants = match (variant.get("const"), variant.get("enum")) {
            (Some(constant), _) if variant.get("properties").is_none() => vec![constant.clone()],
            (None, Some(Value::Array(constants))) => constants.clone(),
            _ => return,
        };
        for constant in &constants {
            lines.push(constant_line(constant, variant.get("description")));
        }
        values.extend(constants);
    }
    let own = fields
        .get("description")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let description = format!("{}\n\n{}", unwrap_lines(own), lines.join("\n"));
    fields.remove("oneOf");
    fields.insert("type".into(), json!("string"));
    fields.insert("enum".into(), Value::Array(values));
    fields.insert("description".into(), json!(description.trim()));
}

/// Returns the line of a list that describes a constant.
fn constant_line(constant: &Value, description: Option<&Value>) -> String {
    let name = constant.as_str().unwrap_or_default();
    match description.and_then(Value::as_str) {
        Some(description) => format!("- `{name}`: {}", description.replace('\n', " ")),
        None => format!("- `{name}`"),
    }
}

/// Adds the properties and the required fields of another object.
pub fn add_fields(fields: &mut Map<String, Value>, other: &Map<String, Value>) {
    let Some(properties) = ensure(fields, "properties", json!({})).as_object_mut() else {
        return;
    };
    for (name, schema) in other
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        properties.entry(name.as_str()).or_insert_with(|| schema.clone());
    }
    let Some(required) = ensure(fields, "required", json!([])).as_array_mut() else {
        return;
    };
    for name in other
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        if !required.contains(name) {
            required.push(name.clone());
        }
    }
}

fn ensure<'a>(fields: &'a mut Map<String, Value>, name: &str, default: Value) -> &'a mut Value {
    fields.entry(name).or_insert(default)
}

/// Merges alternatives of an object, such as a flattened enum, into its own fields. Those that not every
/// alternative requires become optional.
fn merge_alternatives(fields: &mut Map<String, Value>) {
    if !fields.contains_key("properties") {
        return;
    }
    let Some(Value::Array(alternatives)) = fields.remove("oneOf") else {
        return;
    };
    let required = |alternative: &Value| -> BTreeSet<String> {
        let names = alternative["required"].as_array().into_iter().flatten();
        names
            .filter_map(|name| name.as_str().map(str::to_owned))
            .collect()
    };
    let mut always = alternatives.first().map(required).unwrap_or_default();
    let mut properties = Map::new();
    for alternative in &alternatives {
        always = &always & &required(alternative);
        for (name, schema) in alternative["properties"].as_object().into_iter().flatten() {
            match properties.get_mut(name) {
                None => {
                    let mut schema = schema.clone();
                    if let Some(constant) = schema.get("const").cloned() {
                        schema = json!({
                            "type": "string",
                            "enum": [constant],
                            "description": constant_line(&constant, alternative.get("description")),
                        });
                    }
                    properties.insert(name.clone(), schema);
                }
                Some(known) => add_constant(known, schema, alternative.get("description")),
            }
        }
    }
    add_fields(
        fields,
        &Map::from_iter([
            ("properties".into(), Value::Object(properties)),
            ("required".into(), json!(always)),
        ]),
    );
}

/// Adds a constant to an enum of constants.
fn add_constant(known: &mut Value, other: &Value, description: Option<&Value>) {
    let (Some(constant), Some(values)) = (other.get("const"), known["enum"].as_array_mut()) else {
        return;
    };
    values.push(constant.clone());
    let lines = known["description"].as_str().unwrap_or_default();
    known["description"] = json!(format!("{lines}\n{}", constant_line(constant, description)));
}

/// The rule of responses: a field that may be missing is never `null`.
struct ResponseFields;

impl Transform for ResponseFields {
    fn transform(&mut self, schema: &mut Schema) {
        let required: Vec<Value> = match schema.get("required") {
            Some(Value::Array(required)) => required.clone(),
            _ => Vec::new(),
        };
        let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
        for (name, property) in properties.into_iter().flatten() {
            if !required.contains(&json!(name)) {
                remove_null(property);
            }
        }
        transform_subschemas(self, schema);
    }
}

/// Removes `null` from the values of a schema.
pub fn remove_null(schema: &mut Value) {
    let Some(fields) = schema.as_object_mut() else {
        return;
    };
    if let Some(Value::Array(kinds)) = fields.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = &kinds[..] {
            let kind = kind.clone();
            fields.insert("type".into(), kind);
        }
    }
    if let Some(Value::Array(alternatives)) = fields.get_mut("anyOf") {
        alternatives.retain(|alternative| alternative["type"] != "null");
        if let [Value::Object(only)] = &alternatives[..] {
            let only = only.clone();
            fields.remove("anyOf");
            for (name, value) in only {
                fields.entry(name).or_insert(value);
            }
        }
    }
}
