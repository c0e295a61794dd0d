//! The body of a request.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{
    PROVIDER_KIND,
    cache_marks::{CacheControl, mark_cached},
    server_tools,
    thinking::{self, ThinkingForm},
};
use crate::{
    answer_layout::{AnswerBlock, arrange_blocks},
    fallback_messages::{offered_forced_tools, require_tools},
};
use parlor_model::{ModelFile, ModelMessage, ModelRequest, ToolSpec, ToolUse};
use parlor_protocol::{Parameters, ProviderData, RawJson, ThinkingChoice, ThinkingLevel};

/// The highest temperature that the API accepts.
const MAX_TEMPERATURE: f64 = 1.0;

/// The form of a model's requests: what the model and its server take.
#[derive(Clone, Copy, Debug)]
pub struct RequestForm {
    pub thinking: ThinkingForm,
    /// True if the model accepts the request not to think. Otherwise that request is left out.
    pub thinking_off: bool,
    pub effort: bool,
    pub earlier_thinking: bool,
    pub temperature: bool,
    pub tool_choice: bool,
    pub cache_marks: bool,
    pub answer_schema: bool,
    /// The maximum length of an answer unless the user sets one.
    pub max_tokens: u64,
}

/// A streamed request.
#[derive(Debug, Serialize)]
pub struct MessagesRequest {
    model: String,
    max_tokens: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<ContentBlock>,
    messages: Vec<RequestMessage>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<RequestTool>,
    stream: bool,
    /// Optional parameters.
    #[serde(flatten)]
    fields: Map<String, Value>,
}

