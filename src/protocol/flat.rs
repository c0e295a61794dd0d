//! Reading what is flat on the wire: an event or a message is one JSON object, with a word that says which kind it is.
//!
//! serde can derive that reading as well (`flatten` with a tagged enum), but what it derives keeps the object in a
//! buffer of its own and reads from there with a second set of everything, and a plain struct of all fields that there may
//! be has code for each of them as well. Both made the WASM larger. Here the object is taken apart into its fields as
//! they stand, and the kind then reads those that it needs.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, MapAccess, Visitor},
};
use uuid::Uuid;

use super::{
    ApiToken, AskedCall, AssistantMessage, Attachment, AttachmentId, ConversationId, ConversationList,
    ConversationSummary, Event, EventBody, Interaction, Json, Judged, Memory, MemoryId, Message, MessageBody,
    MessageId, Notice, OlderMessages, PageContext, Parameters, Part, PayloadRef, Personal, Position,
    RunError, RunStatus, Timestamp, TokenId, ToolCall, ToolProgress, ToolStatus, Transcript, Usage, Verdict,
    chat::{ModelInfo, ModelList},
    intent::Started,
    json,
    transcript::Elsewhere,
};

/// Why an object is not one of ours.
#[derive(Debug, thiserror::Error)]
pub enum NotOurs {
    #[error("the field `{0}` is missing")]
    Missing(&'static str),
    #[error("the field `{0}` can't be read")]
    Unreadable(&'static str),
    #[error("`{0}` is not known")]
    Unknown(String),
}

/// The fields of an object that have not been read yet.
pub struct Fields {
    fields: Vec<(String, Json)>,
    /// The first thing that was wrong.
    fault: Option<NotOurs>,
}

impl Fields {
    /// All of them.
    pub fn all(self) -> Vec<(String, Json)> {
        self.fields
    }

    /// Reads a field, if it is there. `null` is not.
    fn take<T: DeserializeOwned>(&mut self, name: &'static str) -> Option<T> {
        let read = json::read(self.remove(name)?.as_str().as_bytes());
        if read.is_err() {
            self.blame(NotOurs::Unreadable(name));
        }
        read.ok()
    }

    /// Reads a field that must be there. If it isn't, something blank stands in its place until [`Self::finish`]: asking
    /// after each field whether to go on made the WASM larger.
    fn need<T: DeserializeOwned + Blank>(&mut self, name: &'static str) -> T {
        self.take(name).unwrap_or_else(|| {
            self.blame(NotOurs::Missing(name));
            T::blank()
        })
    }

    fn remove(&mut self, name: &str) -> Option<Json> {
        let index = self.fields.iter().position(|(of, _)| of == name)?;
        let (_, value) = self.fields.swap_remove(index);
        (value.as_str() != "null").then_some(value)
    }

    fn blame(&mut self, fault: NotOurs) {
        self.fault.get_or_insert(fault);
    }

    /// What was read, if nothing was wrong.
    fn finish<T>(self, read: T) -> Result<T, NotOurs> {
        match self.fault {
            None => Ok(read),
            Some(fault) => Err(fault),
        }
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Fields, M::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields { fields, fault: None })
            }
        }

        deserializer.deserialize_map(Object)
    }
}

/// What stands in the place of a field that could not be read. Nobody gets to see it.
trait Blank {
    fn blank() -> Self;
}

macro_rules! blank {
    ($($type:ty: $blank:expr,)*) => {
        $(impl Blank for $type {
            fn blank() -> Self {
                $blank
            }
        })*
    };
}

blank! {
    bool: false,
    usize: 0,
    String: String::new(),
    Json: Json::zero(),
    Position: Position(0),
    Timestamp: Timestamp(0),
    ConversationId: ConversationId(Uuid::nil()),
    MessageId: MessageId(Uuid::nil()),
    AttachmentId: AttachmentId(Uuid::nil()),
    MemoryId: MemoryId(Uuid::nil()),
    TokenId: TokenId(Uuid::nil()),
    RunStatus: RunStatus::Failed,
    Verdict: Verdict::Rejected,
    ToolStatus: ToolStatus::Unknown,
    RunError: RunError { code: String::new(), message: String::new(), hint: String::new() },
    PayloadRef: PayloadRef { payload_id: String::new(), kind: String::new(), summary: String::new() },
    Parameters: Parameters::default(),
}

