//! The arguments of a function call that is streamed: values at paths such as `$.places[0].name`, strings in
//! fragments.

use serde_json::{Map, Value};

use super::wire::PartialArgument;

/// The largest index of a list, and the maximum depth of a path. Larger ones are errors of the server.
const MAX_INDEX: usize = 10_000;
const MAX_DEPTH: usize = 64;

/// The arguments so far.
#[derive(Debug, Default)]
pub struct StreamedArguments(Map<String, Value>);

/// A step of a path.
#[derive(Clone, Debug, PartialEq)]
enum PathStep {
    Field(String),
    Index(usize),
}

impl StreamedArguments {
    /// Adds the next part of an argument. A part with an invalid path is dropped.
    pub fn push(&mut self, part: PartialArgument) {
        let Some(steps) = parse_path(&part.json_path) else {
            return;
        };
        let Some(place) = place_at(&mut self.0, &steps) else {
            return;
        };
        match (part.string_value, place) {
            (Some(more), Value::String(text)) => text.push_str(&more),
            (Some(text), place) => *place = Value::String(text),
            (None, place) => *place = part.number_value.or(part.bool_value).unwrap_or_default(),
        }
    }

    /// Returns the arguments as JSON.
    pub fn into_json(self) -> String {
        Value::Object(self.0).to_string()
    }
}

/// Returns the value at a path, which is created unless it is there.
fn place_at<'a>(root: &'a mut Map<String, Value>, steps: &[PathStep]) -> Option<&'a mut Value> {
    let (PathStep::Field(first), rest) = steps.split_first()? else {
        return None;
    };
    let mut place = root.entry(first.clone()).or_insert(Value::Null);
    for step in rest {
        place = match step {
            PathStep::Field(name) => {
                if !place.is_object() {
                    *place = Value::Object(Map::new());
                }
                place.as_object_mut()?.entry(name.clone()).or_insert(Value::Null)
            }
            PathStep::Index(index) => {
                if !place.is_array() {
                    *place = Value::Array(Vec::new());
                }
                let list = place.as_array_mut()?;
                if list.len() <= *index {
                    list.resize(index + 1, Value::Null);
                }
                list.get_mut(*index)?
            }
        };
    }
    Some(place)
}

/// Parses a path: `$.a.b[0]["c d"]`.
fn parse_path(path: &str) -> Option<Vec<PathStep>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(tail) = rest.strip_prefix('.') {
            let end = tail.find(['.', '[']).unwrap_or(tail.len());
            steps.push(PathStep::Field(tail[..end].to_owned()));
            rest = &tail[end..];
        } else {
            let tail = rest.strip_prefix('[')?;
            let quote = tail.chars().next().filter(|c| matches!(c, '\'' | '"'));
            let (step, tail) = match quote {
                Some(quote) => {
                    let (name, tail) = tail[1..].split_once(&format!("{quote}]"))?;
                    (PathStep::Field(name.to_owned()), tail)
                }
                None => {
                    let (index, tail) = tail.split_once(']')?;
                    (
                        PathStep::Index(index.parse().ok().filter(|index| *index <= MAX_INDEX)?),
                        tail,
                    )
                }
            };
            steps.push(step);
            rest = tail;
        }
    }
    (!steps.is_empty() && steps.len() <= MAX_DEPTH).then_some(steps)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn part(json: Value) -> PartialArgument {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn assembles_arguments_from_their_parts() {
        let mut arguments = StreamedArguments::default();
        for json in [
            json!({"jsonPath": "$.place.name", "stringValue": "Bos", "willContinue": true}),
            json!({"jsonPath": "$.place.name", "stringValue": "ton"}),
            json!({"jsonPath": "$.days[1]", "numberValue": 3}),
            json!({"jsonPath": "$['a b']", "boolValue": true}),
            json!({"jsonPath": "$.none", "nullValue": "NULL_VALUE"}),
            json!({"jsonPath": "$.days[99999999]", "numberValue": 3}),
            json!({"jsonPath": "nonsense", "numberValue": 3}),
            json!({"jsonPath": "$.days[", "numberValue": 3}),
            json!({"jsonPath": "$[0]", "numberValue": 3}),
        ] {
            arguments.push(part(json));
        }
        let made: Value = serde_json::from_str(&arguments.into_json()).unwrap();
        assert_eq!(
            made,
            json!({"place": {"name": "Boston"}, "days": [null, 3], "a b": true, "none": null})
        );
    }
}
