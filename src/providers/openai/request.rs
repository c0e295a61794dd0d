//! What is asked, in async-openai's types.

use async_openai::types::chat::{
    ChatCompletionRequestAssistantMessage, ChatCompletionRequestMessage, ChatCompletionRequestSystemMessage,
    ChatCompletionRequestUserMessage, ChatCompletionStreamOptions, CreateChatCompletionRequest,
};

use crate::providers::{ModelMessage, ModelRequest};

/// A streamed completion; `usage` asks for the token counts at its end.
pub fn completion(request: &ModelRequest, usage: bool) -> CreateChatCompletionRequest {
    CreateChatCompletionRequest {
        model: request.model.clone(),
        messages: request.messages.iter().map(message).collect(),
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
        ModelMessage::Assistant(text) => ChatCompletionRequestAssistantMessage::from(text.as_str()).into(),
    }
}
