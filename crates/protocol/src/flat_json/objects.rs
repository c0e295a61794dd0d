//! The fields of each kind of object, and their parsing.

use super::{
    super::{
        ApiToken, AssistantMessage, Attachment, ConversationList, FileList, FileUse, Interaction,
        ListedConversation, ListedFile, ListedProject, ListedSchedule, Memory, Message, MessageBody,
        MessageQueue, ModelCapabilities, News, OlderMessages, PageContext, Parameters, Part, PayloadVerdict,
        PersonalData, Prices, Project, ProjectFiles, ProjectList, ProjectReader, ProjectReaders,
        QueuedMessage, Schedule, ScheduleList, ScheduledMessage, ScheduledRun, SharedChat, SharedProject,
        SharedProjectContent, StreamNotice, ThinkingSupport, TokenTotals, ToolCall, ToolProgress, Transcript,
        Usage,
        earlier_data::suggested_action,
        intent::StartedRun,
        model_list::{ModelInfo, ModelList, ModelListProblem},
        search::{SearchHit, SearchHits, Snippet},
        transcript::UnloadedSibling,
    },
    Fields, ObjectError,
};

/// `fields!(flat => Kind { a, b; c } with d)`: the kind with these fields. Those after the semicolon are
/// optional. Those of `with` were read before.
macro_rules! fields {
    (
        $flat:ident => $($kind:ident)::+ { $($field:ident),* $(; $($optional:ident),*)? } $(with $($read:ident),+)?
    ) => {
        $($kind)::+ {
            $($field: $flat.take_required(stringify!($field)),)*
            $($($optional: $flat.take(stringify!($optional)),)*)?
            $($($read,)+)?
        }
    };
}

pub(super) use fields;

/// Objects without kinds, for which serde's derived code would be larger.
macro_rules! plain {
    ($($kind:ident { $($field:ident),* $(; $($optional:ident),*)? } $(with $($default:ident),+)?;)*) => {
        $(impl TryFrom<Fields> for $kind {
            type Error = ObjectError;

            fn try_from(mut flat: Fields) -> Result<Self, ObjectError> {
                $($(let $default = flat.take(stringify!($default)).unwrap_or_default();)+)?
                let read = fields!(flat => Self { $($field),* $(; $($optional),*)? } $(with $($default),+)?);
                flat.finish(read)
            }
        })*
    };
}

plain! {
    Transcript {
        conversation_id, as_of, title, messages, elsewhere; model, earliest, active_leaf
    } with deleted, verdicts, parameters, queue;
    MessageQueue { messages, held };
    QueuedMessage { id, text, created_at } with files;
    OlderMessages { before, messages, elsewhere; earliest };
    UnloadedSibling { id; parent_id };
    ConversationList { as_of, conversations, has_more; project_id } with archived;
    ListedConversation { id, title, updated_at, activity, waiting, unseen; active_run, project_id } with pinned, archived, temporary;
    ModelList { models, problems; default } with can_search, can_connect, can_bring_keys;
    ModelInfo { id, name, endpoint } with capabilities;
    ModelListProblem { code, message; endpoint } with hint;
    ModelCapabilities {
        ; image_input, pdf_input, tool_use, thinking, context_window, max_output_tokens, prices
    };
    ThinkingSupport { supported; min_budget, max_budget } with levels;
    Prices { input, output; cached_input, cache_write, image_output };
    StartedRun { conversation_id, user_message_id, assistant_message_id };
    PayloadVerdict { payload_id, verdict } with accepted_fields;
    ToolProgress { stage, message; progress, data };
    Parameters { ; temperature, thinking_level, thinking_budget, max_completion_tokens };
    Usage { input_tokens, output_tokens, estimate; window } with estimated, totals;
    TokenTotals { calls, input_tokens, output_tokens, cost } with
        cached_input_tokens, cache_write_tokens, thinking_tokens, image_input_tokens, image_output_tokens,
        estimated_calls, unpriced_calls;
    Attachment { id, name, media_type, bytes; width, height, text_bytes, problem };
    PersonalData { instructions, instructions_bytes, remembers, searches_chats, memories, tokens, unavailable_tools }
        with retention_days, max_retention_days;
    News { version, items };
    Memory { id, text, created_at };
    SearchHits { hits; next, indexed_percent };
    SearchHit {
        kind, title, created_at, snippet; conversation_id, project_id, message_id, tool_call, file_id, file_name, pmid
    };
    Snippet { text, marks };
    Schedule { days, time, time_zone; stream_id, model, ends_on, run_limit, month_limit } with
        name, prompt, tools, only_new, is_paused;
    ListedSchedule { id, schedule, month_cost; next_at, last, notice };
    ScheduledRun { planned_at, started_at; conversation_id, report_id, status };
    ScheduleList { schedules, limit };
    Project { name; model } with colour, instructions, disabled_tools;
    ListedProject { id, project, conversations, files } with readers;
    ProjectFiles { files, limit };
    FileList { files, total, used_bytes, limit_bytes; next };
    ListedFile { file, created_at, uses } with more_uses;
    FileUse { title; conversation_id, message_id, project_id } with state;
    ProjectList { as_of, projects, limit } with shared;
    ProjectReader { name, since };
    ProjectReaders { readers, limit };
    SharedProject { id, name, owner } with colour;
    SharedChat { id, title, updated_at };
    SharedProjectContent { as_of, project, files, conversations; next } with instructions;
    ApiToken { id, name, beginning, created_at; expires_at, last_used_at };
}

