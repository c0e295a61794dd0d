//! The request body, in async-openai's types where these have all fields.

use std::{borrow::Cow, collections::BTreeMap};

use async_openai::types::chat::{
    ChatCompletionMessageToolCall, ChatCompletionMessageToolCalls, ChatCompletionRequestMessage,
    ChatCompletionRequestSystemMessage, ChatCompletionRequestToolMessage, ChatCompletionRequestUserMessage,
    ChatCompletionStreamOptions, ChatCompletionTool, ChatCompletionTools, FunctionCall, FunctionObject,
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{
    PROVIDER_KIND,
    fallback_messages::{require_tools, without_system, without_tools},
};
use crate::{
    model::{ModelMessage, ModelRequest, ServerCapabilities, ToolSpec, ToolUse},
    protocol::{Opaque, Parameters, RawJson},
    settings::{Dialect, MaxTokensField, ThinkingField},
};

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
    Assistant(RequestAssistant),
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
    /// Opaque data that the endpoint expects to be sent back.
    #[serde(flatten)]
    opaque: BTreeMap<String, RawJson>,
}

#[derive(Debug, Serialize)]
struct RequestCall {
    #[serde(flatten)]
    call: ChatCompletionMessageToolCalls,
    #[serde(flatten)]
    opaque: BTreeMap<String, RawJson>,
}

/// Builds the request body for a server with this dialect and these capabilities. `model` is the endpoint's
/// name of the model.
pub fn build_completion(
    model: &str,
    request: &ModelRequest,
    dialect: Dialect,
    capabilities: ServerCapabilities,
) -> CompletionRequest {
    let mut fields = request_parameters(&request.parameters, dialect);
    let mut messages = Cow::Borrowed(request.messages.as_slice());
    let mut tools = request.tools.as_slice();
    if !capabilities.tools {
        messages = Cow::Owned(without_tools(&messages));
        tools = &[];
    }
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
    CompletionRequest {
        model: model.to_owned(),
        messages: messages
            .iter()
            .map(|each| request_message(each, capabilities.thinking))
            .collect(),
        tools: tools.iter().map(|each| request_tool(each)).collect(),
        stream: true,
        stream_options: capabilities.usage.then_some(ChatCompletionStreamOptions {
            include_usage: Some(true),
            include_obfuscation: None,
        }),
        fields,
    }
}

/// Returns the forced tools among those that are offered to the model.
pub fn forced_tools(request: &ModelRequest, capabilities: ServerCapabilities) -> Vec<&str> {
    let is_told = |name: &&str| capabilities.tools && request.tools.iter().any(|tool| tool.name == **name);
    request
        .force_tools
        .iter()
        .map(String::as_str)
        .filter(is_told)
        .collect()
}

