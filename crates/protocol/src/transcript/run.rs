//! The part of the reducer that applies the events of a run to its answer.

use super::tools;
use crate::{AssistantMessage, Node, Part, RunError, RunEvent, RunStatus};

/// The part of a run's message that an event changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunUpdate {
    Nothing,
    Run,
    Part { node: usize, part: usize, from: usize },
}

/// Applies an event to its run's message; returns `None` if an earlier event is missing.
///
/// After a run's last event nothing changes it any more, unless it is continued, one of its suggested
/// actions is taken, or the title made after it is counted.
pub fn apply_to_run(run: &mut AssistantMessage, event: &RunEvent) -> Option<RunUpdate> {
    if matches!(event, RunEvent::RunContinued { .. }) {
        run.status = RunStatus::Running;
        (run.activity, run.ended_at) = (None, None);
        run.finish_reason = None;
        // A continued run is still damaged: the part that can't be read stays missing.
        run.error = run.error.take().filter(RunError::is_damage);
        return Some(RunUpdate::Run);
    }
    if let RunEvent::ActionTaken { index } = event {
        run.suggested_actions.get_mut(*index)?.taken = true;
        return Some(RunUpdate::Run);
    }
    if let RunEvent::Usage(usage) = event {
        run.usage = Some(*usage);
        return Some(RunUpdate::Run);
    }
    if run.status.is_terminal() {
        return Some(RunUpdate::Nothing);
    }
    if let Some(status) = event.terminal_status() {
        for call in run.tool_calls_mut() {
            call.status = call.status.at_run_end(status == RunStatus::Stopped);
            call.progress = None;
        }
        run.status = status;
        run.activity = None;
        if let RunEvent::Error { error, .. } = event {
            run.error = Some(error.clone());
        }
        if let RunEvent::Error { finish_reason, .. } | RunEvent::Complete { finish_reason, .. } = event {
            run.finish_reason.clone_from(finish_reason);
        }
        if let RunEvent::Error {
            ended_at, worked_ms, ..
        }
        | RunEvent::Complete {
            ended_at, worked_ms, ..
        }
        | RunEvent::Cancelled { ended_at, worked_ms } = event
        {
            run.ended_at = Some(*ended_at);
            run.worked_ms += worked_ms;
        }
        return Some(RunUpdate::Run);
    }
    match event {
        RunEvent::Status { message } => {
            run.activity = Some(message.clone());
            Some(RunUpdate::Run)
        }
        RunEvent::SuggestedValues { values } => {
            run.suggested_values.clone_from(values);
            Some(RunUpdate::Run)
        }
        RunEvent::SuggestedActions { actions } => {
            run.suggested_actions.clone_from(actions);
            Some(RunUpdate::Run)
        }
        RunEvent::Sources { sources } => {
            run.sources.clone_from(sources);
            Some(RunUpdate::Run)
        }
        RunEvent::Waiting { worked_ms } => {
            run.status = RunStatus::Waiting;
            run.worked_ms += worked_ms;
            run.activity = None;
            Some(RunUpdate::Run)
        }
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
            Some(if *took_ms > 0 { RunUpdate::Run } else { update })
        }
        RunEvent::TextDelta {
            node,
            part,
            offset,
            text,
        } => append_delta(run, *node, *part, *offset, text, || Part::Text {
            text: String::new(),
        }),
        RunEvent::TextWasThinking { node } => {
            for part in &mut run.nodes.get_mut(*node)?.parts {
                if let Part::Text { text } = part {
                    let text = std::mem::take(text);
                    *part = Part::Thinking { text };
                }
            }
            Some(RunUpdate::Run)
        }
        _ => tools::apply_to_calls(run, event),
    }
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
