//! The subset of JSON Schema that Google's API takes: no references, no closed objects, enumerations of texts.

use serde_json::{Map, Value, json};

use super::{normalize::SCHEMA_MAPS, refs};
use parlor_base::text::single_line;

/// The maximum number of schemas that references are replaced by. Later ones accept anything.
const MAX_INLINED: usize = 500;

/// The maximum total size of these schemas in bytes: four times the largest schema of an MCP server's tool.
const MAX_INLINED_BYTES: usize = 128 << 10;

/// The maximum length of what is put into words, in characters.
const MAX_NOTE_CHARS: usize = 300;

/// Keywords that are sent as they are.
const KEPT: [&str; 15] = [
    "title",
    "description",
    "nullable",
    "default",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minProperties",
    "maxProperties",
    "pattern",
    "required",
    "type",
];

/// The formats of each type.
const FORMATS: [(&str, &[&str]); 3] = [
    ("string", &["date-time", "enum"]),
    ("integer", &["int32", "int64"]),
    ("number", &["float", "double"]),
];

/// Returns a folded schema in Google's form.
pub fn to_google(root: &Map<String, Value>) -> Map<String, Value> {
    let mut writer = Writer {
        document: root,
        open: Vec::new(),
        inlined: 0,
        inlined_bytes: 0,
    };
    writer.write(root)
}

struct Writer<'a> {
    document: &'a Map<String, Value>,
    /// The references that are being replaced.
    open: Vec<String>,
    inlined: usize,
    inlined_bytes: usize,
}

impl Writer<'_> {
    fn write(&mut self, schema: &Map<String, Value>) -> Map<String, Value> {
        if let Some(Value::String(reference)) = schema.get("$ref") {
            return self.write_target(schema, reference);
        }
        if schema.contains_key("allOf") {
            let joined = join_all(schema);
            return self.write(&joined);
        }
        let mut notes = Vec::new();
        let mut written: Map<String, Value> = Map::new();
        for (name, value) in schema.iter().filter(|(name, _)| KEPT.contains(&name.as_str())) {
            written.insert(name.clone(), value.clone());
        }
        set_type(&mut written, schema);
        self.write_alternatives(&mut written, schema);
        write_values(&mut written, schema, &mut notes);
        write_limits(&mut written, schema);
        if let Some(Value::String(format)) = schema.get("format") {
            let is_known = FORMATS.iter().any(|(kind, known)| {
                written.get("type") == Some(&json!(kind)) && known.contains(&format.as_str())
            });
            match is_known {
                true => drop(written.insert("format".into(), json!(format))),
                false => notes.push(format!("format: {format}")),
            }
        }
        if let Some(Value::Object(items)) = schema.get("items") {
            written.insert("items".into(), Value::Object(self.write(items)));
        }
        if let Some(Value::Object(properties)) = schema.get("properties") {
            let written_properties: Map<String, Value> = properties
                .iter()
                .filter_map(|(name, property)| {
                    Some((name.clone(), Value::Object(self.write(property.as_object()?))))
                })
                .collect();
            if let Some(Value::Array(required)) = written.get_mut("required") {
                required.retain(|name| {
                    name.as_str()
                        .is_some_and(|name| written_properties.contains_key(name))
                });
            }
            written.insert("properties".into(), Value::Object(written_properties));
        } else {
            written.remove("required");
            if let Some(Value::Object(values)) = schema.get("additionalProperties")
                && !values.is_empty()
            {
                let values = Value::Object(values.clone());
                notes.push(format!(
                    "an object with any keys, each value: {}",
                    excerpt(&values)
                ));
            }
        }
        if !notes.is_empty() {
            let text = written
                .get("description")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let described = format!("{text} ({})", notes.join("; "));
            written.insert("description".into(), json!(described.trim()));
        }
        written
    }

    /// Writes the target of a reference, with the keywords beside it.
    fn write_target(&mut self, schema: &Map<String, Value>, reference: &str) -> Map<String, Value> {
        let mut beside = schema.clone();
        beside.remove("$ref");
        let is_open = self.open.iter().any(|open| open == reference);
        let target =
            refs::resolve(self.document, reference).filter(|_| !is_open && self.inlined < MAX_INLINED);
        let target = target
            .map(without_definitions)
            .filter(|target| self.takes_bytes(target));
        let Some(mut joined) = target else {
            if is_open {
                beside.entry("type").or_insert_with(|| json!("object"));
            }
            return self.write(&beside);
        };
        joined.extend(beside);
        self.inlined += 1;
        self.open.push(reference.to_owned());
        let written = self.write(&joined);
        self.open.pop();
        written
    }

    /// Counts the size of a schema that replaces a reference. Returns false if it is too large for what is left.
    fn takes_bytes(&mut self, schema: &Map<String, Value>) -> bool {
        let size = serde_json::to_string(schema).map_or(0, |json| json.len());
        let has_room = self.inlined_bytes + size <= MAX_INLINED_BYTES;
        if has_room {
            self.inlined_bytes += size;
        }
        has_room
    }

    /// Writes `anyOf` and `oneOf`. An alternative that is only `null` makes the schema nullable.
    fn write_alternatives(&mut self, written: &mut Map<String, Value>, schema: &Map<String, Value>) {
        let lists = ["anyOf", "oneOf"].map(|name| schema.get(name).and_then(Value::as_array));
        let mut forms: Vec<Map<String, Value>> = Vec::new();
        for form in lists.into_iter().flatten().flatten().filter_map(Value::as_object) {
            if form.get("type") == Some(&json!("null")) {
                written.insert("nullable".into(), json!(true));
                continue;
            }
            let form = self.write(form);
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
        match forms.len() {
            0 => {}
            1 => {
                for (name, value) in forms.into_iter().flatten() {
                    written.entry(name).or_insert(value);
                }
            }
            _ => drop(written.insert("anyOf".into(), json!(forms))),
        }
    }
}

