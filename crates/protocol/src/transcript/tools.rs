//! The tool calls of a run's message, as its events change them.

use super::run::{RunUpdate, is_next_part, push_part};
use crate::{AssistantMessage, Part, RequestedCall, Timestamp, ToolCall, ToolStatus};

/// Sets a call in its place, whether it was there before or not.
pub(super) fn set_call(
    run: &mut AssistantMessage,
    request: &RequestedCall,
    status: ToolStatus,
    started_at: Option<Timestamp>,
) -> Option<RunUpdate> {
    let (node, part) = (request.node, request.part);
    let call = request.to_tool_call(status, started_at);
    if is_next_part(run, node, part)? {
        push_part(run, node, Part::ToolCall(Box::new(call)));
    } else {
        match run.nodes.get_mut(node)?.parts.get_mut(part)? {
            Part::ToolCall(known) => **known = call,
            Part::Thinking { .. } | Part::Text { .. } | Part::Payload { .. } | Part::File { .. } => {
                return None;
            }
        }
    }
    run.activity = None;
    Some(RunUpdate::Part { node, part, from: 0 })
}

/// Returns the call with this index; `None` if its request is missing.
pub(super) fn find_call(run: &mut AssistantMessage, index: usize) -> Option<&mut ToolCall> {
    // The requested call is nearly always at the end.
    run.tool_calls_mut().rev().find(|call| call.index == index)
}
