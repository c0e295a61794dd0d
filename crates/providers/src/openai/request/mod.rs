//! The request body, in async-openai's types where these have all fields.

use std::{borrow::Cow, collections::BTreeMap};

use async_openai::types::chat::{
    ChatCompletionMessageToolCall, ChatCompletionMessageToolCalls, ChatCompletionRequestMessage,
    ChatCompletionRequestSystemMessage, ChatCompletionRequestToolMessage, ChatCompletionRequestUserMessage,
    ChatCompletionStreamOptions, ChatCompletionTool, ChatCompletionTools, FunctionCall, FunctionObject,
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::PROVIDER_KIND;
use crate::{
    fallback_messages::{offered_forced_tools, require_tools, without_system},
    images::openai_model_api,
    reasoning_effort::reasoning_effort,
};
use parlor_base::settings::{Dialect, MaxTokensField, ThinkingField};
use parlor_model::{ImageApi, ModelFile, ModelMessage, ModelRequest, ServerCapabilities, ToolSpec, ToolUse};
use parlor_protocol::{Parameters, ProviderData, RawJson, ThinkingChoice, ThinkingLevel};

/// A streamed completion request.
#[derive(Debug, Serialize)]
pub struct CompletionRequest {
    model: String,
    messages: Vec<RequestMessage>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ChatCompletionTools>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<ChatCompletionStreamOptions>,
    /// Optional parameters, under the server's names.
    #[serde(flatten)]
    fields: Map<String, Value>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum RequestMessage {
    Plain(ChatCompletionRequestMessage),
    /// A message of the user with files.
    Parts(RequestParts),
    Assistant(RequestAssistant),
}

#[derive(Debug, Serialize)]
struct RequestParts {
    role: &'static str,
    content: Vec<Value>,
}

/// An assistant message with non-standard fields.
#[derive(Debug, Serialize)]
struct RequestAssistant {
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    /// DeepSeek expects its reasoning to be sent back.
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<RequestCall>,
    /// The provider data, by field.
    #[serde(flatten)]
    provider_data: BTreeMap<String, RawJson>,
}

#[derive(Debug, Serialize)]
struct RequestCall {
    #[serde(flatten)]
    call: ChatCompletionMessageToolCalls,
    #[serde(flatten)]
    provider_data: BTreeMap<String, RawJson>,
}

/// Builds the request body for a server with this dialect and these capabilities. `model` is the endpoint's
/// name of the model.
pub fn build_completion(
    model: &str,
    request: &ModelRequest,
    dialect: Dialect,
    capabilities: ServerCapabilities,
) -> CompletionRequest {
    let mut fields = request_parameters(&request.parameters, dialect, capabilities);
    let mut messages = Cow::Borrowed(request.messages.as_slice());
    match forced_tools(request, capabilities).as_slice() {
        [] => {}
        [tool] if capabilities.tool_choice => {
            let choice = json!({"type": "function", "function": {"name": tool}});
            fields.insert("tool_choice".into(), choice);
        }
        // The field can force one tool or any tool, but not a subset.
        tools => require_tools(messages.to_mut(), tools),
    }
    if !capabilities.system {
        without_system(messages.to_mut());
    }
    // Otherwise such a model answers with text alone.
    if capabilities.image_output && asks_for_images(model) {
        fields.insert("modalities".into(), json!(["image", "text"]));
    }
    if capabilities.answer_schema
        && let Some(schema) = &request.answer_schema
    {
        let form = json!({ "type": "json_schema", "json_schema": { "name": "answer", "schema": schema } });
        fields.insert("response_format".into(), form);
    }
    CompletionRequest {
        model: model.to_owned(),
        messages: request_messages(&messages, capabilities.thinking),
        tools: request
            .tools
            .iter()
            .filter(|_| capabilities.tools)
            .map(|each| request_tool(each))
            .collect(),
        stream: true,
        stream_options: capabilities.usage.then_some(ChatCompletionStreamOptions {
            include_usage: Some(true),
            include_obfuscation: None,
        }),
        fields,
    }
}

/// Returns true if a model is asked for images in its answers: its name says that it makes them.
pub fn asks_for_images(model: &str) -> bool {
    openai_model_api(model) == Some(ImageApi::Chat)
}

/// Returns the forced tools among those that are offered to the model.
pub fn forced_tools(request: &ModelRequest, capabilities: ServerCapabilities) -> Vec<&str> {
    match capabilities.tools {
        true => offered_forced_tools(request),
        false => Vec::new(),
    }
}

fn request_parameters(
    parameters: &Parameters,
    dialect: Dialect,
    capabilities: ServerCapabilities,
) -> Map<String, Value> {
    let mut fields = Map::new();
    if let Some(temperature) = parameters.temperature {
        fields.insert("temperature".into(), json!(temperature));
    }
    if let Some(choice) = parameters.thinking().filter(|_| capabilities.thinking_choice) {
        add_thinking(&mut fields, choice, dialect.thinking_level);
    }
    if let Some(tokens) = parameters.max_completion_tokens {
        let name = match dialect.longest_answer {
            MaxTokensField::MaxCompletionTokens => "max_completion_tokens",
            MaxTokensField::MaxTokens => "max_tokens",
        };
        fields.insert(name.into(), json!(tokens));
    }
    fields
}

/// Adds the choice of the amount of thinking, in a server's field.
fn add_thinking(fields: &mut Map<String, Value>, choice: ThinkingChoice, field: ThinkingField) {
    let level = choice.nearest_level();
    let (name, value) = match field {
        ThinkingField::ReasoningEffort => match reasoning_effort(level) {
            Some(effort) => ("reasoning_effort", json!(effort)),
            None => return,
        },
        ThinkingField::Reasoning => match choice {
            ThinkingChoice::Budget(tokens) => ("reasoning", json!({"max_tokens": tokens})),
            ThinkingChoice::Level(ThinkingLevel::On) => ("reasoning", json!({"enabled": true})),
            ThinkingChoice::Level(level) => ("reasoning", json!({"effort": reasoning_effort(level)})),
        },
        ThinkingField::ChatTemplate => match level {
            ThinkingLevel::Off | ThinkingLevel::On => {
                let is_on = level == ThinkingLevel::On;
                ("chat_template_kwargs", json!({"enable_thinking": is_on}))
            }
            level => ("chat_template_kwargs", json!({"reasoning_effort": level})),
        },
        ThinkingField::EnableThinking => {
            if let ThinkingChoice::Budget(tokens) = choice {
                fields.insert("thinking_budget".into(), json!(tokens));
            }
            ("enable_thinking", json!(level != ThinkingLevel::Off))
        }
    };
    fields.insert(name.into(), value);
}

/// Converts the messages. A message of the user and its files become one.
fn request_messages(messages: &[ModelMessage], with_thinking: bool) -> Vec<RequestMessage> {
    let mut sent = Vec::with_capacity(messages.len());
    let mut messages = messages.iter().peekable();
    while let Some(message) = messages.next() {
        let mut content = match message {
            ModelMessage::User(text) if matches!(messages.peek(), Some(ModelMessage::File(_))) => {
                match &**text {
                    "" => Vec::new(),
                    text => vec![json!({ "type": "text", "text": text })],
                }
            }
            // Of a tool.
            ModelMessage::File(file) => vec![file_part(file)],
            other => {
                sent.push(request_message(other, with_thinking));
                continue;
            }
        };
        while let Some(ModelMessage::File(file)) = messages.peek() {
            content.push(file_part(file));
            messages.next();
        }
        sent.push(RequestMessage::Parts(RequestParts {
            role: "user",
            content,
        }));
    }
    sent
}

fn file_part(file: &ModelFile) -> Value {
    let data = file.data_url();
    match file.is_image() {
        true => json!({ "type": "image_url", "image_url": { "url": data } }),
        false => json!({ "type": "file", "file": { "filename": file.name, "file_data": data } }),
    }
}

fn request_message(message: &ModelMessage, with_thinking: bool) -> RequestMessage {
    RequestMessage::Plain(match message {
        ModelMessage::File(file) => {
            return RequestMessage::Parts(RequestParts {
                role: "user",
                content: vec![file_part(file)],
            });
        }
        ModelMessage::System(text) => ChatCompletionRequestSystemMessage::from(text.as_str()).into(),
        ModelMessage::User(text) => ChatCompletionRequestUserMessage::from(text.as_str()).into(),
        ModelMessage::Assistant {
            text,
            thinking,
            tool_calls,
            provider_data,
        } => {
            let provider_data = provider_data_by_field(provider_data);
            // If the server has sent its reasoning in its own format, it expects that one back.
            let in_own_form = ["reasoning_details", "thinking_blocks"];
            let with_thinking =
                with_thinking && !in_own_form.iter().any(|name| provider_data.contains_key(*name));
            return RequestMessage::Assistant(RequestAssistant {
                role: "assistant",
                // Some servers reject an empty text next to calls, and all reject a message without either.
                content: (!text.is_empty() || tool_calls.is_empty()).then(|| text.clone()),
                reasoning_content: thinking.clone().filter(|_| with_thinking),
                tool_calls: tool_calls.iter().map(request_call).collect(),
                provider_data,
            });
        }
        ModelMessage::Tool { tool_use_id, output } => ChatCompletionRequestToolMessage {
            content: output.as_str().into(),
            tool_call_id: tool_use_id.clone(),
        }
        .into(),
    })
}

fn request_call(call: &ToolUse) -> RequestCall {
    RequestCall {
        call: ChatCompletionMessageToolCalls::Function(ChatCompletionMessageToolCall {
            id: call.id.clone(),
            function: FunctionCall {
                name: call.name.clone(),
                arguments: call.arguments.clone(),
            },
        }),
        provider_data: provider_data_by_field(&call.provider_data),
    }
}

/// Returns the data for endpoints of this kind by field. Lists of the same field are joined.
fn provider_data_by_field(provider_data: &[ProviderData]) -> BTreeMap<String, RawJson> {
    let mut fields: BTreeMap<String, RawJson> = BTreeMap::new();
    for ProviderData { field, value, .. } in provider_data.iter().filter(|data| data.kind == PROVIDER_KIND) {
        let list = |json: &RawJson| serde_json::from_str::<Vec<RawJson>>(json.as_str()).ok();
        let both = fields
            .get(field)
            .and_then(|known| Some([list(known)?, list(value)?].concat()));
        let value = match both {
            Some(both) => {
                let entries: Vec<&str> = both.iter().map(RawJson::as_str).collect();
                RawJson::parse_or_quote(&format!("[{}]", entries.join(",")))
            }
            None => value.clone(),
        };
        fields.insert(field.clone(), value);
    }
    fields
}

fn request_tool(tool: &ToolSpec) -> ChatCompletionTools {
    ChatCompletionTools::Function(ChatCompletionTool {
        function: FunctionObject {
            name: tool.name.clone(),
            description: Some(tool.description.clone()),
            parameters: Some(tool.input_schema.clone()),
            strict: None,
        },
    })
}

#[cfg(test)]
mod tests;