/// Returns a schema without its definitions, which are inlined where they are used.
fn without_definitions(schema: &Map<String, Value>) -> Map<String, Value> {
    let mut others = schema.clone();
    for name in SCHEMA_MAPS.iter().filter(|name| **name != "properties") {
        others.remove(*name);
    }
    others
}

/// Sets the type: one name, `nullable` in place of `null`, or alternatives.
fn set_type(written: &mut Map<String, Value>, schema: &Map<String, Value>) {
    let names: Vec<&str> = match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ if schema.contains_key("properties") => vec!["object"],
        _ if schema.contains_key("items") => vec!["array"],
        _ => Vec::new(),
    };
    if names.contains(&"null") {
        written.insert("nullable".into(), json!(true));
    }
    let others: Vec<&str> = names.into_iter().filter(|name| *name != "null").collect();
    match others.as_slice() {
        [] => drop(written.remove("type")),
        [one] => drop(written.insert("type".into(), json!(one))),
        several => {
            written.remove("type");
            let form = |name: &&str| match *name {
                "array" => json!({ "type": "array", "items": {} }),
                name => json!({ "type": name }),
            };
            let forms: Vec<Value> = several.iter().map(form).collect();
            written.insert("anyOf".into(), json!(forms));
        }
    }
}

/// Writes the possible values, of which only texts may be listed.
fn write_values(written: &mut Map<String, Value>, schema: &Map<String, Value>, notes: &mut Vec<String>) {
    let values = match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(values)), _) => values.clone(),
        (_, Some(value)) => vec![value.clone()],
        _ => return,
    };
    if values.contains(&Value::Null) {
        written.insert("nullable".into(), json!(true));
    }
    let others: Vec<&Value> = values.iter().filter(|value| !value.is_null()).collect();
    let is_text = |value: &&Value| value.as_str().is_some_and(|text| !text.is_empty());
    let has_other_type = written.get("type").is_some_and(|name| name != "string");
    if !others.is_empty() && others.iter().all(is_text) && !has_other_type {
        written.insert("type".into(), json!("string"));
        written.insert("enum".into(), json!(others));
    } else if !others.is_empty() {
        notes.push(format!("one of: {}", excerpt(&json!(others))));
    }
}

/// Writes excluded limits as included ones, which are nearly the same, and for whole numbers quite.
fn write_limits(written: &mut Map<String, Value>, schema: &Map<String, Value>) {
    for (excluded, limit, step) in [
        ("exclusiveMinimum", "minimum", 1),
        ("exclusiveMaximum", "maximum", -1),
    ] {
        if let Some(value) = schema.get(excluded).filter(|value| value.is_number()) {
            let is_whole = written.get("type") == Some(&json!("integer"));
            let next = value.as_i64().and_then(|value| value.checked_add(step));
            let value = next.filter(|_| is_whole).map_or(value.clone(), Value::from);
            written.entry(limit).or_insert(value);
        }
    }
}

/// Returns a schema with the parts of its `allOf` beside its own keywords.
fn join_all(schema: &Map<String, Value>) -> Map<String, Value> {
    let mut joined = schema.clone();
    let Some(Value::Array(parts)) = joined.remove("allOf") else {
        return joined;
    };
    for (name, value) in parts.into_iter().filter_map(into_object).flatten() {
        match (joined.get_mut(&name), value) {
            (Some(Value::Object(known)), Value::Object(more)) if name == "properties" => known.extend(more),
            (Some(Value::Array(known)), Value::Array(more)) if name == "required" || name == "allOf" => {
                known.extend(more);
            }
            (Some(_), _) => {}
            (None, value) => drop(joined.insert(name, value)),
        }
    }
    joined
}

fn into_object(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(fields) => Some(fields),
        _ => None,
    }
}

fn excerpt(value: &Value) -> String {
    single_line(&value.to_string(), MAX_NOTE_CHARS)
}
