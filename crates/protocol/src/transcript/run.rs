//! The part of the reducer that applies the events of a run to its answer.

use super::tools;
use crate::{AssistantMessage, Node, Part, RunError, RunEvent, RunStatus, Timestamp, ToolStatus};

/// The part of a run's message that an event changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunUpdate {
    Nothing,
    Run,
    Part { node: usize, part: usize, from: usize },
}

/// Applies an event to its run's message; returns `None` if an earlier event is missing.
pub fn apply_to_run(run: &mut AssistantMessage, event: &RunEvent) -> Option<RunUpdate> {
    if run.status.is_terminal() && !changes_ended_run(event) {
        return Some(RunUpdate::Nothing);
    }
    match event {
        // The message was created with it.
        RunEvent::RunStarted { .. } => return Some(RunUpdate::Nothing),
        RunEvent::RunContinued { .. } => continue_run(run),
        RunEvent::RunResumed { .. } => {
            end_calls(run, false);
            run.activity = None;
            run.resumptions += 1;
        }
        RunEvent::Status { message } => run.activity = Some(message.clone()),
        RunEvent::Thinking {
            node,
            part,
            offset,
            text,
            took_ms,
        } => {
            let empty = || Part::Thinking { text: String::new() };
            let update = append_delta(run, *node, *part, *offset, text, empty)?;
            run.thought_ms += took_ms;
            return Some(if *took_ms > 0 { RunUpdate::Run } else { update });
        }
        RunEvent::TextDelta {
            node,
            part,
            offset,
            text,
        } => {
            let empty = || Part::Text { text: String::new() };
            return append_delta(run, *node, *part, *offset, text, empty);
        }
        RunEvent::TextWasThinking { node } => make_text_thinking(run, *node)?,
        RunEvent::ApprovalRequested(call) => return tools::set_call(run, call, ToolStatus::Waiting, None),
        RunEvent::ApprovalAnswered {
            index,
            tool_use_id: _,
            allowed,
        } => {
            tools::find_call(run, *index)?.status = match allowed {
                true => ToolStatus::Allowed,
                false => ToolStatus::Denied,
            };
            run.status = RunStatus::Running;
        }
        RunEvent::ToolStart { call, started_at } => {
            return tools::set_call(run, call, ToolStatus::Running, Some(*started_at));
        }
        RunEvent::ToolProgress { index, progress, .. } => {
            tools::find_call(run, *index)?.progress = Some(progress.clone());
        }
        RunEvent::ToolComplete {
            index,
            tool_use_id: _,
            tool: _,
            label,
            status,
            output,
            payload,
            attachments,
            ended_at,
        } => {
            let call = tools::find_call(run, *index)?;
            call.label.clone_from(label);
            call.status = *status;
            call.progress = None;
            call.output = Some(output.clone());
            call.payload.clone_from(payload);
            call.attachments.clone_from(attachments);
            call.ended_at = Some(*ended_at);
        }
        RunEvent::Waiting { worked_ms } => {
            run.status = RunStatus::Waiting;
            run.worked_ms += worked_ms;
            run.activity = None;
        }
        RunEvent::PayloadMade { node, part, payload } => {
            let payload = payload.clone();
            return add_part(run, *node, *part, Part::Payload { payload });
        }
        RunEvent::FileMade { node, part, file } => {
            let file = file.clone();
            return add_part(run, *node, *part, Part::File { file });
        }
        RunEvent::SuggestedValues { values } => run.suggested_values.clone_from(values),
        RunEvent::SuggestedActions { actions } => run.suggested_actions.clone_from(actions),
        RunEvent::ActionTaken { index } => run.suggested_actions.get_mut(*index)?.taken = true,
        RunEvent::Sources { sources } => run.sources.clone_from(sources),
        RunEvent::Usage(usage) => run.usage = Some(*usage),
        RunEvent::Complete {
            ended_at,
            worked_ms,
            finish_reason,
            is_quiet: _,
        } => {
            run.finish_reason.clone_from(finish_reason);
            end_run(run, RunStatus::Complete, *ended_at, *worked_ms);
        }
        RunEvent::Cancelled { ended_at, worked_ms } => {
            end_run(run, RunStatus::Stopped, *ended_at, *worked_ms);
        }
        RunEvent::Error {
            status,
            error,
            message: _,
            ended_at,
            worked_ms,
            finish_reason,
        } => {
            run.error = Some(error.clone());
            run.finish_reason.clone_from(finish_reason);
            end_run(run, *status, *ended_at, *worked_ms);
        }
    }
    Some(RunUpdate::Run)
}

