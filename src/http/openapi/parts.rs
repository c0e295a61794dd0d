//! Parts that operations share: parameters, responses, examples.

use aide::{
    openapi::{
        Header, HeaderStyle, Parameter, ParameterSchemaOrContent, ReferenceOr, RequestBody, Response,
        StatusCode,
    },
    transform::TransformOperation,
};
use schemars::{Schema, json_schema};
use serde_json::{Value, json};

use super::generator::{
    content, parameter_data, request_schema, response_schema, schema_object, set_response,
};
use crate::http::{
    event_stream::FrameSchema,
    problem::{Body, CommonExtensions},
};
use parlor_protocol::{IntentId, Position};

pub type Operation<'a> = TransformOperation<'a>;

const PROBLEM_MEDIA_TYPE: &str = "application/problem+json";

/// The component of the header by which a client resumes a stream.
pub const LAST_EVENT_ID: &str = "LastEventId";

/// The component of the header that makes a request idempotent.
const IDEMPOTENCY_KEY: &str = "IdempotencyKey";

/// Returns the header parameters that operations refer to, with the names of their components.
pub fn header_parameters() -> [(&'static str, Parameter); 2] {
    let header = |name, description, schema| Parameter::Header {
        parameter_data: parameter_data(name, description, schema),
        style: HeaderStyle::Simple,
    };
    let idempotency_key = header(
        "Idempotency-Key",
        "Makes a request idempotent: the same request returns the same run; a different one under this key is \
         rejected.",
        request_schema::<IntentId>(),
    );
    let last_event_id = header(
        "Last-Event-ID",
        "Same as after, and takes precedence over it.",
        request_schema::<Position>(),
    );
    [(IDEMPOTENCY_KEY, idempotency_key), (LAST_EVENT_ID, last_event_id)]
}

/// Returns the description of a parameter in the path.
pub fn path_parameter_description(name: &str) -> &'static str {
    match name {
        "attachment_id" | "file_id" => "The file.",
        "column_id" => "The column.",
        "conversation_id" => "The conversation.",
        "job_id" => "The job.",
        "message_id" => "The message id, which is also the id of its run.",
        "payload_id" => "The payload, by its short id in the conversation.",
        "row" => "The row, by its key: a PMID, or the number of a row, from 1.",
        _ => "",
    }
}

/// Returns the error responses that operations refer to, by status.
pub fn problem_responses() -> impl Iterator<Item = (u16, Response)> {
    let descriptions = [
        (400, "The request is malformed."),
        (
            401,
            "The token is invalid, or missing although Parlor has accounts (unauthorized).",
        ),
        (
            403,
            "The request came from another site, or its Host is not allowed; or the user may not use the model (model_not_allowed).",
        ),
        (404, "Not found, or owned by another user."),
        (
            408,
            "The body arrived too slowly or incompletely (settings timeouts.request_body and \
             limits.request_bytes_per_second).",
        ),
        (
            409,
            "The request conflicts with the current state: run_active, not_continuable, intent_reused or action_spent.",
        ),
        (413, "The request exceeds a size limit."),
        (
            415,
            "The Content-Type is not JSON, or the type of an uploaded file can't be used (unsupported_media_type).",
        ),
        (
            422,
            "Unknown page or item in context (invalid_context), unknown tool (unknown_tool), unknown model (unknown_model), \
             unknown file (file_not_found), a file that the model can't take (file_not_taken) or invalid parameters \
             (invalid_parameters).",
        ),
        (
            429,
            "Too many requests (setting accounts.requests_per_minute), too many uploads that wait to be read (setting \
             files.max_waiting), or a limit of the user's answers is reached (limit_reached: settings accounts.runs, \
             accounts.tokens_per_day and accounts.dollars_per_day); retry after Retry-After.",
        ),
        (500, "An internal error."),
        (
            503,
            "Storage is temporarily unavailable, or Parlor is shutting down; retry after Retry-After.",
        ),
        (
            507,
            "There is no room for the file (no_room): the files of the user reach their limit (setting files.user_bytes).",
        ),
    ];
    descriptions.into_iter().map(|(status, description)| {
        let response = problem_response(description, plain_problem());
        let response = match status {
            401 => with_header(response, "WWW-Authenticate"),
            429 | 503 => with_header(response, "Retry-After"),
            _ => response,
        };
        (status, response)
    })
}

pub fn with_idempotency_key(operation: Operation<'_>) -> Operation<'_> {
    let mut operation = with_header_parameter(operation, IDEMPOTENCY_KEY);
    super::generator::add_problems(operation.inner_mut(), &[400]);
    operation
}

/// Adds a parameter of [`header_parameters`].
pub fn with_header_parameter<'a>(mut operation: Operation<'a>, component: &str) -> Operation<'a> {
    let reference = ReferenceOr::ref_(&format!("#/components/parameters/{component}"));
    operation.inner_mut().parameters.push(reference);
    operation
}