#[derive(Debug, Serialize)]
pub struct RequestMessage {
    pub role: &'static str,
    pub content: Vec<ContentItem>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum ContentItem {
    Block(ContentBlock),
    /// A block that the server sent, unchanged.
    Provider(RawJson),
}

#[derive(Debug, Serialize)]
pub struct ContentBlock {
    #[serde(flatten)]
    pub content: BlockContent,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum BlockContent {
    Text {
        text: String,
    },
    ToolUse {
        id: String,
        name: String,
        input: RawJson,
    },
    ToolResult {
        tool_use_id: String,
        content: String,
    },
    Image {
        source: FileSource,
    },
    Document {
        title: String,
        source: FileSource,
    },
}

/// The content of a file.
#[derive(Debug, Serialize)]
pub struct FileSource {
    r#type: &'static str,
    media_type: String,
    data: Arc<str>,
}

#[derive(Debug, Serialize)]
pub struct RequestTool {
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    pub input_schema: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<CacheControl>,
}

/// Builds the request body. `model` is the endpoint's name of the model.
pub fn build_request(model: &str, request: &ModelRequest, form: &RequestForm) -> MessagesRequest {
    let request = &*server_tools::without_needless_prompt(request);
    let mut messages = request.messages.clone();
    let mut fields = Map::new();
    let mut tools: Vec<RequestTool> = request.tools.iter().map(|tool| request_tool(tool)).collect();
    let mut is_forced = false;
    match offered_forced_tools(request).as_slice() {
        [] => {}
        [tool] if form.tool_choice => {
            is_forced = true;
            fields.insert("tool_choice".into(), json!({ "type": "tool", "name": tool }));
        }
        // The field can force one tool or any tool, but not a subset.
        tools => require_tools(&mut messages, tools),
    }
    if tools.is_empty() {
        // A conversation with calls needs tools.
        tools = used_tools(&messages);
        if !tools.is_empty() && form.tool_choice {
            fields.insert("tool_choice".into(), json!({ "type": "none" }));
        }
    }
    let max_tokens = request.parameters.max_completion_tokens;
    let max_tokens = max_tokens.map_or(form.max_tokens, |tokens| {
        u64::try_from(tokens).unwrap_or(u64::MAX).min(form.max_tokens)
    });
    // A model that is forced to call a tool can't think.
    let thinks = !is_forced && add_thinking(&mut fields, request, form, max_tokens);
    add_temperature(&mut fields, &request.parameters, form, thinks);
    if form.answer_schema
        && let Some(schema) = &request.answer_schema
    {
        let output = fields.entry("output_config").or_insert_with(|| json!({}));
        output["format"] = json!({ "type": "json_schema", "schema": schema });
    }
    let mut system = Vec::new();
    let mut sent: Vec<RequestMessage> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        match message {
            ModelMessage::System(text) => system.extend(text_block(text)),
            ModelMessage::User(text) => {
                push_content(&mut sent, "user", text_block(text).map(ContentItem::Block));
            }
            ModelMessage::File(file) => {
                push_content(&mut sent, "user", [ContentItem::Block(file_block(file))]);
            }
            ModelMessage::Assistant {
                text,
                tool_calls,
                provider_data,
                ..
            } => {
                let is_continued = at + 1 == messages.len();
                let items = answer_items(
                    text,
                    tool_calls,
                    provider_data,
                    form.earlier_thinking,
                    is_continued,
                );
                push_content(&mut sent, "assistant", items);
            }
            ModelMessage::Tool { tool_use_id, output } => {
                let content = BlockContent::ToolResult {
                    tool_use_id: tool_use_id.clone(),
                    content: output.clone(),
                };
                push_content(&mut sent, "user", [ContentItem::Block(content.into())]);
            }
        }
    }
    if form.cache_marks {
        mark_cached(&mut system, &mut tools, &mut sent);
    }
    MessagesRequest {
        model: model.to_owned(),
        max_tokens,
        system,
        messages: sent,
        tools,
        stream: true,
        fields,
    }
}

/// Adds the thinking parameters. Returns true if the model will think.
fn add_thinking(
    fields: &mut Map<String, Value>,
    request: &ModelRequest,
    form: &RequestForm,
    max_tokens: u64,
) -> bool {
    let Some(choice) = request.parameters.thinking() else {
        return false;
    };
    if choice == ThinkingChoice::Level(ThinkingLevel::Off) {
        if form.thinking != ThinkingForm::None && form.thinking_off {
            fields.insert("thinking".into(), json!({ "type": "disabled" }));
        }
        return false;
    }
    match form.thinking {
        ThinkingForm::None => return false,
        ThinkingForm::Adaptive => thinking::add_adaptive(fields, choice, form.effort),
        ThinkingForm::Budget => {
            let budget = thinking::budget(choice, max_tokens);
            let Some(budget) = budget.filter(|_| !is_loop_without_thinking(request, form)) else {
                return false;
            };
            let enabled = json!({ "type": "enabled", "budget_tokens": budget });
            fields.insert("thinking".into(), enabled);
        }
    }
    true
}

/// Returns true if an answer of the current tool loop does not begin with its thinking, which the server
/// demands of a model that thinks with a budget.
fn is_loop_without_thinking(request: &ModelRequest, form: &RequestForm) -> bool {
    let since_question = request.messages.iter().rev();
    let mut since_question = since_question.take_while(|message| !matches!(message, ModelMessage::User(_)));
    since_question.any(|message| match message {
        ModelMessage::Assistant {
            text,
            tool_calls,
            provider_data,
            ..
        } => {
            let items = answer_items(text, tool_calls, provider_data, form.earlier_thinking, true);
            !matches!(items.first(), Some(ContentItem::Provider(block)) if is_thinking(block))
        }
        _ => false,
    })
}

/// Adds the temperature, which can't be set for a model that thinks.
fn add_temperature(
    fields: &mut Map<String, Value>,
    parameters: &Parameters,
    form: &RequestForm,
    thinks: bool,
) {
    let temperature = parameters
        .temperature
        .filter(|_| form.temperature && !thinks)
        .and_then(|temperature| json!(temperature).as_f64());
    if let Some(temperature) = temperature {
        fields.insert("temperature".into(), json!(temperature.min(MAX_TEMPERATURE)));
    }
}

/// Returns the content of an answer, with the server's own blocks at their places. The server rejects a message of the
/// user after an unfinished call of its own tool, so that is left out unless the server continues it: at the end, or
/// with the results of other calls.
fn answer_items(
    text: &str,
    tool_calls: &[ToolUse],
    provider_data: &[ProviderData],
    with_thinking: bool,
    is_continued: bool,
) -> Vec<ContentItem> {
    let mut blocks = arrange_blocks(text, tool_calls.len(), provider_data, PROVIDER_KIND);
    if !is_continued && tool_calls.is_empty() {
        server_tools::remove_open_calls(&mut blocks);
    }
    // The server rejects an answer that ends with thinking, as one that was cut off does.
    let ends_with_thinking =
        |block: &mut AnswerBlock| matches!(block, AnswerBlock::Provider(raw) if is_thinking(raw));
    while blocks.pop_if(ends_with_thinking).is_some() {}
    let items = blocks.into_iter().filter_map(|block| match block {
        AnswerBlock::Text(text) => text_block(text).map(ContentItem::Block),
        AnswerBlock::Call(index) => {
            let ToolUse {
                id, name, arguments, ..
            } = tool_calls.get(index)?;
            let content = BlockContent::ToolUse {
                id: id.clone(),
                name: name.clone(),
                input: RawJson::parse_or_quote(arguments),
            };
            Some(ContentItem::Block(content.into()))
        }
        AnswerBlock::Provider(raw) if !with_thinking && is_thinking(&raw) => None,
        AnswerBlock::Provider(raw) => Some(ContentItem::Provider(raw)),
    });
    items.collect()
}

fn is_thinking(block: &RawJson) -> bool {
    let block: Value = serde_json::from_str(block.as_str()).unwrap_or_default();
    block["type"] == "thinking" || block["type"] == "redacted_thinking"
}

/// Returns a block with a text. The server rejects blocks of whitespace.
fn text_block(text: &str) -> Option<ContentBlock> {
    let text = text.to_owned();
    (!text.trim().is_empty()).then(|| BlockContent::Text { text }.into())
}

fn file_block(file: &ModelFile) -> ContentBlock {
    let source = FileSource {
        r#type: "base64",
        media_type: file.media_type.clone(),
        data: file.base64.clone(),
    };
    match file.is_image() {
        true => BlockContent::Image { source }.into(),
        false => BlockContent::Document {
            title: file.name.clone(),
            source,
        }
        .into(),
    }
}

impl From<BlockContent> for ContentBlock {
    fn from(content: BlockContent) -> Self {
        Self {
            content,
            cache_control: None,
        }
    }
}

/// Adds content to the last message, if it has the same role, or as a new message.
fn push_content(
    sent: &mut Vec<RequestMessage>,
    role: &'static str,
    items: impl IntoIterator<Item = ContentItem>,
) {
    let content: Vec<ContentItem> = items.into_iter().collect();
    match sent.last_mut() {
        _ if content.is_empty() => {}
        Some(last) if last.role == role => last.content.extend(content),
        _ => sent.push(RequestMessage { role, content }),
    }
}

fn request_tool(tool: &ToolSpec) -> RequestTool {
    RequestTool {
        name: tool.name.clone(),
        description: tool.description.clone(),
        input_schema: tool.input_schema.clone(),
        cache_control: None,
    }
}

/// Returns the tools that were called in a conversation, without their descriptions.
fn used_tools(messages: &[ModelMessage]) -> Vec<RequestTool> {
    let mut tools: Vec<RequestTool> = Vec::new();
    let calls = messages.iter().flat_map(|message| match message {
        ModelMessage::Assistant { tool_calls, .. } => tool_calls.as_slice(),
        _ => &[],
    });
    for call in calls {
        if tools.iter().all(|tool| tool.name != call.name) {
            tools.push(RequestTool {
                name: call.name.clone(),
                description: String::new(),
                input_schema: json!({ "type": "object" }),
                cache_control: None,
            });
        }
    }
    tools
}
