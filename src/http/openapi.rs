//! `GET /api/openapi.json`: the public contract for programs. `docs/http.md` documents it for people.
//!
//! The document is written by hand. A crate that derives one needs attributes on types that are also compiled
//! for the browser, does not support the types with their own serialization, and cannot describe event
//! streams. Tests check that document and server agree: here for addresses and events, and in `tests/server`
//! for every response there.

use axum::{http::header, response::IntoResponse};

/// The OpenAPI document.
pub const DOCUMENT: &str = include_str!("../../docs/openapi.json");

/// `GET /api/openapi.json`
pub async fn get() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], DOCUMENT)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use jsonschema::Draft;
    use serde_json::{Value, json};

    use super::{super::contract_routes, DOCUMENT};
    use crate::protocol::examples::{logged_event, of_every_kind};

    fn document() -> Value {
        serde_json::from_str(DOCUMENT).unwrap()
    }

    #[test]
    fn document_lists_exactly_the_contracts_routes() {
        let document = document();
        let described: BTreeSet<&str> = document["paths"]
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        let contract = contract_routes();
        let served: BTreeSet<&str> = contract.iter().map(|(path, _)| *path).collect();
        assert_eq!(described, served);
        // All routes are in that table.
        let router = include_str!("mod.rs");
        assert_eq!(
            router.matches(".route(\"/api").count(),
            3,
            "only for what is unknown"
        );
        assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
    }

    #[test]
    fn document_describes_every_event() {
        let document = document();
        let description = &document["components"]["schemas"]["Event"];
        let mapping = description["discriminator"]["mapping"].as_object().unwrap();
        let events: Vec<Value> = of_every_kind()
            .into_iter()
            .map(|body| serde_json::to_value(logged_event(body)).unwrap())
            .collect();
        let kinds: BTreeSet<&str> = events
            .iter()
            .map(|event| event["type"].as_str().unwrap())
            .collect();
        let described: BTreeSet<&str> = mapping.keys().map(String::as_str).collect();
        assert_eq!(described, kinds, "and no others");
        assert_eq!(description["oneOf"].as_array().unwrap().len(), kinds.len());
        for event in &events {
            let name = mapping[event["type"].as_str().unwrap()].clone();
            for reference in [name, json!("#/components/schemas/Event")] {
                // Only documented fields are allowed.
                let schema = json!({
                    "$ref": reference, "components": document["components"], "unevaluatedProperties": false,
                });
                let options = jsonschema::options().with_draft(Draft::Draft202012);
                let validator = options.should_validate_formats(true).build(&schema).unwrap();
                let faults: Vec<_> = validator
                    .iter_errors(event)
                    .map(|fault| fault.to_string())
                    .collect();
                assert!(faults.is_empty(), "{faults:?} in {event}");
            }
        }
    }
}
