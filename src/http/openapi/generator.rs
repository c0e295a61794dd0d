//! Generation of the document: the routes describe their operations, the types their schemas.

use std::cell::RefCell;

use aide::{
    axum::ApiRouter,
    generate::{in_context, reset_context},
    openapi::{
        Components, Info, MediaType, OpenApi, Operation, Parameter, ParameterData, ParameterSchemaOrContent,
        PathItem, PathStyle, ReferenceOr, Response, SchemaObject, SecurityScheme, Server, StatusCode,
    },
};
use axum::Router;
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value};

use super::{
    parts,
    schemas::{self, REFERENCE_PREFIX},
    simplify::simplify,
};
use crate::app::AppState;
use parlor_protocol::MessageId;

/// The content of a body, by media type.
type Content = aide::openapi::Content;

thread_local! {
    /// The schemas of requests. They differ from those of responses: a field with a default is not required.
    /// aide has one generator for both directions, which is that of responses.
    static REQUESTS: RefCell<SchemaGenerator> = RefCell::new(settings().for_deserialize().into_generator());
}

fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = REFERENCE_PREFIX.into();
        settings.meta_schema = None;
    })
}

/// Returns routes without their document. aide makes their schemas nevertheless, and keeps them for the thread: they are dropped.
pub fn without_document(routes: impl FnOnce() -> ApiRouter<AppState>) -> Router<AppState> {
    let router = routes().into();
    reset_context();
    REQUESTS.set(settings().for_deserialize().into_generator());
    router
}

/// Returns the document that describes routes.
pub fn describe(routes: impl FnOnce() -> ApiRouter<AppState>) -> OpenApi {
    in_context(|context| context.schema = settings().for_serialize().into_generator());
    let mut document = OpenApi {
        info: Info {
            title: "Parlor".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            summary: Some("A self-hosted web chat for LLM agents.".into()),
            description: Some(
                "The public API for programs. docs/http.md describes it for people. Objects may get more fields, and \
                 streams more event types."
                    .into(),
            ),
            ..Info::default()
        },
        servers: vec![Server {
            url: "/".into(),
            ..Server::default()
        }],
        // A token, or none on the same machine.
        security: vec![Default::default(), [("token".into(), Vec::new())].into_iter().collect()],
        ..OpenApi::default()
    };
    let _ = routes().finish_api(&mut document);
    let paths = document.paths.iter_mut().flat_map(|paths| paths.paths.iter_mut());
    for (path, item) in paths {
        if let ReferenceOr::Item(item) = item {
            complete_operations(path, item);
        }
    }
    let components = document.components.get_or_insert_default();
    add_components(components);
    let responses = std::mem::take(&mut components.schemas);
    let responses = responses
        .into_iter()
        .map(|(name, schema)| (name, schema.json_schema.to_value()));
    let requests = REQUESTS.with_borrow_mut(|generator| generator.take_definitions(false));
    let mut schemas = schemas::combine(responses.collect(), requests);
    schemas::remove_unused(
        &mut schemas,
        &serde_json::to_string(&document).unwrap_or_default(),
    );
    let components = document.components.get_or_insert_default();
    components.schemas.extend(typed_schemas(schemas));
    document
}

fn typed_schemas(schemas: Map<String, Value>) -> impl IntoIterator<Item = (String, SchemaObject)> {
    let typed = |(name, schema)| Some((name, schema_object(Schema::try_from(schema).ok()?)));
    schemas.into_iter().filter_map(typed)
}

/// Adds to the operations of a path what they have in common.
fn complete_operations(path: &str, item: &mut PathItem) {
    let names = path
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let names: Vec<&str> = names.collect();
    let methods = [
        &mut item.get,
        &mut item.put,
        &mut item.post,
        &mut item.delete,
        &mut item.patch,
    ];
    for operation in methods.into_iter().flatten() {
        let in_path = names.iter().map(|name| ReferenceOr::Item(path_parameter(name)));
        operation.parameters.splice(0..0, in_path);
        add_problems(operation, &[401, 403, 429, 500, 503]);
        if !names.is_empty() {
            add_problems(operation, &[404]);
        }
        if let Some(responses) = &mut operation.responses {
            responses.responses.sort_unstable_keys();
        }
    }
}

fn path_parameter(name: &str) -> Parameter {
    let schema = match name {
        // A short id that is unique in its conversation.
        "payload_id" => request_schema::<String>(),
        _ => request_schema::<MessageId>(),
    };
    Parameter::Path {
        parameter_data: ParameterData {
            required: true,
            ..parameter_data(name, parts::path_parameter_description(name), schema)
        },
        style: PathStyle::Simple,
    }
}

/// Returns an optional parameter.
pub fn parameter_data(name: &str, description: &str, schema: Schema) -> ParameterData {
    ParameterData {
        name: name.into(),
        description: Some(description.into()),
        required: false,
        deprecated: None,
        format: ParameterSchemaOrContent::Schema(schema_object(schema)),
        example: None,
        examples: Default::default(),
        explode: None,
        extensions: Default::default(),
    }
}

fn add_components(components: &mut Components) {
    for (name, parameter) in parts::header_parameters() {
        components
            .parameters
            .insert(name.into(), ReferenceOr::Item(parameter));
    }
    for (status, response) in parts::problem_responses() {
        components
            .responses
            .insert(format!("Problem{status}"), ReferenceOr::Item(response));
    }
    let token = SecurityScheme::Http {
        scheme: "bearer".into(),
        bearer_format: None,
        description: Some(
            "An API token, created in the settings. Without accounts, programs on the same machine need none; an invalid one \
             is rejected (401)."
                .into(),
        ),
        extensions: Default::default(),
    };
    components
        .security_schemes
        .insert("token".into(), ReferenceOr::Item(token));
}

/// Adds error responses to an operation that has no others of these statuses.
pub fn add_problems(operation: &mut Operation, statuses: &[u16]) {
    let responses = &mut operation.responses.get_or_insert_default().responses;
    for status in statuses {
        let reference = format!("#/components/responses/Problem{status}");
        let response = responses.entry(StatusCode::Code(*status));
        response.or_insert_with(|| ReferenceOr::ref_(&reference));
    }
}

/// Sets the response of a status.
pub fn set_response(operation: &mut Operation, status: u16, response: Response) {
    let responses = &mut operation.responses.get_or_insert_default().responses;
    responses.insert(StatusCode::Code(status), ReferenceOr::Item(response));
}

/// Returns the content of a body with one media type.
pub fn content(media_type: &str, schema: Schema) -> Content {
    let media = MediaType {
        schema: Some(schema_object(schema)),
        ..MediaType::default()
    };
    [(media_type.to_owned(), media)].into_iter().collect()
}

/// Returns the schema of a type in requests, or a reference to it.
pub fn request_schema<T: JsonSchema>() -> Schema {
    REQUESTS.with_borrow_mut(|generator| generator.subschema_for::<T>())
}

/// Returns the schema of a type in requests, never a reference.
pub fn request_object<T: JsonSchema>() -> Schema {
    let mut schema = REQUESTS.with_borrow_mut(|generator| T::json_schema(generator));
    simplify(&mut schema);
    schema
}

/// Returns the schema of a type in responses, or a reference to it.
pub fn response_schema<T: JsonSchema>() -> Schema {
    in_context(|context| context.schema.subschema_for::<T>())
}

pub fn schema_object(json_schema: Schema) -> SchemaObject {
    SchemaObject {
        json_schema,
        external_docs: None,
        example: None,
    }
}