/// Older logs do not have the field.
pub(super) fn read_worked_ms(flat: &mut Fields) -> u64 {
    flat.take("worked_ms").unwrap_or_default()
}

impl TryFrom<Fields> for Message {
    type Error = ObjectError;

    fn try_from(mut flat: Fields) -> Result<Self, ObjectError> {
        let body = read_message_body(&mut flat);
        let message = fields!(flat => Self { id, created_at; parent_id } with body);
        flat.finish(message)
    }
}

impl TryFrom<Fields> for MessageBody {
    type Error = ObjectError;

    fn try_from(mut flat: Fields) -> Result<Self, ObjectError> {
        let body = read_message_body(&mut flat);
        flat.finish(body)
    }
}

fn read_message_body(flat: &mut Fields) -> MessageBody {
    let role: String = flat.take_required("role");
    match role.as_str() {
        "assistant" => {
            let suggested_values = flat.take("suggested_values").unwrap_or_default();
            let actions: Vec<_> = flat.take("suggested_actions").unwrap_or_default();
            let suggested_actions = actions.into_iter().map(suggested_action).collect();
            let sources = flat.take("sources").unwrap_or_default();
            let worked_ms = read_worked_ms(flat);
            let thought_ms = flat.take("thought_ms").unwrap_or_default();
            let resumptions = flat.take("resumptions").unwrap_or_default();
            MessageBody::Assistant(fields!(flat => AssistantMessage {
                model, status, nodes; activity, error, finish_reason, usage, ended_at
            } with suggested_values, suggested_actions, sources, worked_ms, thought_ms, resumptions))
        }
        "user" => {
            let interaction = read_interaction(flat);
            let files = flat.take("files").unwrap_or_default();
            fields!(flat => MessageBody::User { text } with files, interaction)
        }
        "damaged" => MessageBody::Damaged,
        _ => {
            flat.record_error(ObjectError::Unknown(role));
            MessageBody::User {
                text: String::new(),
                files: Vec::new(),
                interaction: Interaction::TextInput,
            }
        }
    }
}

impl TryFrom<Fields> for PageContext {
    type Error = ObjectError;

    fn try_from(mut flat: Fields) -> Result<Self, ObjectError> {
        let (current_page, active_tab, active_subtab) = (
            flat.take_required("current_page"),
            flat.take("active_tab"),
            flat.take("active_subtab"),
        );
        let context = Self {
            current_page,
            active_tab,
            active_subtab,
            own_fields: std::mem::take(&mut flat.fields),
        };
        flat.finish(context)
    }
}

impl TryFrom<Fields> for Interaction {
    type Error = ObjectError;

    fn try_from(mut flat: Fields) -> Result<Self, ObjectError> {
        let interaction = read_interaction(&mut flat);
        flat.finish(interaction)
    }
}

/// Older messages do not have the field: they were all typed.
pub(super) fn read_interaction(flat: &mut Fields) -> Interaction {
    let kind: Option<String> = flat.take("interaction_type");
    match kind.as_deref() {
        None | Some("text_input") => Interaction::TextInput,
        Some("value_selected") => Interaction::ValueSelected,
        Some("scheduled") => {
            let missed = flat.take("missed").unwrap_or_default();
            let only_new = flat.take("only_new").unwrap_or_default();
            Interaction::Scheduled(Box::new(fields!(flat => ScheduledMessage {
                schedule_id, title, planned_at; run_limit
            } with missed, only_new)))
        }
        Some("action_executed") => fields!(flat => Interaction::ActionExecuted { action; data }),
        Some(_) => {
            flat.record_error(ObjectError::Unknown(kind.unwrap_or_default()));
            Interaction::TextInput
        }
    }
}

impl TryFrom<Fields> for Part {
    type Error = ObjectError;

    fn try_from(mut flat: Fields) -> Result<Self, ObjectError> {
        let kind: String = flat.take_required("type");
        let part = match kind.as_str() {
            "thinking" => fields!(flat => Self::Thinking { text }),
            "text" => fields!(flat => Self::Text { text }),
            "payload" => fields!(flat => Self::Payload { payload }),
            "file" => fields!(flat => Self::File { file }),
            "tool_call" => {
                let attachments = flat.take("attachments").unwrap_or_default();
                Self::ToolCall(Box::new(fields!(flat => ToolCall {
                    tool_use_id, index, tool, input, label, status;
                    detail, progress, output, payload, started_at, ended_at
                } with attachments)))
            }
            _ => {
                flat.record_error(ObjectError::Unknown(kind));
                Self::Text { text: String::new() }
            }
        };
        flat.finish(part)
    }
}

impl TryFrom<Fields> for StreamNotice {
    type Error = ObjectError;

    fn try_from(mut flat: Fields) -> Result<Self, ObjectError> {
        let kind: String = flat.take_required("type");
        match kind.as_str() {
            "reset" => flat.finish(Self::Reset),
            "unavailable" => flat.finish(Self::Unavailable),
            "log_damaged" => flat.finish(Self::LogDamaged),
            _ => Err(ObjectError::Unknown(kind)),
        }
    }
}
