//! The extractors of the public contract. A rejection is a problem, and the OpenAPI document describes the
//! extracted type.

use std::{fmt, marker::PhantomData};

use aide::{
    OperationInput,
    generate::GenContext,
    openapi::{Operation, RequestBody},
    operation::{ParamLocation, add_parameters, parameters_from_schema, set_body},
};
use axum::{
    Json,
    extract::{FromRequest, FromRequestParts, Query, Request},
    http::{HeaderMap, request::Parts},
};
use schemars::JsonSchema;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, MapAccess, Visitor, value::MapAccessDeserializer},
};

use super::{
    openapi::generator::{add_problems, content, request_object, request_schema},
    problem::{Problem, bad_request, rejected_body, rejected_query},
};
use parlor_protocol::IntentId;

/// The header that identifies a request, so that a repeated request runs once.
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// The body of a request, a JSON object.
pub struct JsonBody<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let Json(ObjectOnly(body)) = Json::from_request(request, state)
            .await
            .map_err(|rejection| rejected_body(&rejection))?;
        Ok(Self(body))
    }
}

/// A value that is read from an object only. Serde's own structs accept arrays of their fields' values, too.
struct ObjectOnly<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ObjectOnly<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = ObjectOnly<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(ObjectOnly)
    }
}

impl<T: JsonSchema> OperationInput for JsonBody<T> {
    fn operation_input(context: &mut GenContext, operation: &mut Operation) {
        let body = RequestBody {
            description: None,
            content: content("application/json", request_schema::<T>()),
            required: true,
            extensions: Default::default(),
        };
        set_body(context, operation, body);
        add_problems(operation, &[400, 408, 413, 415]);
    }
}

/// The query of a request.
pub struct QueryParameters<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for QueryParameters<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Query(query) = Query::from_request_parts(parts, state)
            .await
            .map_err(|rejection| rejected_query(&rejection))?;
        Ok(Self(query))
    }
}

impl<T: JsonSchema> OperationInput for QueryParameters<T> {
    fn operation_input(context: &mut GenContext, operation: &mut Operation) {
        let parameters = parameters_from_schema(context, request_object::<T>(), ParamLocation::Query);
        add_parameters(context, operation, parameters);
        add_problems(operation, &[400]);
    }
}

/// Parses the header `Idempotency-Key`. Without it, the request gets a new id.
pub fn parse_intent_id(headers: &HeaderMap) -> Result<IntentId, Problem> {
    let Some(value) = headers.get(IDEMPOTENCY_KEY) else {
        return Ok(IntentId::new());
    };
    let parsed = value
        .to_str()
        .ok()
        .and_then(|value| value.trim_matches('"').parse().ok());
    parsed.ok_or_else(|| bad_request("The header Idempotency-Key must be a UUID."))
}