fn request_parameters(parameters: &Parameters, dialect: Dialect) -> Map<String, Value> {
    let mut fields = Map::new();
    if let Some(temperature) = parameters.temperature {
        fields.insert("temperature".into(), json!(temperature));
    }
    if let Some(level) = parameters.thinking_level {
        let level = level.as_str();
        let (name, value) = match dialect.thinking_level {
            ThinkingField::ReasoningEffort => ("reasoning_effort", json!(level)),
            ThinkingField::Reasoning => ("reasoning", json!({"effort": level})),
            ThinkingField::ChatTemplate => ("chat_template_kwargs", json!({"reasoning_effort": level})),
        };
        fields.insert(name.into(), value);
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

fn request_message(message: &ModelMessage, with_thinking: bool) -> RequestMessage {
    RequestMessage::Plain(match message {
        ModelMessage::System(text) => ChatCompletionRequestSystemMessage::from(text.as_str()).into(),
        ModelMessage::User(text) => ChatCompletionRequestUserMessage::from(text.as_str()).into(),
        ModelMessage::Assistant {
            text,
            thinking,
            tool_calls,
            opaque,
        } => {
            let opaque = opaque_fields(opaque);
            // If the server has sent its reasoning in its own format, it expects that one back.
            let in_own_form = ["reasoning_details", "thinking_blocks"];
            let with_thinking = with_thinking && !in_own_form.iter().any(|name| opaque.contains_key(*name));
            return RequestMessage::Assistant(RequestAssistant {
                role: "assistant",
                // Some servers reject an empty text beside calls, and all reject a message without either.
                content: (!text.is_empty() || tool_calls.is_empty()).then(|| text.clone()),
                reasoning_content: thinking.clone().filter(|_| with_thinking),
                tool_calls: tool_calls.iter().map(request_call).collect(),
                opaque,
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
        opaque: opaque_fields(&call.opaque),
    }
}

/// Returns the data for endpoints of this kind by field. Lists of the same field are joined.
fn opaque_fields(opaque: &[Opaque]) -> BTreeMap<String, RawJson> {
    let mut fields: BTreeMap<String, RawJson> = BTreeMap::new();
    for Opaque { field, value, .. } in opaque.iter().filter(|data| data.kind == PROVIDER_KIND) {
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
            parameters: Some(tool.parameters.clone()),
            strict: None,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ParameterInput;

    const ALL: ServerCapabilities = ServerCapabilities::ALL;

    fn spec(name: &str) -> ToolSpec {
        ToolSpec {
            name: name.into(),
            description: "Does it.".into(),
            parameters: json!({"type": "object"}),
        }
    }

    fn request_forcing(names: &[&str]) -> ModelRequest {
        let messages = vec![
            ModelMessage::System("Be brief.".into()),
            ModelMessage::User("Why?".into()),
        ];
        ModelRequest {
            tools: vec![spec("a").into(), spec("b").into()],
            force_tools: names.iter().map(|name| (*name).to_owned()).collect(),
            ..ModelRequest::new("m", messages)
        }
    }

    fn request_json(request: &ModelRequest, dialect: Dialect, capabilities: ServerCapabilities) -> Value {
        serde_json::to_value(build_completion(&request.model, request, dialect, capabilities)).unwrap()
    }

    #[test]
    fn sends_only_set_parameters() {
        let request = ModelRequest::new("m", vec![ModelMessage::User("Why?".into())]);
        assert_eq!(
            request_json(&request, Dialect::default(), ALL),
            json!({
                "model": "m", "messages": [{"role": "user", "content": "Why?"}], "stream": true,
                "stream_options": {"include_usage": true},
            })
        );
    }

    #[test]
    fn sends_parameters_under_dialect_names() {
        let input = ParameterInput {
            temperature: "0.7".into(),
            thinking_level: "low".into(),
            max_completion_tokens: "100".into(),
        };
        let request = ModelRequest {
            parameters: Parameters::parse(&input).unwrap(),
            ..ModelRequest::new("m", Vec::new())
        };
        let usual = request_json(&request, Dialect::default(), ALL);
        assert_eq!(
            (
                &usual["temperature"],
                &usual["reasoning_effort"],
                &usual["max_completion_tokens"]
            ),
            (&json!(0.7), &json!("low"), &json!(100))
        );
        let dialect = Dialect {
            thinking_level: ThinkingField::Reasoning,
            longest_answer: MaxTokensField::MaxTokens,
            forget_thinking: false,
        };
        let other = request_json(&request, dialect, ALL);
        assert_eq!(
            (&other["reasoning"], &other["max_tokens"]),
            (&json!({"effort": "low"}), &json!(100))
        );
        assert!(other.get("reasoning_effort").is_none() && other.get("max_completion_tokens").is_none());
    }

    #[test]
    fn forces_one_tool_by_field_several_in_text() {
        let one = request_json(&request_forcing(&["a"]), Dialect::default(), ALL);
        assert_eq!(
            one["tool_choice"],
            json!({"type": "function", "function": {"name": "a"}})
        );
        assert_eq!(one["messages"][0]["content"], "Be brief.");
        let refused = ServerCapabilities {
            tool_choice: false,
            ..ALL
        };
        for (names, capabilities) in [(&["a", "b"][..], ALL), (&["b"][..], refused)] {
            let in_words = request_json(&request_forcing(names), Dialect::default(), capabilities);
            let prompt = in_words["messages"][0]["content"].as_str().unwrap();
            assert!(prompt.starts_with("Be brief.\n\n"), "{prompt}");
            assert!(prompt.contains(&names.join(", ")), "{prompt}");
            assert!(in_words.get("tool_choice").is_none());
        }
        let without_system = ServerCapabilities { system: false, ..ALL };
        let plain = request_json(&request_forcing(&["a", "b"]), Dialect::default(), without_system);
        let question = plain["messages"][0]["content"].as_str().unwrap();
        assert!(
            question.starts_with("Be brief.\n\nFor the next answer") && question.ends_with("\n\nWhy?"),
            "{question}"
        );
        // A tool that is not offered can't be forced.
        let without_tools = ServerCapabilities { tools: false, ..ALL };
        let plain = request_json(&request_forcing(&["a"]), Dialect::default(), without_tools);
        assert!(plain.get("tool_choice").is_none() && plain.get("tools").is_none());
        let unknown = request_json(&request_forcing(&["c"]), Dialect::default(), ALL);
        assert!(unknown.get("tool_choice").is_none());
    }

    #[test]
    fn returns_thinking_unless_refused() {
        let thoughtful = ModelMessage::Assistant {
            text: String::new(),
            thinking: Some("Hm.".into()),
            tool_calls: vec![ToolUse {
                id: "1".into(),
                name: "a".into(),
                arguments: "{}".into(),
                opaque: Vec::new(),
            }],
            opaque: Vec::new(),
        };
        let request = ModelRequest::new("m", vec![thoughtful]);
        let message = &request_json(&request, Dialect::default(), ALL)["messages"][0];
        assert_eq!(message["reasoning_content"], "Hm.");
        assert_eq!(message["tool_calls"][0]["function"]["name"], "a");
        let refused = ServerCapabilities {
            thinking: false,
            ..ALL
        };
        let message = &request_json(&request, Dialect::default(), refused)["messages"][0];
        assert!(message.get("reasoning_content").is_none());
    }
}
