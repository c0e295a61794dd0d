//! The JSON schema of a tool's input, for models.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

/// Returns the schema of a type, with all definitions inlined: models, and the grammars that some
/// servers make of a schema, handle references badly.
pub fn for_type<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft07().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(object) = schema.as_object_mut() {
        // The name of the Rust type tells a model nothing.
        object.remove("title");
        // An object without properties still has to list them.
        object
            .entry("properties")
            .or_insert_with(|| Value::Object(Default::default()));
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Not shown to anybody.
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "it stands for its schema")]
    struct Input {
        /// What to look for.
        query: String,
        /// How many at most.
        limit: Option<u32>,
        sort: Option<Sort>,
    }

    #[derive(JsonSchema)]
    #[serde(rename_all = "snake_case")]
    #[expect(dead_code, reason = "it stands for its schema")]
    enum Sort {
        Relevance,
        Date,
    }

    #[test]
    fn inlines_references_and_keeps_doc_comments() {
        let schema = for_type::<Input>();
        assert_eq!(schema["properties"]["query"]["description"], "What to look for.");
        assert_eq!(schema["required"], serde_json::json!(["query"]));
        let text = schema.to_string();
        for absent in ["$ref", "$schema", "title", "definitions"] {
            assert!(!text.contains(absent), "{absent} in {text}");
        }
        assert!(text.contains("relevance"), "{text}");
    }
}