impl<T> Blank for Vec<T> {
    fn blank() -> Self {
        Self::new()
    }
}

/// `fields!(flat => Kind { a, b; c } with d)`: the kind with these fields, of which only those after the semicolon may be
/// missing. Those of `with` were read before.
macro_rules! fields {
    (
        $flat:ident => $($kind:ident)::+ { $($field:ident),* $(; $($optional:ident),*)? } $(with $($read:ident),+)?
    ) => {
        $($kind)::+ {
            $($field: $flat.need(stringify!($field)),)*
            $($($optional: $flat.take(stringify!($optional)),)*)?
            $($($read,)+)?
        }
    };
}

/// Objects without kinds, which are larger when serde derives their reading.
macro_rules! plain {
    ($($kind:ident { $($field:ident),* $(; $($optional:ident),*)? } $(with $($default:ident),+)?;)*) => {
        $(impl TryFrom<Fields> for $kind {
            type Error = NotOurs;

            fn try_from(mut flat: Fields) -> Result<Self, NotOurs> {
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
    } with deleted, verdicts, parameters;
    OlderMessages { before, messages, elsewhere; earliest };
    Elsewhere { id, parent_id };
    ConversationList { as_of, conversations, has_more };
    ConversationSummary { id, title, updated_at, activity, waiting, unseen; active_run };
    ModelList { models, problems; default } with can_search;
    ModelInfo { id, name, endpoint };
    Started { conversation_id, user_message_id, assistant_message_id };
    PageContext { current_page; active_tab, active_subtab, query, page, article_id, stream_id } with results;
    Judged { payload_id, verdict };
    ToolProgress { stage, message; progress, data };
    Parameters { ; temperature, thinking_level, max_completion_tokens };
    Usage { input_tokens, output_tokens, estimate; window } with estimated;
    Attachment { id, name, media_type, bytes };
    Personal { instructions, instructions_bytes, remembers, memories, tokens };
    Memory { id, text, created_at };
    ApiToken { id, name, beginning, created_at; expires_at, last_used_at };
}

impl TryFrom<Fields> for Event {
    type Error = NotOurs;

    fn try_from(mut flat: Fields) -> Result<Self, NotOurs> {
        let kind: String = flat.need("type");
        let body = match kind.as_str() {
            "conversation_created" => fields!(flat => EventBody::ConversationCreated { title, created_at }),
            "conversation_renamed" => fields!(flat => EventBody::ConversationRenamed { title }),
            "model_chosen" => fields!(flat => EventBody::ModelChosen { model }),
            "parameters_chosen" => fields!(flat => EventBody::ParametersChosen { parameters }),
            "conversation_read" => EventBody::ConversationRead,
            "conversation_deleted" => EventBody::ConversationDeleted,
            "leaf_selected" => fields!(flat => EventBody::LeafSelected { leaf_id }),
            "user_message_saved" => {
                let interaction = interaction(&mut flat);
                fields!(flat => EventBody::UserMessageSaved {
                    user_message_id, expected_assistant_message_id, text, created_at; parent_id
                } with interaction)
            }
            "run_started" => fields!(flat => EventBody::RunStarted { parent_id, model, created_at }),
            "run_continued" => fields!(flat => EventBody::RunContinued { created_at }),
            "status" => fields!(flat => EventBody::Status { message }),
            "thinking" => fields!(flat => EventBody::Thinking { node, part, offset, text }),
            "text_delta" => fields!(flat => EventBody::TextDelta { node, part, offset, text }),
            "complete" => {
                let worked_ms = worked(&mut flat);
                fields!(flat => EventBody::Complete { ended_at } with worked_ms)
            }
            "cancelled" => {
                let worked_ms = worked(&mut flat);
                fields!(flat => EventBody::Cancelled { ended_at } with worked_ms)
            }
            "error" => {
                let worked_ms = worked(&mut flat);
                fields!(flat => EventBody::Error { status, error, message, ended_at } with worked_ms)
            }
            "approval_requested" => EventBody::ApprovalRequested(asked(&mut flat)),
            "approval_answered" => {
                fields!(flat => EventBody::ApprovalAnswered { index, tool_use_id, allowed })
            }
            "tool_start" => {
                let call = asked(&mut flat);
                fields!(flat => EventBody::ToolStart { started_at } with call)
            }
            "tool_progress" => {
                let progress = ToolProgress {
                    stage: flat.take("stage").unwrap_or_default(),
                    message: flat.take("message").unwrap_or_default(),
                    progress: flat.take("progress"),
                    data: flat.take("data"),
                };
                fields!(flat => EventBody::ToolProgress { index, tool_use_id, tool } with progress)
            }
            "tool_complete" => {
                let attachments = flat.take("attachments").unwrap_or_default();
                fields!(flat => EventBody::ToolComplete {
                    index, tool_use_id, tool, label, status, output, ended_at; payload
                } with attachments)
            }
            "waiting" => EventBody::Waiting {
                worked_ms: worked(&mut flat),
            },
            "payload_made" => fields!(flat => EventBody::PayloadMade { node, part, payload }),
            "suggested_values" => fields!(flat => EventBody::SuggestedValues { values }),
            "suggested_actions" => fields!(flat => EventBody::SuggestedActions { actions }),
            "action_taken" => fields!(flat => EventBody::ActionTaken { index }),
            "payload_judged" => fields!(flat => EventBody::PayloadJudged { payload_id, verdict }),
            "sources" => fields!(flat => EventBody::Sources { sources }),
            "usage" => {
                let estimated = flat.take("estimated").unwrap_or_default();
                EventBody::Usage(fields!(flat => Usage {
                    input_tokens, output_tokens, estimate; window
                } with estimated))
            }
            "literature_changed" => fields!(flat => EventBody::LiteratureChanged { change }),
            "settings_changed" => EventBody::SettingsChanged,
            "empty" => EventBody::Empty,
            _ => {
                flat.blame(NotOurs::Unknown(kind));
                EventBody::Empty
            }
        };
        let conversation_id = match body {
            EventBody::SettingsChanged | EventBody::LiteratureChanged { .. } => ConversationId::NONE,
            _ => flat.need("conversation_id"),
        };
        let event = fields!(flat => Self { position; message_id } with conversation_id, body);
        flat.finish(event)
    }
}

/// What older logs don't say.
fn worked(flat: &mut Fields) -> u64 {
    flat.take("worked_ms").unwrap_or_default()
}

fn asked(flat: &mut Fields) -> AskedCall {
    fields!(flat => AskedCall { node, part, index, tool_use_id, tool, input, label; detail })
}

impl TryFrom<Fields> for Message {
    type Error = NotOurs;

    fn try_from(mut flat: Fields) -> Result<Self, NotOurs> {
        let body = body(&mut flat);
        let message = fields!(flat => Self { id, created_at; parent_id } with body);
        flat.finish(message)
    }
}

impl TryFrom<Fields> for MessageBody {
    type Error = NotOurs;

    fn try_from(mut flat: Fields) -> Result<Self, NotOurs> {
        let body = body(&mut flat);
        flat.finish(body)
    }
}

fn body(flat: &mut Fields) -> MessageBody {
    let role: String = flat.need("role");
    match role.as_str() {
        "assistant" => {
            let suggested_values = flat.take("suggested_values").unwrap_or_default();
            let suggested_actions = flat.take("suggested_actions").unwrap_or_default();
            let sources = flat.take("sources").unwrap_or_default();
            let worked_ms = worked(flat);
            MessageBody::Assistant(fields!(flat => AssistantMessage {
                model, status, nodes; activity, error, usage, ended_at
            } with suggested_values, suggested_actions, sources, worked_ms))
        }
        "user" => {
            let interaction = interaction(flat);
            fields!(flat => MessageBody::User { text } with interaction)
        }
        _ => {
            flat.blame(NotOurs::Unknown(role));
            MessageBody::User {
                text: String::new(),
                interaction: Interaction::TextInput,
            }
        }
    }
}

impl TryFrom<Fields> for Interaction {
    type Error = NotOurs;

    fn try_from(mut flat: Fields) -> Result<Self, NotOurs> {
        let interaction = interaction(&mut flat);
        flat.finish(interaction)
    }
}

/// Messages from before there were others say nothing of it: they were typed.
fn interaction(flat: &mut Fields) -> Interaction {
    let kind: Option<String> = flat.take("interaction_type");
    match kind.as_deref() {
        None | Some("text_input") => Interaction::TextInput,
        Some("value_selected") => Interaction::ValueSelected,
        Some("action_executed") => fields!(flat => Interaction::ActionExecuted { action; data }),
        Some(_) => {
            flat.blame(NotOurs::Unknown(kind.unwrap_or_default()));
            Interaction::TextInput
        }
    }
}

impl TryFrom<Fields> for Part {
    type Error = NotOurs;

    fn try_from(mut flat: Fields) -> Result<Self, NotOurs> {
        let kind: String = flat.need("type");
        let part = match kind.as_str() {
            "thinking" => fields!(flat => Self::Thinking { text }),
            "text" => fields!(flat => Self::Text { text }),
            "payload" => fields!(flat => Self::Payload { payload }),
            "tool_call" => {
                let attachments = flat.take("attachments").unwrap_or_default();
                Self::ToolCall(Box::new(fields!(flat => ToolCall {
                    tool_use_id, index, tool, input, label, status;
                    detail, progress, output, payload, started_at, ended_at
                } with attachments)))
            }
            _ => {
                flat.blame(NotOurs::Unknown(kind));
                Self::Text { text: String::new() }
            }
        };
        flat.finish(part)
    }
}

impl TryFrom<Fields> for Notice {
    type Error = NotOurs;

    fn try_from(mut flat: Fields) -> Result<Self, NotOurs> {
        let kind: String = flat.need("type");
        match kind.as_str() {
            "reset" => flat.finish(Self::Reset),
            "unavailable" => flat.finish(Self::Unavailable),
            _ => Err(NotOurs::Unknown(kind)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{AskedParameters, Fraction, Node, Source, SuggestedValue},
        *,
    };

    fn asked_call(detail: Option<String>) -> AskedCall {
        AskedCall {
            node: 0,
            part: 1,
            index: 2,
            tool_use_id: "1".into(),
            tool: "tool".into(),
            input: Json::or_string(r#"{"a": [0.5, "}"]}"#),
            label: "Doing".into(),
            detail,
        }
    }

    fn progress() -> ToolProgress {
        ToolProgress {
            stage: "searching".into(),
            message: "Found 15 articles".into(),
            progress: Some(Fraction::of(1, 3)),
            data: Some(Json::or_string("[1.5]")),
        }
    }

    fn attachment() -> Attachment {
        Attachment {
            id: AttachmentId::new(),
            name: "map.png".into(),
            media_type: "image/png".into(),
            bytes: 70,
        }
    }

    fn payload() -> PayloadRef {
        PayloadRef {
            payload_id: "abc12345".into(),
            kind: "table".into(),
            summary: "Table (3)".into(),
        }
    }

    fn parameters() -> Parameters {
        let asked = AskedParameters {
            temperature: "0.7".into(),
            thinking_level: "low".into(),
            max_completion_tokens: "1000".into(),
        };
        Parameters::read(&asked).unwrap()
    }

    fn usage() -> Usage {
        Usage {
            input_tokens: 10,
            output_tokens: 2,
            estimated: true,
            estimate: 9,
            window: Some(100),
        }
    }

    fn pressed(data: Option<&str>) -> Interaction {
        Interaction::ActionExecuted {
            action: "save".into(),
            data: data.map(Into::into),
        }
    }

    fn said(interaction: Interaction) -> MessageBody {
        MessageBody::User {
            text: "hi".into(),
            interaction,
        }
    }

    #[test]
    fn what_says_nothing_of_it_was_typed_and_what_is_not_known_is_refused() {
        let read = |json: &str| serde_json::from_str::<MessageBody>(json);
        let old = read(r#"{"role":"user","text":"hi"}"#).unwrap();
        assert_eq!(old, said(Interaction::TextInput));
        assert!(read(r#"{"role":"user","text":"hi","interaction_type":"thought"}"#).is_err());
        assert!(read(r#"{"role":"user","text":"hi","interaction_type":"action_executed"}"#).is_err());
    }

    #[test]
    fn every_event_reads_back_as_what_was_written() {
        let (id, at, text) = (MessageId::new(), Timestamp(1), String::from("text"));
        let error = RunError {
            code: "code".into(),
            message: text.clone(),
            hint: String::new(),
        };
        let bodies = [
            EventBody::ConversationCreated {
                title: text.clone(),
                created_at: at,
            },
            EventBody::ConversationRenamed { title: text.clone() },
            EventBody::ModelChosen { model: text.clone() },
            EventBody::ParametersChosen {
                parameters: parameters(),
            },
            EventBody::ConversationRead,
            EventBody::ConversationDeleted,
            EventBody::LeafSelected { leaf_id: id },
            EventBody::UserMessageSaved {
                user_message_id: id,
                expected_assistant_message_id: MessageId::new(),
                parent_id: None,
                text: text.clone(),
                interaction: pressed(Some("[1]")),
                created_at: at,
            },
            EventBody::RunStarted {
                parent_id: id,
                model: text.clone(),
                created_at: at,
            },
            EventBody::RunContinued { created_at: at },
            EventBody::Status {
                message: text.clone(),
            },
            EventBody::Thinking {
                node: 0,
                part: 1,
                offset: 2,
                text: text.clone(),
            },
            EventBody::TextDelta {
                node: 0,
                part: 1,
                offset: 2,
                text: text.clone(),
            },
            EventBody::ApprovalRequested(asked_call(None)),
            EventBody::ApprovalAnswered {
                index: 2,
                tool_use_id: text.clone(),
                allowed: true,
            },
            EventBody::ToolStart {
                call: asked_call(Some("this".into())),
                started_at: at,
            },
            EventBody::ToolProgress {
                index: 2,
                tool_use_id: text.clone(),
                tool: text.clone(),
                progress: progress(),
            },
            EventBody::ToolComplete {
                index: 2,
                tool_use_id: text.clone(),
                tool: text.clone(),
                label: text.clone(),
                status: ToolStatus::Failed,
                output: text.clone(),
                payload: Some(payload()),
                attachments: vec![attachment()],
                ended_at: at,
            },
            EventBody::Waiting { worked_ms: 7 },
            EventBody::SuggestedValues {
                values: vec![SuggestedValue {
                    label: text.clone(),
                    value: text.clone(),
                }],
            },
            EventBody::PayloadMade {
                node: 0,
                part: 1,
                payload: payload(),
            },
            EventBody::SuggestedActions { actions: Vec::new() },
            EventBody::ActionTaken { index: 1 },
            EventBody::PayloadJudged {
                payload_id: text.clone(),
                verdict: Verdict::Accepted,
            },
            EventBody::Sources {
                sources: vec![Source {
                    number: 1,
                    title: text.clone(),
                    url: text.clone(),
                }],
            },
            EventBody::Usage(usage()),
            EventBody::LiteratureChanged {
                change: Json::or_string(r#"{"article_removed":"11"}"#),
            },
            EventBody::Complete {
                ended_at: at,
                worked_ms: 1,
            },
            EventBody::Cancelled {
                ended_at: at,
                worked_ms: 2,
            },
            EventBody::Error {
                status: RunStatus::Failed,
                error,
                message: text,
                ended_at: at,
                worked_ms: 3,
            },
            EventBody::SettingsChanged,
            EventBody::Empty,
        ];
        for body in bodies {
            // A body that is added has to be added above and in `try_from`.
            match &body {
                EventBody::ConversationCreated { .. }
                | EventBody::ConversationRenamed { .. }
                | EventBody::ModelChosen { .. }
                | EventBody::ParametersChosen { .. }
                | EventBody::ConversationRead
                | EventBody::ConversationDeleted
                | EventBody::LeafSelected { .. }
                | EventBody::UserMessageSaved { .. }
                | EventBody::RunStarted { .. }
                | EventBody::RunContinued { .. }
                | EventBody::Status { .. }
                | EventBody::Thinking { .. }
                | EventBody::TextDelta { .. }
                | EventBody::ApprovalRequested(_)
                | EventBody::ApprovalAnswered { .. }
                | EventBody::ToolStart { .. }
                | EventBody::ToolProgress { .. }
                | EventBody::ToolComplete { .. }
                | EventBody::Waiting { .. }
                | EventBody::PayloadMade { .. }
                | EventBody::SuggestedValues { .. }
                | EventBody::SuggestedActions { .. }
                | EventBody::ActionTaken { .. }
                | EventBody::PayloadJudged { .. }
                | EventBody::Sources { .. }
                | EventBody::Usage(_)
                | EventBody::LiteratureChanged { .. }
                | EventBody::Complete { .. }
                | EventBody::Cancelled { .. }
                | EventBody::Error { .. }
                | EventBody::SettingsChanged
                | EventBody::Empty => {}
            }
            let conversation_id = match body {
                EventBody::SettingsChanged | EventBody::LiteratureChanged { .. } => ConversationId::NONE,
                _ => ConversationId::new(),
            };
            let event = Event {
                position: Position(7),
                conversation_id,
                message_id: Some(id),
                body,
            };
            let written = serde_json::to_vec(&event).unwrap();
            assert_eq!(serde_json::from_slice::<Event>(&written).unwrap(), event);
            assert_eq!(json::read(&written), Ok(event));
        }
    }

    #[test]
    fn every_message_reads_back_as_what_was_written() {
        let parts = vec![
            Part::Thinking { text: "why".into() },
            Part::Text { text: "what".into() },
            Part::Payload { payload: payload() },
            Part::ToolCall(Box::new(ToolCall {
                tool_use_id: "1".into(),
                index: 0,
                tool: "tool".into(),
                input: Json::or_string("{}"),
                label: "Doing".into(),
                detail: Some("this".into()),
                status: ToolStatus::Running,
                progress: Some(progress()),
                output: Some("that".into()),
                payload: None,
                attachments: vec![attachment(), attachment()],
                started_at: Some(Timestamp(1)),
                ended_at: None,
            })),
        ];
        let mut answer = AssistantMessage::started("endpoint/model");
        answer.nodes.push(Node { parts });
        answer.usage = Some(usage());
        answer.worked_ms = 12_345;
        answer.sources.push(Source {
            number: 2,
            title: "title".into(),
            url: "https://example.org".into(),
        });
        for body in [
            said(Interaction::TextInput),
            said(Interaction::ValueSelected),
            said(pressed(None)),
            said(pressed(Some(r#"{"a": "\""}"#))),
            MessageBody::Assistant(answer),
        ] {
            let message = Message {
                id: MessageId::new(),
                parent_id: None,
                created_at: Timestamp(1),
                body,
            };
            let written = serde_json::to_vec(&message.body).unwrap();
            assert_eq!(
                serde_json::from_slice::<MessageBody>(&written).unwrap(),
                message.body
            );
            let written = serde_json::to_vec(&message).unwrap();
            assert_eq!(serde_json::from_slice::<Message>(&written).unwrap(), message);
            assert_eq!(json::read(&written), Ok(message));
        }
    }

    #[test]
    fn every_notice_reads_back_as_what_was_written() {
        for notice in [Notice::Reset, Notice::Unavailable] {
            let written = serde_json::to_vec(&notice).unwrap();
            assert_eq!(serde_json::from_slice::<Notice>(&written).unwrap(), notice);
            assert_eq!(json::read(&written), Ok(notice));
        }
    }

    #[test]
    fn what_a_person_has_set_reads_back_as_what_was_written() {
        let token = |end| ApiToken {
            id: TokenId::new(),
            name: "script".into(),
            beginning: "parlor_1234".into(),
            created_at: Timestamp(1),
            expires_at: end,
            last_used_at: None,
        };
        let personal = Personal {
            instructions: "Be \"kind\".".into(),
            instructions_bytes: 10,
            remembers: true,
            memories: vec![Memory {
                id: MemoryId::new(),
                text: "likes tea".into(),
                created_at: Timestamp(2),
            }],
            tokens: vec![token(None), token(Some(Timestamp(3)))],
        };
        let written = serde_json::to_vec(&personal).unwrap();
        assert_eq!(json::read(&written), Ok(personal));
    }

    #[test]
    fn only_what_concerns_no_conversation_names_none() {
        let changed = Event {
            position: Position(7),
            conversation_id: ConversationId::NONE,
            message_id: None,
            body: EventBody::SettingsChanged,
        };
        let json = serde_json::json!({ "position": 7, "type": "settings_changed" });
        assert_eq!(serde_json::to_value(&changed).unwrap(), json);
        let json = serde_json::json!({ "position": 7, "type": "conversation_read" });
        let error = serde_json::from_value::<Event>(json).unwrap_err();
        assert_eq!(error.to_string(), "the field `conversation_id` is missing");
    }

    #[test]
    fn what_is_missing_or_unknown_is_named() {
        let read = |kind: &str| {
            let json =
                serde_json::json!({ "position": 1, "conversation_id": ConversationId::new(), "type": kind });
            serde_json::from_value::<Event>(json).unwrap_err().to_string()
        };
        assert_eq!(read("status"), "the field `message` is missing");
        assert_eq!(read("news"), "`news` is not known");
    }
}
