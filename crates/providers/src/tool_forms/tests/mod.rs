mod refusals;
mod restored_calls;
mod schemas;

use serde_json::{Map, Value, json};

use super::*;
use parlor_base::settings::EndpointKind::{Anthropic, Gemini, OpenAi, OpenAiResponses};
use parlor_model::{ErrorReply, ModelErrorKind};

fn forms(kind: EndpointKind) -> ToolForms {
    ToolForms::new(&EndpointConfig {
        kind,
        ..EndpointConfig::new("test", "http://localhost")
    })
}

fn spec(name: &str, schema: Value) -> Arc<ToolSpec> {
    Arc::new(ToolSpec {
        name: name.into(),
        description: "Looks.".into(),
        input_schema: schema,
    })
}

fn request(tools: Vec<Arc<ToolSpec>>) -> ModelRequest {
    ModelRequest {
        tools,
        ..ModelRequest::new("m", vec![ModelMessage::User("Hi".into())])
    }
}

/// Returns the error of a server that has rejected the request in these words.
fn rejection(status: u16, text: &str) -> ModelError {
    ModelError {
        error: RunError {
            code: "request_refused".into(),
            message: text.into(),
            hint: String::new(),
        },
        kind: ModelErrorKind::Refused,
        reply: Some(ErrorReply {
            status,
            text: text.into(),
        }),
    }
}

/// Returns a schema as it is sent, and the rules in words.
fn sent(kind: EndpointKind, schema: &Value) -> (Value, String) {
    let (schema, rules) = adapt_schema(schema, kind);
    (Value::Object(schema), rules.join(" "))
}

fn schema_of(kind: EndpointKind, schema: Value) -> Value {
    sent(kind, &schema).0
}

/// Returns true if a schema has one of these keywords at its root.
fn has_any(schema: &Value, keywords: &[&str]) -> bool {
    let fields: &Map<String, Value> = schema.as_object().unwrap();
    keywords.iter().any(|keyword| fields.contains_key(*keyword))
}
