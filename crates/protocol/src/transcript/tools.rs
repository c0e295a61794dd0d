//! The effects of tool call events on a run's message.

use super::run::{RunUpdate, is_next_part, push_part};
use crate::{AssistantMessage, Part, RequestedCall, RunEvent, RunStatus, Timestamp, ToolCall, ToolStatus};

/// Applies an event of a tool call; returns `None` if an earlier event is missing.
pub(super) fn apply_to_calls(run: &mut AssistantMessage, event: &RunEvent) -> Option<RunUpdate> {
    match event {
        RunEvent::ApprovalRequested(call) => upsert_call(run, call, ToolStatus::Waiting, None),
        RunEvent::ToolStart { call, started_at } => {
            upsert_call(run, call, ToolStatus::Running, Some(*started_at))
        }
        RunEvent::ApprovalAnswered { index, allowed, .. } => {
            let touched = update_call(run, *index, |call| {
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
        RunEvent::ToolProgress { index, progress, .. } => {
            update_call(run, *index, |call| call.progress = Some(progress.clone()))
        }
        RunEvent::ToolComplete {
            index,
            label,
            status,
            output,
            payload,
            attachments,
            ended_at,
            ..
        } => update_call(run, *index, |call| {
            call.label.clone_from(label);
            call.status = *status;
            call.progress = None;
            call.output = Some(output.clone());
            call.payload.clone_from(payload);
            call.attachments.clone_from(attachments);
            call.ended_at = Some(*ended_at);
        }),
        RunEvent::PayloadMade { node, part, payload } => {
            let (node, part) = (*node, *part);
            if is_next_part(run, node, part)? {
                let payload = payload.clone();
                push_part(run, node, Part::Payload { payload });
                run.activity = None;
            }
            Some(RunUpdate::Part { node, part, from: 0 })
        }
        RunEvent::FileMade { node, part, file } => {
            let (node, part) = (*node, *part);
            if is_next_part(run, node, part)? {
                let file = file.clone();
                push_part(run, node, Part::File { file });
                run.activity = None;
            }
            Some(RunUpdate::Part { node, part, from: 0 })
        }
        _ => Some(RunUpdate::Nothing),
    }
}

/// Sets a call in its place, whether it was there before or not.
fn upsert_call(
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

fn update_call(
    run: &mut AssistantMessage,
    index: usize,
    change: impl FnOnce(&mut ToolCall),
) -> Option<RunUpdate> {
    // The requested call is nearly always at the end.
    let call = run.tool_calls_mut().rev().find(|call| call.index == index)?;
    change(call);
    Some(RunUpdate::Run)
}
