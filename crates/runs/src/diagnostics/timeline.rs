//! The timeline of a model call: the events of the run's log since the call began.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use parlor_protocol::{RunEvent, Timestamp};

/// An event with its time. Equal events in a row are one entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimelineEntry {
    pub at: Timestamp,
    #[serde(rename = "type")]
    pub kind: String,
    /// The tool, or its activity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    pub count: usize,
    /// The time of the last event.
    pub until: Timestamp,
}

/// The maximum length of a timeline entry's detail, in bytes.
const MAX_DETAIL_BYTES: usize = 200;

/// Appends an event to a timeline, unless it has `max_entries` entries already.
pub fn push_timeline_event(
    timeline: &mut Vec<TimelineEntry>,
    event: &RunEvent,
    at: Timestamp,
    max_entries: usize,
) {
    let (kind, detail) = event_name(event);
    if let Some(last) = timeline
        .last_mut()
        .filter(|last| last.kind == kind && last.detail == detail)
    {
        last.count += 1;
        last.until = at;
    } else if timeline.len() < max_entries {
        timeline.push(TimelineEntry {
            at,
            kind: kind.into(),
            detail,
            count: 1,
            until: at,
        });
    }
}

/// Returns the event's wire type, and the detail that distinguishes events of this type.
fn event_name(event: &RunEvent) -> (&'static str, Option<String>) {
    let short = |text: &str| {
        let mut text = text.to_owned();
        text.truncate(text.floor_char_boundary(MAX_DETAIL_BYTES));
        Some(text)
    };
    match event {
        RunEvent::RunStarted { model, .. } => ("run_started", short(model)),
        RunEvent::RunContinued { .. } => ("run_continued", None),
        RunEvent::RunResumed { .. } => ("run_resumed", None),
        RunEvent::Status { message } => ("status", short(message)),
        RunEvent::Thinking { .. } => ("thinking", None),
        RunEvent::TextDelta { .. } => ("text_delta", None),
        RunEvent::TextWasThinking { .. } => ("text_was_thinking", None),
        RunEvent::ApprovalRequested(call) => ("approval_requested", short(&call.tool)),
        RunEvent::ApprovalAnswered { allowed, .. } => (
            "approval_answered",
            short(if *allowed { "allowed" } else { "denied" }),
        ),
        RunEvent::ToolStart { call, .. } => ("tool_start", short(&call.tool)),
        RunEvent::ToolProgress { tool, .. } => ("tool_progress", short(tool)),
        RunEvent::ToolComplete { tool, .. } => ("tool_complete", short(tool)),
        RunEvent::Waiting { .. } => ("waiting", None),
        RunEvent::ActionTaken { .. } => ("action_taken", None),
        RunEvent::PayloadMade { payload, .. } => ("payload_made", short(&payload.kind)),
        RunEvent::FileMade { file, .. } => ("file_made", short(&file.media_type)),
        RunEvent::SuggestedValues { .. } => ("suggested_values", None),
        RunEvent::SuggestedActions { .. } => ("suggested_actions", None),
        RunEvent::Sources { .. } => ("sources", None),
        RunEvent::Usage(_) => ("usage", None),
        RunEvent::Complete { .. } => ("complete", None),
        RunEvent::Cancelled { .. } => ("cancelled", None),
        RunEvent::Error { message, .. } => ("error", short(message)),
    }
}
