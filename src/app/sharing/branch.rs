//! The events of a live share: those of its conversation's shown branch, without owner-only data.

use super::projection;
use parlor_protocol::{
    ConversationEvent, ConversationId, Event, EventBody, Interaction, MessageId, Placeholder, Position,
    RunEvent, RunStatus, Transcript, WAITING_FOR_MODEL,
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
        if let Some((id, parent_id)) = added_message(event) {
            return self.add(event, id, parent_id);
        }
        if event.message_id.is_some_and(|run| !self.messages.contains(&run)) {
            return SharedEvent::Nothing;
        }
        project(event)
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

/// Returns the message that an event adds, with the one before it.
fn added_message(event: &Event) -> Option<(MessageId, Option<MessageId>)> {
    match &event.body {
        EventBody::Conversation(ConversationEvent::UserMessageSaved {
            user_message_id,
            parent_id,
            ..
        }) => Some((*user_message_id, *parent_id)),
        EventBody::Run(RunEvent::RunStarted { parent_id, .. }) => Some((event.message_id?, Some(*parent_id))),
        EventBody::Conversation(_) | EventBody::Run(_) | EventBody::User(_) | EventBody::Placeholder(_) => {
            None
        }
    }
}

/// Returns the shared part of an event of the branch.
fn project(event: &Event) -> SharedEvent {
    match &event.body {
        EventBody::Conversation(body) => project_conversation_event(event, body),
        EventBody::Run(body) => project_run_event(event, body),
        EventBody::User(_) | EventBody::Placeholder(Placeholder::Empty) => SharedEvent::Nothing,
        EventBody::Placeholder(Placeholder::Damaged) => SharedEvent::NeedsState,
    }
}

fn project_conversation_event(event: &Event, body: &ConversationEvent) -> SharedEvent {
    let shared = match body {
        ConversationEvent::ConversationDeleted => return SharedEvent::Ended,
        ConversationEvent::LeafSelected { .. }
        | ConversationEvent::MessageHidden { .. }
        | ConversationEvent::MessageRestored { .. } => return SharedEvent::NeedsState,
        ConversationEvent::ConversationCreated { .. }
        | ConversationEvent::ModelChosen { .. }
        | ConversationEvent::ParametersChosen { .. }
        | ConversationEvent::ConversationRead
        | ConversationEvent::ConversationPlaced { .. }
        | ConversationEvent::MessageQueued { .. }
        | ConversationEvent::QueueChanged { .. }
        | ConversationEvent::PayloadJudged { .. } => return SharedEvent::Nothing,
        // Ids of files that readers do not have say nothing to them.
        ConversationEvent::FilesDeleted { file_ids } => ConversationEvent::FilesDeleted {
            file_ids: file_ids.clone(),
        },
        ConversationEvent::ConversationRenamed { title } => {
            ConversationEvent::ConversationRenamed { title: title.clone() }
        }
        ConversationEvent::UserMessageSaved {
            user_message_id,
            expected_assistant_message_id,
            parent_id,
            text,
            files,
            interaction: _,
            created_at,
        } => ConversationEvent::UserMessageSaved {
            user_message_id: *user_message_id,
            expected_assistant_message_id: *expected_assistant_message_id,
            parent_id: *parent_id,
            text: text.clone(),
            files: files.iter().map(projection::file).collect(),
            interaction: Interaction::TextInput,
            created_at: *created_at,
        },
    };
    with_body(event, shared)
}

fn project_run_event(event: &Event, body: &RunEvent) -> SharedEvent {
    let shared = match body {
        // What was text is reasoning, which is not shared.
        RunEvent::TextWasThinking { .. } => return SharedEvent::NeedsState,
        RunEvent::ToolProgress { .. }
        | RunEvent::SuggestedValues { .. }
        | RunEvent::SuggestedActions { .. }
        | RunEvent::ActionTaken { .. }
        | RunEvent::Usage(_) => return SharedEvent::Nothing,
        RunEvent::RunStarted {
            parent_id,
            model,
            created_at,
        } => RunEvent::RunStarted {
            parent_id: *parent_id,
            model: projection::model(model),
            created_at: *created_at,
        },
        RunEvent::RunContinued { created_at } => RunEvent::RunContinued {
            created_at: *created_at,
        },
        RunEvent::RunResumed { resumed_at } => RunEvent::RunResumed {
            resumed_at: *resumed_at,
        },
        RunEvent::Status { message: _ } => RunEvent::Status {
            message: WAITING_FOR_MODEL.into(),
        },
        // Only its place.
        RunEvent::Thinking { node, part, .. } => RunEvent::Thinking {
            node: *node,
            part: *part,
            offset: 0,
            text: String::new(),
            took_ms: 0,
        },
        RunEvent::TextDelta {
            node,
            part,
            offset,
            text,
        } => RunEvent::TextDelta {
            node: *node,
            part: *part,
            offset: *offset,
            text: text.clone(),
        },
        RunEvent::ApprovalRequested(call) => RunEvent::ApprovalRequested(projection::requested_call(call)),
        RunEvent::ApprovalAnswered {
            index,
            tool_use_id,
            allowed,
        } => RunEvent::ApprovalAnswered {
            index: *index,
            tool_use_id: tool_use_id.clone(),
            allowed: *allowed,
        },
        RunEvent::ToolStart { call, started_at } => RunEvent::ToolStart {
            call: projection::requested_call(call),
            started_at: *started_at,
        },
        RunEvent::ToolComplete {
            index,
            tool_use_id,
            tool,
            label,
            status,
            output: _,
            payload: _,
            attachments,
            ended_at,
        } => RunEvent::ToolComplete {
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
        RunEvent::Waiting { worked_ms: _ } => RunEvent::Waiting { worked_ms: 0 },
        RunEvent::PayloadMade { node, part, payload } => RunEvent::PayloadMade {
            node: *node,
            part: *part,
            payload: payload.clone(),
        },
        RunEvent::FileMade { node, part, file } => RunEvent::FileMade {
            node: *node,
            part: *part,
            file: projection::file(file),
        },
        RunEvent::Sources { sources } => RunEvent::Sources {
            sources: sources.iter().cloned().map(projection::source).collect(),
        },
        RunEvent::Complete { ended_at, .. } => RunEvent::run_ended(RunStatus::Complete, None, *ended_at, 0),
        RunEvent::Cancelled { ended_at, .. } => RunEvent::run_ended(RunStatus::Stopped, None, *ended_at, 0),
        RunEvent::Error { status, ended_at, .. } => {
            RunEvent::run_ended(*status, Some(projection::error()), *ended_at, 0)
        }
    };
    with_body(event, shared)
}

fn with_body(event: &Event, body: impl Into<EventBody>) -> SharedEvent {
    SharedEvent::Event(Event {
        position: event.position,
        conversation_id: event.conversation_id,
        message_id: event.message_id,
        body: body.into(),
    })
}
