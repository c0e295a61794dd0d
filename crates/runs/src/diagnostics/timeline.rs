//! The timeline of a model call: the events of the run's log since the call began.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use parlor_protocol::{EventBody, Timestamp};

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
    event: &EventBody,
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
fn event_name(event: &EventBody) -> (&'static str, Option<String>) {
    let short = |text: &str| {
        let mut text = text.to_owned();
        text.truncate(text.floor_char_boundary(MAX_DETAIL_BYTES));
        Some(text)
    };
    match event {
        EventBody::ConversationCreated { .. } => ("conversation_created", None),
        EventBody::ConversationRenamed { .. } => ("conversation_renamed", None),
        EventBody::ModelChosen { model } => ("model_chosen", short(model)),
        EventBody::ParametersChosen { .. } => ("parameters_chosen", None),
        EventBody::ConversationRead => ("conversation_read", None),
        EventBody::ConversationDeleted => ("conversation_deleted", None),
        EventBody::LeafSelected { .. } => ("leaf_selected", None),
        EventBody::MessageHidden { .. } => ("message_hidden", None),
        EventBody::MessageRestored { .. } => ("message_restored", None),
        EventBody::MessageQueued { .. } => ("message_queued", None),
        EventBody::QueueChanged { .. } => ("queue_changed", None),
        EventBody::UserMessageSaved { .. } => ("user_message_saved", None),
        EventBody::RunStarted { model, .. } => ("run_started", short(model)),
        EventBody::RunContinued { .. } => ("run_continued", None),
        EventBody::Status { message } => ("status", short(message)),
        EventBody::Thinking { .. } => ("thinking", None),
        EventBody::TextDelta { .. } => ("text_delta", None),
        EventBody::TextWasThinking { .. } => ("text_was_thinking", None),
        EventBody::ApprovalRequested(call) => ("approval_requested", short(&call.tool)),
        EventBody::ApprovalAnswered { allowed, .. } => (
            "approval_answered",
            short(if *allowed { "allowed" } else { "denied" }),
        ),
        EventBody::ToolStart { call, .. } => ("tool_start", short(&call.tool)),
        EventBody::ToolProgress { tool, .. } => ("tool_progress", short(tool)),
        EventBody::ToolComplete { tool, .. } => ("tool_complete", short(tool)),
        EventBody::Waiting { .. } => ("waiting", None),
        EventBody::ActionTaken { .. } => ("action_taken", None),
        EventBody::SettingsChanged => ("settings_changed", None),
        EventBody::LiteratureChanged { .. } => ("literature_changed", None),
        EventBody::PayloadJudged { verdict, .. } => ("payload_judged", short(verdict.as_str())),
        EventBody::PayloadMade { payload, .. } => ("payload_made", short(&payload.kind)),
        EventBody::FileMade { file, .. } => ("file_made", short(&file.media_type)),
        EventBody::SuggestedValues { .. } => ("suggested_values", None),
        EventBody::SuggestedActions { .. } => ("suggested_actions", None),
        EventBody::Sources { .. } => ("sources", None),
        EventBody::Usage(_) => ("usage", None),
        EventBody::Complete { .. } => ("complete", None),
        EventBody::Cancelled { .. } => ("cancelled", None),
        EventBody::Error { message, .. } => ("error", short(message)),
        EventBody::Empty => ("empty", None),
        EventBody::Damaged => ("damaged", None),
    }
}
