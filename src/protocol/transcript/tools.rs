//! What the events of tool calls do to a run's message.

use super::{RunTouched, begin, begins};
use crate::protocol::{
    AskedCall, AssistantMessage, EventBody, Part, RunStatus, Timestamp, ToolCall, ToolStatus,
};

/// Applies an event of a tool call; `None` if an earlier event is missing.
pub(super) fn apply_to_calls(run: &mut AssistantMessage, event: &EventBody) -> Option<RunTouched> {
    match event {
        EventBody::ApprovalRequested(call) => put(run, call, ToolStatus::Waiting, None),
        EventBody::ToolStart { call, started_at } => put(run, call, ToolStatus::Running, Some(*started_at)),
        EventBody::ApprovalAnswered { index, allowed, .. } => {
            let touched = change(run, *index, |call| {
                call.status = if *allowed {
                    ToolStatus::Allowed
                } else {
                    ToolStatus::Denied
                };
            });
            if touched.is_some() {
                run.status = RunStatus::Running;
            }
            touched
        }
        EventBody::ToolProgress { index, progress, .. } => {
            change(run, *index, |call| call.progress = Some(progress.clone()))
        }
        EventBody::ToolComplete {
            index,
            label,
            status,
            output,
            payload,
            attachments,
            ended_at,
            ..
        } => change(run, *index, |call| {
            call.label.clone_from(label);
            call.status = *status;
            call.progress = None;
            call.output = Some(output.clone());
            call.payload.clone_from(payload);
            call.attachments.clone_from(attachments);
            call.ended_at = Some(*ended_at);
        }),
        EventBody::PayloadMade { node, part, payload } => {
            let (node, part) = (*node, *part);
            if begins(run, node, part)? {
                let payload = payload.clone();
                begin(run, node, Part::Payload { payload });
                run.activity = None;
            }
            Some(RunTouched::Part { node, part, from: 0 })
        }
        _ => Some(RunTouched::Nothing),
    }
}

/// A call stands in its place like this, whether it was there before or not.
fn put(
    run: &mut AssistantMessage,
    asked: &AskedCall,
    status: ToolStatus,
    started_at: Option<Timestamp>,
) -> Option<RunTouched> {
    let (node, part) = (asked.node, asked.part);
    let call = asked.as_part(status, started_at);
    if begins(run, node, part)? {
        begin(run, node, Part::ToolCall(Box::new(call)));
    } else {
        match run.nodes.get_mut(node)?.parts.get_mut(part)? {
            Part::ToolCall(known) => **known = call,
            Part::Thinking { .. } | Part::Text { .. } | Part::Payload { .. } => return None,
        }
    }
    run.activity = None;
    Some(RunTouched::Part { node, part, from: 0 })
}

fn change(
    run: &mut AssistantMessage,
    index: usize,
    change: impl FnOnce(&mut ToolCall),
) -> Option<RunTouched> {
    // What is asked for is nearly always at the end.
    let call = run.tool_calls_mut().rev().find(|call| call.index == index)?;
    change(call);
    Some(RunTouched::Run)
}
