//! Detection of an answer's protocol, for an endpoint that speaks another one than its settings say.

use serde_json::Value;

use super::event_decoder::DecodeError;
use parlor_base::settings::EndpointKind;

const CHAT_COMPLETIONS: &str = "OpenAI's chat completions";
const RESPONSES: &str = "OpenAI's Responses";
const MESSAGES: &str = "Anthropic's Messages";
const GENERATE_CONTENT: &str = "Google's generateContent";

/// Returns the protocol of an event or an answer, if it is a known one.
pub fn detect_protocol(json: &Value) -> Option<&'static str> {
    const COHERE: [&str; 5] = ["message-", "content-", "tool-call-", "tool-plan-", "citation-"];
    const ANTHROPIC: [&str; 2] = ["message_", "content_block_"];
    let has = |name: &str| json.get(name).is_some();
    let kind = json.get("type").and_then(Value::as_str).unwrap_or_default();
    let begins = |names: &[&str]| names.iter().any(|name| kind.starts_with(name));
    if begins(&COHERE) || has("event_type") || has("generation_id") || is_cohere_message(json) {
        Some("Cohere's own")
    } else if begins(&ANTHROPIC) || kind == "message" {
        Some(MESSAGES)
    } else if kind.starts_with("response.") || json.get("object").is_some_and(|object| object == "response") {
        Some(RESPONSES)
    } else if has("candidates") {
        Some(GENERATE_CONTENT)
    } else if has("done") && (has("message") || has("response")) {
        Some("Ollama's own")
    } else if has("choices") {
        Some(CHAT_COMPLETIONS)
    } else {
        None
    }
}

/// Returns the error of an answer in a known protocol other than the endpoint's.
pub fn detect_other_protocol(data: &str, own: EndpointKind) -> Option<DecodeError> {
    let json = serde_json::from_str::<Value>(data).ok()?;
    let name = detect_protocol(&json).filter(|name| *name != protocol_name(own))?;
    Some(DecodeError::UnsupportedProtocol(name))
}

/// Returns the error of a whole answer that does not have the endpoint's protocol.
pub fn foreign_answer(json: &str, own: EndpointKind) -> DecodeError {
    detect_other_protocol(json, own).unwrap_or(DecodeError::NotAStream)
}

/// Returns the name of a kind's protocol in messages.
pub fn protocol_name(kind: EndpointKind) -> &'static str {
    match kind {
        EndpointKind::OpenAi => CHAT_COMPLETIONS,
        EndpointKind::OpenAiResponses => RESPONSES,
        EndpointKind::Anthropic => MESSAGES,
        EndpointKind::Gemini => GENERATE_CONTENT,
    }
}

/// Returns the kind of endpoint that has a protocol.
pub fn kind_of_protocol(name: &str) -> Option<EndpointKind> {
    EndpointKind::ALL
        .into_iter()
        .find(|kind| protocol_name(*kind) == name)
}

/// Returns true for a whole answer of Cohere's API.
fn is_cohere_message(json: &Value) -> bool {
    let content = json.get("message").and_then(|message| message.get("content"));
    json.get("finish_reason").is_some() && content.is_some_and(Value::is_array)
}
