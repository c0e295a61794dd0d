//! The marks of what the server caches of a request.

use serde::Serialize;

use super::request::{BlockContent, ContentBlock, ContentItem, RequestMessage, RequestTool};

/// The mark of the end of a cached beginning.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum CacheControl {
    Ephemeral,
}

/// Marks the parts that stay the same in the next request: the tools, the instructions, the history before the
/// question, and the whole conversation.
pub fn mark_cached(system: &mut [ContentBlock], tools: &mut [RequestTool], messages: &mut [RequestMessage]) {
    let mark = Some(CacheControl::Ephemeral);
    if let Some(tool) = tools.last_mut() {
        tool.cache_control = mark;
    }
    if let Some(block) = system.last_mut() {
        block.cache_control = mark;
    }
    let is_said = |message: &RequestMessage| {
        let mut items = message.content.iter();
        items.any(|item| matches!(item, ContentItem::Block(block) if matches!(block.content, BlockContent::Text { .. })))
    };
    let question = messages
        .iter()
        .rposition(|message| message.role == "user" && is_said(message));
    let mut ends: Vec<usize> = question.and_then(|at| at.checked_sub(1)).into_iter().collect();
    ends.extend(messages.len().checked_sub(1));
    for end in ends {
        // Thinking can't be marked.
        if let Some(ContentItem::Block(block)) = messages[end].content.last_mut() {
            block.cache_control = mark;
        }
    }
}