/// Returns true if the event changes a run that has ended: it is continued, one of its suggested actions is taken, or the
/// title made after it is counted.
fn changes_ended_run(event: &RunEvent) -> bool {
    matches!(
        event,
        RunEvent::RunContinued { .. } | RunEvent::ActionTaken { .. } | RunEvent::Usage(_)
    )
}

fn continue_run(run: &mut AssistantMessage) {
    run.status = RunStatus::Running;
    (run.activity, run.ended_at) = (None, None);
    run.finish_reason = None;
    run.resumptions = 0;
    // A continued run is still damaged: the part that can't be read stays missing.
    run.error = run.error.take().filter(RunError::is_damage);
}

fn end_run(run: &mut AssistantMessage, status: RunStatus, ended_at: Timestamp, worked_ms: u64) {
    end_calls(run, status == RunStatus::Stopped);
    run.status = status;
    run.activity = None;
    run.ended_at = Some(ended_at);
    run.worked_ms += worked_ms;
}

/// Gives the calls that nothing performs any more their status.
fn end_calls(run: &mut AssistantMessage, stopped: bool) {
    for call in run.tool_calls_mut() {
        call.status = call.status.at_run_end(stopped);
        call.progress = None;
    }
}

fn make_text_thinking(run: &mut AssistantMessage, node: usize) -> Option<()> {
    for part in &mut run.nodes.get_mut(node)?.parts {
        if let Part::Text { text } = part {
            let text = std::mem::take(text);
            *part = Part::Thinking { text };
        }
    }
    Some(())
}

/// Adds a part that comes as a whole, unless it is there.
fn add_part(run: &mut AssistantMessage, node: usize, part: usize, content: Part) -> Option<RunUpdate> {
    if is_next_part(run, node, part)? {
        push_part(run, node, content);
        run.activity = None;
    }
    Some(RunUpdate::Part { node, part, from: 0 })
}

/// Adds `delta` at `offset` of a part. The first delta creates the part.
fn append_delta(
    run: &mut AssistantMessage,
    node: usize,
    part: usize,
    offset: usize,
    delta: &str,
    empty: impl FnOnce() -> Part,
) -> Option<RunUpdate> {
    let begins = is_next_part(run, node, part)?;
    // Checked before anything is created, so that a gap leaves the state unchanged.
    if begins && offset > 0 {
        return None;
    }
    if begins {
        push_part(run, node, empty());
    }
    let parts = &mut run.nodes.get_mut(node)?.parts;
    let (Part::Thinking { text } | Part::Text { text }) = parts.get_mut(part)? else {
        return None;
    };
    let known = text.len().checked_sub(offset)?;
    // A delta that overlaps the present text is a repetition; only the text beyond that is new.
    let Some(new) = delta.get(known..) else {
        return Some(RunUpdate::Nothing);
    };
    let from = text.len();
    text.push_str(new);
    run.activity = None;
    Some(RunUpdate::Part { node, part, from })
}

/// Returns true if this part is the next to be created, false if it exists, and `None` if one before it is
/// missing.
pub(super) fn is_next_part(run: &AssistantMessage, node: usize, part: usize) -> Option<bool> {
    let parts = run.nodes.get(node).map_or(0, |node| node.parts.len());
    (node <= run.nodes.len() && part <= parts).then_some(part == parts)
}

/// Adds a part to a node. The first part creates the node.
pub(super) fn push_part(run: &mut AssistantMessage, node: usize, part: Part) {
    if node == run.nodes.len() {
        run.nodes.push(Node::default());
    }
    if let Some(node) = run.nodes.get_mut(node) {
        node.parts.push(part);
    }
}
