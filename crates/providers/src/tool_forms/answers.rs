//! The schema of an answer in the form that a kind of endpoint takes.

use serde_json::{Map, Value};

use super::{adapt_schema, normalize::SCHEMA_MAPS};
use parlor_base::settings::EndpointKind;

/// Keywords with which Anthropic's API refuses the schema of an answer, and of which Google's soon says that it has too many states.
const LIMITS: [&str; 15] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "default",
];

/// Keywords whose values are values of the answer, not schemas.
const VALUES: [&str; 3] = ["enum", "const", "examples"];

/// Returns the schema of an answer in the form of a kind of endpoint. What it can't express is left out: the instructions have the whole
/// schema.
pub fn adapt_answer(schema: &Value, kind: EndpointKind) -> Value {
    match kind {
        EndpointKind::Gemini => Value::Object(adapt_schema(&without_limits(schema), kind).0),
        EndpointKind::Anthropic => without_limits(schema),
        EndpointKind::OpenAi | EndpointKind::OpenAiResponses => schema.clone(),
    }
}

fn without_limits(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, _)| !LIMITS.contains(&name.as_str()));
            let fields: Map<String, Value> = kept
                .map(|(name, value)| {
                    let value = match value {
                        value if VALUES.contains(&name.as_str()) => value.clone(),
                        Value::Object(schemas) if SCHEMA_MAPS.contains(&name.as_str()) => {
                            let schemas = schemas.iter();
                            let schemas =
                                schemas.map(|(name, schema)| (name.clone(), without_limits(schema)));
                            Value::Object(schemas.collect())
                        }
                        value => without_limits(value),
                    };
                    (name.clone(), value)
                })
                .collect();
            Value::Object(fields)
        }
        Value::Array(schemas) => schemas.iter().map(without_limits).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_kind_gets_what_it_takes() {
        let schema = json!({
            "type": "object",
            "properties": {
                // A property by the name of a keyword.
                "format": { "type": "string", "maxLength": 2000, "enum": ["minimum"] },
                "cells": { "type": "array", "maxItems": 50, "items": { "$ref": "#/$defs/cell" } },
                "score": { "anyOf": [{ "type": "integer", "format": "uint8", "minimum": 0 }, { "type": "null" }] },
            },
            "required": ["cells", "format", "score"],
            "additionalProperties": false,
            "$defs": { "cell": { "type": "string", "pattern": "^a" } },
        });
        assert_eq!(adapt_answer(&schema, EndpointKind::OpenAi), schema);
        assert_eq!(adapt_answer(&schema, EndpointKind::OpenAiResponses), schema);
        assert_eq!(
            adapt_answer(&schema, EndpointKind::Anthropic),
            json!({
                "type": "object",
                "properties": {
                    "format": { "type": "string", "enum": ["minimum"] },
                    "cells": { "type": "array", "items": { "$ref": "#/$defs/cell" } },
                    "score": { "anyOf": [{ "type": "integer" }, { "type": "null" }] },
                },
                "required": ["cells", "format", "score"],
                "additionalProperties": false,
                "$defs": { "cell": { "type": "string" } },
            })
        );
        let google = adapt_answer(&schema, EndpointKind::Gemini);
        assert_eq!(
            google["properties"]["cells"]["items"]["type"], "string",
            "{google}"
        );
        assert!(
            google.get("$defs").is_none() && google.get("additionalProperties").is_none(),
            "{google}"
        );
    }
}
