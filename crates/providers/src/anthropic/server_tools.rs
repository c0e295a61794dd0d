//! Calls of tools that the server runs itself, such as its web search, in answers that go back to it. Their blocks are data of
//! the provider, which nothing else reads.

use std::borrow::Cow;

use serde_json::Value;

use super::PROVIDER_KIND;
use crate::answer_layout::{AnswerBlock, arrange_blocks};
use parlor_model::{ModelMessage, ModelRequest};

/// Returns a request without the message that asks for the rest of an answer, if the answer ends with an unfinished call of
/// a tool of the server's own, as one that the server paused does: the server continues the tool.
/// Source: <https://docs.claude.com/en/api/handling-stop-reasons>.
pub fn without_needless_prompt(request: &ModelRequest) -> Cow<'_, ModelRequest> {
    match request.messages.as_slice() {
        [before @ .., answer, _] if request.continues_answer && ends_with_open_call(answer) => {
            Cow::Owned(ModelRequest {
                messages: [before, std::slice::from_ref(answer)].concat(),
                ..request.clone()
            })
        }
        _ => Cow::Borrowed(request),
    }
}

/// Returns true if an answer ends with an unfinished call of a tool of the server's own.
fn ends_with_open_call(answer: &ModelMessage) -> bool {
    let ModelMessage::Assistant {
        text,
        tool_calls,
        provider_data,
        ..
    } = answer
    else {
        return false;
    };
    let blocks = arrange_blocks(text, tool_calls.len(), provider_data, PROVIDER_KIND);
    let mut said = blocks.iter().rev();
    let last = said.find(|block| !matches!(block, AnswerBlock::Text(text) if text.trim().is_empty()));
    let open = open_calls(&blocks);
    matches!(last, Some(AnswerBlock::Provider(raw)) if open.contains(&raw.as_str()))
}

/// Returns the calls of the server's own tools that have no result.
fn open_calls<'a>(blocks: &'a [AnswerBlock<'_>]) -> Vec<&'a str> {
    let own = blocks.iter().filter_map(|block| match block {
        AnswerBlock::Provider(raw) => Some((raw.as_str(), serde_json::from_str::<Value>(raw.as_str()).ok()?)),
        AnswerBlock::Text(_) | AnswerBlock::Call(_) => None,
    });
    let own: Vec<_> = own.collect();
    let is_answered = |id: &Value| own.iter().any(|(_, block)| block["tool_use_id"] == *id);
    let is_open = |block: &Value| {
        let kind = block["type"].as_str().unwrap_or_default();
        kind.ends_with("_tool_use") && !is_answered(&block["id"])
    };
    let open = own.iter().filter(|(_, block)| is_open(block));
    open.map(|(raw, _)| *raw).collect()
}

/// Removes the calls of the server's own tools that have no result.
pub fn remove_open_calls(blocks: &mut Vec<AnswerBlock<'_>>) {
    let open: Vec<String> = open_calls(blocks).into_iter().map(str::to_owned).collect();
    let is_open = |block: &AnswerBlock| matches!(block, AnswerBlock::Provider(raw) if open.iter().any(|open| open == raw.as_str()));
    blocks.retain(|block| !is_open(block));
}
