//! The events of a live share: those of its conversation's shown branch, without owner-only data.

use super::projection;
use parlor_protocol::{
    ConversationId, Event, EventBody, Interaction, MessageId, Position, RunStatus, Transcript,
    WAITING_FOR_MODEL,
};

/// The branch that readers see, as of a position of the owner's log.
#[derive(Debug)]
pub struct SharedBranch {
    conversation_id: ConversationId,
    as_of: Position,
    messages: Vec<MessageId>,
}

/// The effect of an event on readers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "each is used at once, and most are events"
)]
pub enum SharedEvent {
    Nothing,
    Event(Event),
    /// The shared branch was replaced by another version, or a message of it was deleted: readers load the whole state again.
    NeedsState,
    /// The conversation was deleted.
    Ended,
}

impl SharedBranch {
    /// The branch of a transcript that readers have.
    pub fn new(transcript: &Transcript) -> Self {
        let branch = transcript.shown_branch();
        Self {
            conversation_id: transcript.conversation_id,
            as_of: transcript.as_of,
            messages: branch.iter().map(|message| message.id).collect(),
        }
    }

    /// Returns the effect of the next event of the owner's log.
    pub fn apply(&mut self, event: &Event) -> SharedEvent {
        if event.conversation_id != self.conversation_id || event.position <= self.as_of {
            return SharedEvent::Nothing;
        }
        self.as_of = event.position;
        if let EventBody::UserMessageSaved {
            user_message_id: id,
            parent_id,
            ..
        } = &event.body
        {
            return self.add(event, *id, *parent_id);
        }
        match (event.message_id, &event.body) {
            (Some(run), EventBody::RunStarted { parent_id, .. }) => self.add(event, run, Some(*parent_id)),
            (Some(run), _) if !self.messages.contains(&run) => SharedEvent::Nothing,
            _ => project(event),
        }
    }

    /// Adds a message at the end of the branch. Elsewhere it begins another one.
    fn add(&mut self, event: &Event, id: MessageId, parent_id: Option<MessageId>) -> SharedEvent {
        if self.messages.last().copied() != parent_id {
            return SharedEvent::NeedsState;
        }
        self.messages.push(id);
        project(event)
    }
}

/// Returns the shared part of an event of the branch.
fn project(event: &Event) -> SharedEvent {
    let body = match &event.body {
        EventBody::ConversationDeleted => return SharedEvent::Ended,
        EventBody::LeafSelected { .. }
        | EventBody::MessageHidden { .. }
        | EventBody::MessageRestored { .. }
        // What was text is reasoning, which is not shared.
        | EventBody::TextWasThinking { .. }
        | EventBody::Damaged => return SharedEvent::NeedsState,
        EventBody::ConversationCreated { .. }
        | EventBody::ModelChosen { .. }
        | EventBody::ParametersChosen { .. }
        | EventBody::ConversationRead
        | EventBody::MessageQueued { .. }
        | EventBody::QueueChanged { .. }
        | EventBody::ToolProgress { .. }
        | EventBody::SuggestedValues { .. }
        | EventBody::SuggestedActions { .. }
        | EventBody::ActionTaken { .. }
        | EventBody::PayloadJudged { .. }
        | EventBody::Usage(_)
        | EventBody::LiteratureChanged { .. }
        | EventBody::SettingsChanged
        | EventBody::Empty => return SharedEvent::Nothing,
        EventBody::ConversationRenamed { title } => EventBody::ConversationRenamed { title: title.clone() },
        EventBody::UserMessageSaved {
            user_message_id,
            expected_assistant_message_id,
            parent_id,
            text,
            files,
            interaction: _,
            created_at,
        } => EventBody::UserMessageSaved {
            user_message_id: *user_message_id,
            expected_assistant_message_id: *expected_assistant_message_id,
            parent_id: *parent_id,
            text: text.clone(),
            files: files.iter().map(projection::file).collect(),
            interaction: Interaction::TextInput,
            created_at: *created_at,
        },
        EventBody::RunStarted {
            parent_id,
            model,
            created_at,
        } => EventBody::RunStarted {
            parent_id: *parent_id,
            model: projection::model(model),
            created_at: *created_at,
        },
        EventBody::RunContinued { created_at } => EventBody::RunContinued { created_at: *created_at },
        EventBody::Status { message: _ } => EventBody::Status {
            message: WAITING_FOR_MODEL.into(),
        },
        // Only its place.
        EventBody::Thinking { node, part, .. } => EventBody::Thinking {
            node: *node,
            part: *part,
            offset: 0,
            text: String::new(),
            took_ms: 0,
        },
        EventBody::TextDelta {
            node,
            part,
            offset,
            text,
        } => EventBody::TextDelta {
            node: *node,
            part: *part,
            offset: *offset,
            text: text.clone(),
        },
        EventBody::ApprovalRequested(call) => {
            EventBody::ApprovalRequested(projection::requested_call(call))
        }
        EventBody::ApprovalAnswered {
            index,
            tool_use_id,
            allowed,
        } => EventBody::ApprovalAnswered {
            index: *index,
            tool_use_id: tool_use_id.clone(),
            allowed: *allowed,
        },
        EventBody::ToolStart { call, started_at } => EventBody::ToolStart {
            call: projection::requested_call(call),
            started_at: *started_at,
        },
        EventBody::ToolComplete {
            index,
            tool_use_id,
            tool,
            label,
            status,
            output: _,
            payload: _,
            attachments,
            ended_at,
        } => EventBody::ToolComplete {
            index: *index,
            tool_use_id: tool_use_id.clone(),
            tool: tool.clone(),
            label: label.clone(),
            status: *status,
            output: String::new(),
            payload: None,
            attachments: projection::tool_files(tool, attachments),
            ended_at: *ended_at,
        },
        EventBody::Waiting { worked_ms: _ } => EventBody::Waiting { worked_ms: 0 },
        EventBody::PayloadMade { node, part, payload } => EventBody::PayloadMade {
            node: *node,
            part: *part,
            payload: payload.clone(),
        },
        EventBody::FileMade { node, part, file } => EventBody::FileMade {
            node: *node,
            part: *part,
            file: projection::file(file),
        },
        EventBody::Sources { sources } => EventBody::Sources {
            sources: sources.clone(),
        },
        EventBody::Complete { ended_at, .. } => EventBody::run_ended(RunStatus::Complete, None, *ended_at, 0),
        EventBody::Cancelled { ended_at, .. } => EventBody::run_ended(RunStatus::Stopped, None, *ended_at, 0),
        EventBody::Error { status, ended_at, .. } => {
            EventBody::run_ended(*status, Some(projection::error()), *ended_at, 0)
        }
    };
    SharedEvent::Event(Event {
        position: event.position,
        conversation_id: event.conversation_id,
        message_id: event.message_id,
        body,
    })
}
