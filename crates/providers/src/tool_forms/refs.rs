//! References within a schema.

use serde_json::{Map, Value};

/// Returns the schema that a reference points to in a document; `None` if it points nowhere, or to another document.
pub fn resolve<'a>(document: &'a Map<String, Value>, reference: &str) -> Option<&'a Map<String, Value>> {
    let path = reference.strip_prefix('#')?;
    if path.is_empty() {
        return Some(document);
    }
    // One without a slash is the name of an anchor, which few servers know.
    let mut steps = path.strip_prefix('/')?.split('/');
    let first = steps.next()?;
    let mut found = document.get(&unescape(first))?;
    for step in steps {
        found = match found {
            Value::Array(list) => list.get(step.parse::<usize>().ok()?)?,
            other => other.get(unescape(step))?,
        };
    }
    found.as_object()
}

fn unescape(step: &str) -> String {
    let step = step.replace("~1", "/").replace("~0", "~");
    step.replace("%24", "$").replace("%20", " ")
}

/// Returns a schema without references that point nowhere. What they stand for accepts anything.
pub fn without_dangling(root: Map<String, Value>) -> Map<String, Value> {
    let mut pruned = Value::Object(root.clone());
    prune(&mut pruned, &root);
    match pruned {
        Value::Object(pruned) => pruned,
        _ => root,
    }
}

fn prune(value: &mut Value, document: &Map<String, Value>) {
    match value {
        Value::Object(fields) => {
            let is_dangling = |reference: &Value| {
                let reference = reference.as_str();
                reference.is_some_and(|reference| resolve(document, reference).is_none())
            };
            if fields.get("$ref").is_some_and(is_dangling) {
                fields.remove("$ref");
            }
            fields.values_mut().for_each(|value| prune(value, document));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| prune(value, document)),
        _ => {}
    }
}
