//! The body of a request.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{PROVIDER_KIND, phase::read_phase};
use crate::{
    answer_layout::{AnswerBlock, arrange_blocks},
    fallback_messages::{offered_forced_tools, require_tools},
    reasoning_effort::reasoning_effort,
};
use parlor_model::{ModelFile, ModelMessage, ModelRequest, ToolSpec, ToolUse};
use parlor_protocol::{Parameters, ProviderData, RawJson, ThinkingChoice, ThinkingLevel};

/// The form of a model's requests: what the model and its server take.
#[derive(Clone, Copy, Debug)]
pub struct RequestForm {
    pub encrypted_reasoning: bool,
    pub summary: bool,
    pub reasoning: bool,
    /// True if the server takes its own items of earlier answers: reasoning, and the calls that it refers to.
    pub earlier_reasoning: bool,
    /// True if the server takes the phases of earlier messages.
    pub phase: bool,
    pub temperature: bool,
    pub tool_choice: bool,
    pub answer_schema: bool,
}

/// A streamed request.
#[derive(Debug, Serialize)]
pub struct ResponseRequest {
    model: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    instructions: String,
    input: Vec<InputItem>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    stream: bool,
    /// The server keeps nothing.
    store: bool,
    /// Optional parameters.
    #[serde(flatten)]
    fields: Map<String, Value>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum InputItem {
    Item(Value),
    /// An item that the server sent, unchanged.
    Provider(RawJson),
}

/// Builds the request body. `model` is the endpoint's name of the model.
pub fn build_request(model: &str, request: &ModelRequest, form: &RequestForm) -> ResponseRequest {
    let mut messages = request.messages.clone();
    let mut fields = request_parameters(&request.parameters, form);
    match offered_forced_tools(request).as_slice() {
        [] => {}
        [tool] if form.tool_choice => {
            fields.insert("tool_choice".into(), json!({ "type": "function", "name": tool }));
        }
        // The field can force one tool or any tool, but not each of several.
        tools => require_tools(&mut messages, tools),
    }
    if form.answer_schema
        && let Some(schema) = &request.answer_schema
    {
        let format = json!({ "type": "json_schema", "name": "answer", "schema": schema });
        fields.insert("text".into(), json!({ "format": format }));
    }
    let mut instructions = String::new();
    let mut input = Vec::new();
    for message in &messages {
        match message {
            ModelMessage::System(text) => instructions.push_str(text),
            ModelMessage::User(text) => {
                input.push(InputItem::Item(json!({ "role": "user", "content": text })));
            }
            ModelMessage::File(file) => push_file(&mut input, file),
            ModelMessage::Assistant {
                text,
                tool_calls,
                provider_data,
                ..
            } => input.extend(answer_items(text, tool_calls, provider_data, form)),
            ModelMessage::Tool { tool_use_id, output } => {
                let item =
                    json!({ "type": "function_call_output", "call_id": tool_use_id, "output": output });
                input.push(InputItem::Item(item));
            }
        }
    }
    ResponseRequest {
        model: model.to_owned(),
        instructions,
        input,
        tools: request.tools.iter().map(|tool| request_tool(tool)).collect(),
        stream: true,
        store: false,
        fields,
    }
}

/// Adds a file to the user's message, or as a message of its own behind the output of a tool.
fn push_file(input: &mut Vec<InputItem>, file: &ModelFile) {
    let part = match file.is_image() {
        true => json!({ "type": "input_image", "image_url": file.data_url() }),
        false => json!({ "type": "input_file", "filename": file.name, "file_data": file.data_url() }),
    };
    let Some(InputItem::Item(message)) = input.last_mut().filter(|item| is_of_user(item)) else {
        input.push(InputItem::Item(json!({ "role": "user", "content": [part] })));
        return;
    };
    match &mut message["content"] {
        Value::Array(parts) => parts.push(part),
        Value::String(text) if text.is_empty() => message["content"] = json!([part]),
        Value::String(text) => {
            message["content"] = json!([{ "type": "input_text", "text": text }, part]);
        }
        _ => {}
    }
}

fn is_of_user(item: &InputItem) -> bool {
    matches!(item, InputItem::Item(message) if message["role"] == "user")
}

fn request_parameters(parameters: &Parameters, form: &RequestForm) -> Map<String, Value> {
    let mut fields = Map::new();
    if let Some(temperature) = parameters.temperature.filter(|_| form.temperature) {
        fields.insert("temperature".into(), json!(temperature));
    }
    if let Some(tokens) = parameters.max_completion_tokens {
        fields.insert("max_output_tokens".into(), json!(tokens));
    }
    if form.encrypted_reasoning {
        fields.insert("include".into(), json!(["reasoning.encrypted_content"]));
    }
    let mut reasoning = Map::new();
    let level = parameters.thinking().map(ThinkingChoice::nearest_level);
    if let Some(effort) = level.and_then(reasoning_effort) {
        reasoning.insert("effort".into(), json!(effort));
    }
    if form.summary && level != Some(ThinkingLevel::Off) {
        reasoning.insert("summary".into(), json!("auto"));
    }
    if form.reasoning && !reasoning.is_empty() {
        fields.insert("reasoning".into(), Value::Object(reasoning));
    }
    fields
}

/// Returns the items of an answer, with the server's own ones at their places.
fn answer_items(
    text: &str,
    tool_calls: &[ToolUse],
    provider_data: &[ProviderData],
    form: &RequestForm,
) -> Vec<InputItem> {
    let mut blocks = arrange_blocks(text, tool_calls.len(), provider_data, PROVIDER_KIND);
    // The server demands the item that follows its reasoning. An answer that was cut off has none.
    while let Some(AnswerBlock::Provider(_)) = blocks.pop_if(|block| is_reasoning(block)) {}
    let mut items = Vec::with_capacity(blocks.len());
    for block in blocks {
        match block {
            AnswerBlock::Text(text) if text.trim().is_empty() => {}
            AnswerBlock::Text(text) => {
                items.push(InputItem::Item(json!({ "role": "assistant", "content": text })));
            }
            AnswerBlock::Call(index) => items.extend(tool_calls.get(index).map(call_item)),
            AnswerBlock::Provider(raw) => match read_phase(&raw) {
                Some(phase) if form.phase => set_phase(&mut items, phase),
                Some(_) => {}
                None if form.earlier_reasoning => items.push(InputItem::Provider(raw)),
                None => {}
            },
        }
    }
    items
}

fn call_item(call: &ToolUse) -> InputItem {
    let ToolUse {
        id, name, arguments, ..
    } = call;
    InputItem::Item(json!({ "type": "function_call", "call_id": id, "name": name, "arguments": arguments }))
}

/// Sets the phase of the last message.
fn set_phase(items: &mut [InputItem], phase: String) {
    let last = items.iter_mut().rev().find_map(|item| match item {
        InputItem::Item(item) if item["role"] == "assistant" => Some(item),
        _ => None,
    });
    if let Some(message) = last {
        message["phase"] = phase.into();
    }
}

fn is_reasoning(block: &AnswerBlock) -> bool {
    let AnswerBlock::Provider(raw) = block else {
        return false;
    };
    let item: Value = serde_json::from_str(raw.as_str()).unwrap_or_default();
    item["type"] == "reasoning"
}

fn request_tool(tool: &ToolSpec) -> Value {
    let ToolSpec {
        name,
        description,
        input_schema,
    } = tool;
    json!({
        "type": "function", "name": name, "description": description, "parameters": input_schema, "strict": false,
    })
}
