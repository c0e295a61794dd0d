//! The body of a request.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{PROVIDER_KIND, content::SignedText, decoder, thinking::ThinkingForm};
use crate::{
    answer_layout::{AnswerBlock, arrange_blocks},
    fallback_messages::{offered_forced_tools, require_tools, without_system},
};
use parlor_model::{ModelFile, ModelMessage, ModelRequest, ToolSpec, ToolUse};
use parlor_protocol::{ProviderData, RawJson};

/// The temperature unless the user sets one. Lower ones make these models repeat themselves.
const USUAL_TEMPERATURE: f64 = 1.0;

/// Google's signature for a call that another model has made.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// The form of a model's requests: what the model takes.
#[derive(Clone, Copy, Debug)]
pub struct RequestForm {
    pub thinking: ThinkingForm,
    /// True if the model rejects function calls without signatures.
    pub needs_signatures: bool,
    /// True if the model takes the signatures of earlier answers.
    pub earlier_signatures: bool,
    pub system: bool,
    pub answer_schema: bool,
}

/// The body of `generateContent` and `streamGenerateContent`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContentRequest {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Value>,
    contents: Vec<RequestContent>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<Value>,
    generation_config: Map<String, Value>,
}

#[derive(Debug, Serialize)]
struct RequestContent {
    role: &'static str,
    parts: Vec<RequestPart>,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct RequestPart {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The content of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    inline_data: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<RequestFunctionCall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_response: Option<FunctionResponse>,
    /// The signature of the thoughts that led to the part.
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<RawJson>,
    /// The fields of a part of the server's own tools.
    #[serde(flatten)]
    others: Map<String, Value>,
}

#[derive(Debug, Serialize)]
struct RequestFunctionCall {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<RawJson>,
    name: String,
    args: RawJson,
}

#[derive(Debug, Serialize)]
struct FunctionResponse {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<RawJson>,
    name: String,
    response: Value,
}

/// A call whose output may follow.
struct OpenCall {
    tool_use_id: String,
    id: Option<RawJson>,
    name: String,
}

/// Builds the request body.
pub fn build_request(request: &ModelRequest, form: &RequestForm) -> ContentRequest {
    let mut messages = request.messages.clone();
    let forced = offered_forced_tools(request);
    let tool_config = (!forced.is_empty())
        .then(|| json!({ "functionCallingConfig": { "mode": "ANY", "allowedFunctionNames": forced } }));
    if forced.len() > 1 {
        // The field demands any of them, not each.
        require_tools(&mut messages, &forced);
    }
    if !form.system {
        without_system(&mut messages);
    }
    let mut system = Vec::new();
    let mut contents: Vec<RequestContent> = Vec::new();
    let mut calls: Vec<OpenCall> = Vec::new();
    let question = messages
        .iter()
        .rposition(|message| matches!(message, ModelMessage::User(_)));
    for (at, message) in messages.iter().enumerate() {
        match message {
            ModelMessage::System(text) => system.push(json!({ "text": text })),
            // A message that is only a file.
            ModelMessage::User(text)
                if text.is_empty() && matches!(messages.get(at + 1), Some(ModelMessage::File(_))) => {}
            ModelMessage::User(text) => push_parts(&mut contents, "user", vec![text_part(text)]),
            ModelMessage::File(file) => push_parts(&mut contents, "user", vec![file_part(file)]),
            ModelMessage::Assistant {
                text,
                tool_calls,
                provider_data,
                ..
            } => {
                // Earlier turns are not checked.
                let needs_signature = form.needs_signatures && Some(at) > question;
                push_parts(
                    &mut contents,
                    "model",
                    answer_parts(
                        text,
                        tool_calls,
                        provider_data,
                        needs_signature,
                        form.earlier_signatures,
                    ),
                );
                calls.extend(tool_calls.iter().map(|call| OpenCall {
                    tool_use_id: call.id.clone(),
                    id: find_data(call, decoder::ID_FIELD),
                    name: call.name.clone(),
                }));
            }
            ModelMessage::Tool { tool_use_id, output } => {
                let at = calls.iter().position(|call| call.tool_use_id == *tool_use_id);
                let call = at.map(|at| calls.remove(at));
                let (id, name) = call.map_or((None, String::new()), |call| (call.id, call.name));
                let response = json!({ "output": output });
                let part = RequestPart {
                    function_response: Some(FunctionResponse { id, name, response }),
                    ..RequestPart::default()
                };
                push_parts(&mut contents, "user", vec![part]);
            }
        }
    }
    ContentRequest {
        system_instruction: (!system.is_empty()).then(|| json!({ "parts": system })),
        contents,
        tools: request_tools(&request.tools),
        tool_config,
        generation_config: generation_config(request, form),
    }
}

fn generation_config(request: &ModelRequest, form: &RequestForm) -> Map<String, Value> {
    let parameters = &request.parameters;
    let mut config = Map::new();
    let temperature = parameters.temperature.map(|temperature| json!(temperature));
    config.insert(
        "temperature".into(),
        temperature.unwrap_or_else(|| json!(USUAL_TEMPERATURE)),
    );
    if let Some(tokens) = parameters.max_completion_tokens {
        config.insert("maxOutputTokens".into(), json!(tokens));
    }
    if let Some(thinking) = form.thinking.config(parameters.thinking()) {
        config.insert("thinkingConfig".into(), thinking);
    }
    if form.answer_schema
        && let Some(schema) = &request.answer_schema
    {
        config.insert("responseMimeType".into(), json!("application/json"));
        config.insert("responseSchema".into(), json!(schema));
    }
    config
}

/// Returns the parts of an answer, with their signatures.
fn answer_parts(
    text: &str,
    tool_calls: &[ToolUse],
    provider_data: &[ProviderData],
    needs_signature: bool,
    with_signatures: bool,
) -> Vec<RequestPart> {
    let mut parts: Vec<RequestPart> = Vec::new();
    for block in arrange_blocks(text, tool_calls.len(), provider_data, PROVIDER_KIND) {
        match block {
            AnswerBlock::Text(text) => parts.push(text_part(text)),
            AnswerBlock::Call(index) => parts.extend(tool_calls.get(index).map(call_part)),
            AnswerBlock::Provider(raw) => match server_part(&raw) {
                Some(part) => parts.push(part),
                None => add_signature(&mut parts, &raw),
            },
        }
    }
    if !with_signatures {
        for part in &mut parts {
            part.thought_signature = None;
        }
    }
    let unsigned = parts.iter_mut().find(|part| part.function_call.is_some());
    if let Some(first) = unsigned.filter(|_| needs_signature) {
        let none = || RawJson::parse_or_quote(NO_SIGNATURE);
        first.thought_signature.get_or_insert_with(none);
    }
    parts.retain(|part| part.text.as_deref() != Some("") || part.thought_signature.is_some());
    parts
}

/// Returns a part of the server's own tools; `None` for other data.
fn server_part(raw: &RawJson) -> Option<RequestPart> {
    let mut others: Map<String, Value> = serde_json::from_str(raw.as_str()).ok()?;
    if !decoder::SERVER_PARTS
        .iter()
        .any(|name| others.contains_key(*name))
    {
        return None;
    }
    let signature = others.remove(decoder::SIGNATURE_FIELD);
    Some(RequestPart {
        thought_signature: signature.map(|signature| RawJson::parse_or_quote(&signature.to_string())),
        others,
        ..RequestPart::default()
    })
}

/// Adds the signature of a text to the last part, or as a part without text, as it came.
fn add_signature(parts: &mut Vec<RequestPart>, raw: &RawJson) {
    let signature = SignedText::parse(raw);
    let Some(signed) = signature else { return };
    let last = parts.last_mut().filter(|part| part.text.is_some());
    match last.filter(|_| signed.has_text) {
        Some(part) => part.thought_signature = Some(signed.signature),
        None => parts.push(RequestPart {
            thought_signature: Some(signed.signature),
            ..text_part("")
        }),
    }
}

fn text_part(text: &str) -> RequestPart {
    RequestPart {
        text: Some(text.to_owned()),
        ..RequestPart::default()
    }
}

fn file_part(file: &ModelFile) -> RequestPart {
    RequestPart {
        inline_data: Some(json!({ "mimeType": file.media_type, "data": *file.base64 })),
        ..RequestPart::default()
    }
}

fn call_part(call: &ToolUse) -> RequestPart {
    RequestPart {
        function_call: Some(RequestFunctionCall {
            id: find_data(call, decoder::ID_FIELD),
            name: call.name.clone(),
            args: RawJson::parse_or_quote(&call.arguments),
        }),
        thought_signature: find_data(call, decoder::SIGNATURE_FIELD),
        ..RequestPart::default()
    }
}

/// Returns the data of a call that came in a field.
fn find_data(call: &ToolUse, field: &str) -> Option<RawJson> {
    let mut own = call
        .provider_data
        .iter()
        .filter(|data| data.kind == PROVIDER_KIND);
    own.find(|data| data.field == field)
        .map(|data| data.value.clone())
}

/// Adds parts to the last content, if it has the same role, or as a new content. The outputs of functions have
/// contents of their own.
fn push_parts(contents: &mut Vec<RequestContent>, role: &'static str, parts: Vec<RequestPart>) {
    let is_output = |parts: &[RequestPart]| parts.iter().any(|part| part.function_response.is_some());
    match contents.last_mut() {
        _ if parts.is_empty() => {}
        Some(last) if last.role == role && is_output(&last.parts) == is_output(&parts) => {
            last.parts.extend(parts);
        }
        _ => contents.push(RequestContent { role, parts }),
    }
}

fn request_tools(tools: &[std::sync::Arc<ToolSpec>]) -> Vec<Value> {
    let declarations: Vec<Value> = tools
        .iter()
        .map(|tool| {
            let ToolSpec {
                name,
                description,
                input_schema,
            } = &**tool;
            json!({ "name": name, "description": description, "parametersJsonSchema": input_schema })
        })
        .collect();
    match declarations.is_empty() {
        true => Vec::new(),
        false => vec![json!({ "functionDeclarations": declarations })],
    }
}
