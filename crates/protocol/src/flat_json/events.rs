//! Reading of events: a function for each family, which returns `None` for kinds of others.

use super::{
    super::{
        ConversationEvent, ConversationId, Event, EventBody, Placeholder, RequestedCall, RunEvent,
        ToolProgress, Usage, UserEvent,
    },
    Fields, ObjectError,
    objects::{fields, read_interaction, read_worked_ms},
};

impl TryFrom<Fields> for Event {
    type Error = ObjectError;

    fn try_from(mut flat: Fields) -> Result<Self, ObjectError> {
        let kind: String = flat.take_required("type");
        let body = read_body(&kind, &mut flat).unwrap_or_else(|| {
            flat.record_error(ObjectError::Unknown(kind));
            Placeholder::Empty.into()
        });
        let conversation_id = match body {
            EventBody::Conversation(_) | EventBody::Run(_) => flat.take_required("conversation_id"),
            EventBody::User(_) => ConversationId::NONE,
            // The event in its place may have belonged to no conversation.
            EventBody::Placeholder(_) => flat.take("conversation_id").unwrap_or(ConversationId::NONE),
        };
        let event = fields!(flat => Self { position; message_id } with conversation_id, body);
        flat.finish(event)
    }
}

fn read_body(kind: &str, flat: &mut Fields) -> Option<EventBody> {
    if let Some(event) = read_run_event(kind, flat) {
        return Some(event.into());
    }
    if let Some(event) = read_conversation_event(kind, flat) {
        return Some(event.into());
    }
    Some(match kind {
        "literature_changed" => fields!(flat => UserEvent::LiteratureChanged { change }).into(),
        "job_changed" => fields!(flat => UserEvent::JobChanged { change }).into(),
        "project_changed" => {
            let deleted = flat.take("deleted").unwrap_or_default();
            fields!(flat => UserEvent::ProjectChanged { project_id } with deleted).into()
        }
        "settings_changed" => UserEvent::SettingsChanged.into(),
        "models_changed" => UserEvent::ModelsChanged.into(),
        "empty" => Placeholder::Empty.into(),
        "damaged" => Placeholder::Damaged.into(),
        _ => return None,
    })
}

fn read_conversation_event(kind: &str, flat: &mut Fields) -> Option<ConversationEvent> {
    Some(match kind {
        "conversation_created" => {
            let temporary = flat.take("temporary").unwrap_or_default();
            fields!(flat => ConversationEvent::ConversationCreated { title, created_at; project_id } with temporary)
        }
        "conversation_placed" => fields!(flat => ConversationEvent::ConversationPlaced { conversation }),
        "conversation_renamed" => fields!(flat => ConversationEvent::ConversationRenamed { title }),
        "model_chosen" => fields!(flat => ConversationEvent::ModelChosen { model }),
        "parameters_chosen" => fields!(flat => ConversationEvent::ParametersChosen { parameters }),
        "conversation_read" => ConversationEvent::ConversationRead,
        "conversation_deleted" => ConversationEvent::ConversationDeleted,
        "leaf_selected" => fields!(flat => ConversationEvent::LeafSelected { leaf_id }),
        "message_queued" => fields!(flat => ConversationEvent::MessageQueued { queued }),
        "queue_changed" => fields!(flat => ConversationEvent::QueueChanged { queued_ids, held }),
        "message_hidden" => fields!(flat => ConversationEvent::MessageHidden { hidden_id; leaf_id }),
        "message_restored" => fields!(flat => ConversationEvent::MessageRestored { leaf_id }),
        "user_message_saved" => {
            let interaction = read_interaction(flat);
            let files = flat.take("files").unwrap_or_default();
            fields!(flat => ConversationEvent::UserMessageSaved {
                user_message_id, expected_assistant_message_id, text, created_at; parent_id
            } with files, interaction)
        }
        "files_deleted" => fields!(flat => ConversationEvent::FilesDeleted { file_ids }),
        "payload_judged" => {
            let accepted_fields = flat.take("accepted_fields").unwrap_or_default();
            fields!(flat => ConversationEvent::PayloadJudged { payload_id, verdict } with accepted_fields)
        }
        _ => return None,
    })
}

fn read_run_event(kind: &str, flat: &mut Fields) -> Option<RunEvent> {
    Some(match kind {
        "run_started" => fields!(flat => RunEvent::RunStarted { parent_id, model, created_at }),
        "run_continued" => fields!(flat => RunEvent::RunContinued { created_at }),
        "run_resumed" => fields!(flat => RunEvent::RunResumed { resumed_at }),
        "status" => fields!(flat => RunEvent::Status { message }),
        "thinking" => {
            let took_ms = flat.take("took_ms").unwrap_or_default();
            fields!(flat => RunEvent::Thinking { node, part, offset, text } with took_ms)
        }
        "text_delta" => fields!(flat => RunEvent::TextDelta { node, part, offset, text }),
        "text_was_thinking" => fields!(flat => RunEvent::TextWasThinking { node }),
        "complete" => {
            let worked_ms = read_worked_ms(flat);
            let is_quiet = flat.take("is_quiet").unwrap_or_default();
            fields!(flat => RunEvent::Complete { ended_at; finish_reason } with worked_ms, is_quiet)
        }
        "cancelled" => {
            let worked_ms = read_worked_ms(flat);
            fields!(flat => RunEvent::Cancelled { ended_at } with worked_ms)
        }
        "error" => {
            let worked_ms = read_worked_ms(flat);
            fields!(flat => RunEvent::Error { status, error, message, ended_at; finish_reason } with worked_ms)
        }
        "approval_requested" => RunEvent::ApprovalRequested(read_requested_call(flat)),
        "approval_answered" => {
            fields!(flat => RunEvent::ApprovalAnswered { index, tool_use_id, allowed })
        }
        "tool_start" => {
            let call = read_requested_call(flat);
            fields!(flat => RunEvent::ToolStart { started_at } with call)
        }
        "tool_progress" => {
            let progress = ToolProgress {
                stage: flat.take("stage").unwrap_or_default(),
                message: flat.take("message").unwrap_or_default(),
                progress: flat.take("progress"),
                data: flat.take("data"),
            };
            fields!(flat => RunEvent::ToolProgress { index, tool_use_id, tool } with progress)
        }
        "tool_complete" => {
            let attachments = flat.take("attachments").unwrap_or_default();
            fields!(flat => RunEvent::ToolComplete {
                index, tool_use_id, tool, label, status, output, ended_at; payload
            } with attachments)
        }
        "waiting" => RunEvent::Waiting {
            worked_ms: read_worked_ms(flat),
        },
        "file_made" => fields!(flat => RunEvent::FileMade { node, part, file }),
        "payload_made" => fields!(flat => RunEvent::PayloadMade { node, part, payload }),
        "suggested_values" => fields!(flat => RunEvent::SuggestedValues { values }),
        "suggested_actions" => fields!(flat => RunEvent::SuggestedActions { actions }),
        "action_taken" => fields!(flat => RunEvent::ActionTaken { index }),
        "sources" => fields!(flat => RunEvent::Sources { sources }),
        "usage" => {
            let estimated = flat.take("estimated").unwrap_or_default();
            let totals = flat.take("totals").unwrap_or_default();
            RunEvent::Usage(fields!(flat => Usage {
                input_tokens, output_tokens, estimate; window
            } with estimated, totals))
        }
        _ => return None,
    })
}

fn read_requested_call(flat: &mut Fields) -> RequestedCall {
    fields!(flat => RequestedCall { node, part, index, tool_use_id, tool, input, label; detail })
}