/// Adds a response without a body.
pub fn with_status<'a>(mut operation: Operation<'a>, status: u16, description: &str) -> Operation<'a> {
    let response = Response {
        description: description.into(),
        ..Response::default()
    };
    set_response(operation.inner_mut(), status, response);
    operation
}

/// Sets a file of any type as the body. The server takes any `Content-Type`; generators of clients know this one.
pub fn set_file_body(operation: &mut aide::openapi::Operation) {
    let bytes = json_schema!({ "type": "string", "format": "binary" });
    operation.request_body = Some(ReferenceOr::Item(RequestBody {
        description: None,
        content: content("application/octet-stream", bytes),
        required: true,
        extensions: Default::default(),
    }));
}

/// Adds a response for something that was created.
pub fn with_created<'a>(mut operation: Operation<'a>, description: &str, schema: Schema) -> Operation<'a> {
    let created = response(description, "application/json", schema);
    set_response(operation.inner_mut(), 201, created);
    operation
}

/// Adds a response with a file of any type.
pub fn with_file<'a>(mut operation: Operation<'a>, status: u16, description: &str) -> Operation<'a> {
    let bytes = json_schema!({ "type": "string", "format": "binary" });
    set_response(operation.inner_mut(), status, response(description, "*/*", bytes));
    operation
}

/// Adds the stream of one run.
pub fn with_run_stream(operation: Operation<'_>) -> Operation<'_> {
    let description = "Events. The last one is complete, cancelled or error and has the payload. A stream that ends without one was \
                       cut off.";
    with_stream(operation, description)
}

/// Adds a stream of events.
pub fn with_stream<'a>(mut operation: Operation<'a>, description: &str) -> Operation<'a> {
    let stream = response(description, "text/event-stream", response_schema::<FrameSchema>());
    set_response(operation.inner_mut(), 200, stream);
    operation
}

/// Returns a response with a body.
pub fn response(description: &str, media_type: &str, schema: Schema) -> Response {
    Response {
        description: description.into(),
        content: content(media_type, schema),
        ..Response::default()
    }
}

pub fn problem_response(description: &str, schema: Schema) -> Response {
    response(description, PROBLEM_MEDIA_TYPE, schema)
}

/// Returns the schema of a problem without extensions.
pub fn plain_problem() -> Schema {
    response_schema::<Body<'static, CommonExtensions>>()
}

pub fn any_of(schemas: [Schema; 2]) -> Schema {
    json_schema!({ "anyOf": schemas })
}

pub fn with_header(mut response: Response, name: &str) -> Response {
    let header = Header {
        description: None,
        style: HeaderStyle::Simple,
        required: false,
        deprecated: None,
        format: ParameterSchemaOrContent::Schema(schema_object(json_schema!({ "type": "string" }))),
        example: None,
        examples: Default::default(),
        extensions: Default::default(),
    };
    response.headers.insert(name.into(), ReferenceOr::Item(header));
    response
}

pub fn with_example(mut response: Response, example: Value) -> Response {
    if let Some(media) = response.content.values_mut().next() {
        media.example = Some(example);
    }
    response
}

/// Sets the example of the response that the handler's type describes.
pub fn set_response_example(operation: &mut Operation<'_>, example: Value) {
    let responses = operation.inner_mut().responses.get_or_insert_default();
    if let Some(ReferenceOr::Item(response)) = responses.responses.get_mut(&StatusCode::Code(200)) {
        *response = with_example(std::mem::take(response), example);
    }
}

pub fn set_request_example(operation: &mut Operation<'_>, example: Value) {
    if let Some(ReferenceOr::Item(body)) = &mut operation.inner_mut().request_body
        && let Some(media) = body.content.values_mut().next()
    {
        media.example = Some(example);
    }
}

pub fn parameters_example() -> Value {
    json!({ "temperature": 0.7, "thinking_level": "low", "max_completion_tokens": 2000 })
}

pub fn answer_example() -> Value {
    json!({
        "message": "Found it.\n\n[[tool:0]]\n\nIt is 42.",
        "suggested_values": [{ "label": "Why?", "value": "Why is it 42?" }],
        "suggested_actions": [],
        "custom_payload": null,
        "tool_history": [{
            "tool_name": "calculate",
            "tool_use_id": "call_1",
            "input": { "expression": "6*7" },
            "output": "42",
            "status": "complete",
        }],
        "sources": [],
        "conversation_id": "0199f6a2-7b1e-7cc0-9f52-0a6c4f0c8a11",
        "user_message_id": "0199f6a2-7b1f-7cc0-9f52-0a6c4f0c8a12",
        "message_id": "0199f6a2-7b20-7cc0-9f52-0a6c4f0c8a13",
        "status": "complete",
    })
}

pub fn pending_answer_example() -> Value {
    json!({
        "conversation_id": "0199f6a2-7b1e-7cc0-9f52-0a6c4f0c8a11",
        "user_message_id": "0199f6a2-7b1f-7cc0-9f52-0a6c4f0c8a12",
        "message_id": "0199f6a2-7b20-7cc0-9f52-0a6c4f0c8a13",
        "status": "running",
        "approvals": [],
    })
}
