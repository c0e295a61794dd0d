//! What is asked, in async-openai's types.

use async_openai::types::chat::{
    ChatCompletionMessageToolCall, ChatCompletionMessageToolCalls, ChatCompletionRequestAssistantMessage,
    ChatCompletionRequestMessage, ChatCompletionRequestSystemMessage, ChatCompletionRequestToolMessage,
    ChatCompletionRequestUserMessage, ChatCompletionStreamOptions, ChatCompletionTool, ChatCompletionTools,
    CreateChatCompletionRequest, FunctionCall, FunctionObject,
};

use crate::providers::{ModelMessage, ModelRequest, ToolSpec, ToolUse};

/// A streamed completion; `usage` asks for the token counts at its end.
pub fn completion(request: &ModelRequest, usage: bool) -> CreateChatCompletionRequest {
    CreateChatCompletionRequest {
        model: request.model.clone(),
        messages: request.messages.iter().map(message).collect(),
        tools: (!request.tools.is_empty()).then(|| request.tools.iter().map(tool).collect()),
        stream: Some(true),
        stream_options: usage.then_some(ChatCompletionStreamOptions {
            include_usage: Some(true),
            include_obfuscation: None,
        }),
        ..Default::default()
    }
}

fn message(message: &ModelMessage) -> ChatCompletionRequestMessage {
    match message {
        ModelMessage::System(text) => ChatCompletionRequestSystemMessage::from(text.as_str()).into(),
        ModelMessage::User(text) => ChatCompletionRequestUserMessage::from(text.as_str()).into(),
        ModelMessage::Assistant { text, tool_calls } => assistant(text, tool_calls).into(),
        ModelMessage::Tool { tool_use_id, output } => ChatCompletionRequestToolMessage {
            content: output.as_str().into(),
            tool_call_id: tool_use_id.clone(),
        }
        .into(),
    }
}

fn assistant(text: &str, calls: &[ToolUse]) -> ChatCompletionRequestAssistantMessage {
    let call = |call: &ToolUse| {
        ChatCompletionMessageToolCalls::Function(ChatCompletionMessageToolCall {
            id: call.id.clone(),
            function: FunctionCall {
                name: call.name.clone(),
                arguments: call.arguments.clone(),
            },
        })
    };
    ChatCompletionRequestAssistantMessage {
        // Some servers refuse an empty text beside calls, and all refuse a message without either.
        content: (!text.is_empty() || calls.is_empty()).then(|| text.into()),
        tool_calls: (!calls.is_empty()).then(|| calls.iter().map(call).collect()),
        ..Default::default()
    }
}

fn tool(tool: &ToolSpec) -> ChatCompletionTools {
    ChatCompletionTools::Function(ChatCompletionTool {
        function: FunctionObject {
            name: tool.name.clone(),
            description: Some(tool.description.clone()),
            parameters: Some(tool.parameters.clone()),
            strict: None,
        },
    })
}
