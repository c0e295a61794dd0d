//! Reading what is flat on the wire: an event or a message is one JSON object, with a word that says which kind it is.
//!
//! serde can derive that reading as well (`flatten` with a tagged enum), but what it derives keeps the object in a
//! buffer of its own and reads from there with a second set of everything, which made the WASM larger. Here the object is
//! read into a plain struct of all fields that there may be, and the kind then takes those that it needs.

use serde::{
    Deserialize,
    de::{DeserializeOwned, value::StringDeserializer},
};

use super::{
    AssistantMessage, ConversationId, Event, EventBody, Fraction, Json, Message, MessageBody, MessageId,
    Node, Notice, Part, PayloadRef, Position, RunError, RunStatus, Source, SuggestedAction, SuggestedValue,
    Timestamp, ToolCall, ToolProgress, ToolStatus, json,
};

/// Why an object is not one of ours.
#[derive(Debug, thiserror::Error)]
pub enum NotOurs {
    #[error("the field `{0}` is missing")]
    Missing(&'static str),
    #[error("`{0}` is not known")]
    Unknown(String),
}

/// Every field of an [`Event`].
#[derive(Deserialize)]
pub struct FlatEvent {
    position: Position,
    conversation_id: ConversationId,
    message_id: Option<MessageId>,
    r#type: String,
    title: Option<String>,
    created_at: Option<Timestamp>,
    ended_at: Option<Timestamp>,
    model: Option<String>,
    leaf_id: Option<MessageId>,
    user_message_id: Option<MessageId>,
    expected_assistant_message_id: Option<MessageId>,
    parent_id: Option<MessageId>,
    text: Option<String>,
    message: Option<String>,
    node: Option<usize>,
    part: Option<usize>,
    offset: Option<usize>,
    /// A run's or a tool call's.
    status: Option<String>,
    error: Option<RunError>,
    index: Option<usize>,
    tool_use_id: Option<String>,
    tool: Option<String>,
    input: Option<Json>,
    label: Option<String>,
    detail: Option<String>,
    allowed: Option<bool>,
    stage: Option<String>,
    progress: Option<Fraction>,
    data: Option<Json>,
    output: Option<String>,
    payload: Option<PayloadRef>,
    started_at: Option<Timestamp>,
    values: Option<Vec<SuggestedValue>>,
    actions: Option<Vec<SuggestedAction>>,
    sources: Option<Vec<Source>>,
}

/// `fields!(flat => Kind { a, b; c } with d)`: the kind with these fields, of which only those after the semicolon may be
/// missing. Those of `with` were read before.
macro_rules! fields {
    (
        $flat:ident => $($kind:ident)::+ { $($field:ident),* $(; $($optional:ident),*)? } $(with $($read:ident),+)?
    ) => {
        $($kind)::+ {
            $($field: $flat.$field.ok_or(NotOurs::Missing(stringify!($field)))?,)*
            $($($optional: $flat.$optional,)*)?
            $($($read,)+)?
        }
    };
}

/// A status of whichever kind; events of different kinds have different ones.
fn word<T: DeserializeOwned>(status: Option<String>) -> Result<T, NotOurs> {
    let status = status.ok_or(NotOurs::Missing("status"))?;
    let read = T::deserialize(StringDeserializer::<json::Unreadable>::new(status.clone()));
    read.map_err(|_| NotOurs::Unknown(status))
}

impl TryFrom<FlatEvent> for Event {
    type Error = NotOurs;

    fn try_from(mut flat: FlatEvent) -> Result<Self, NotOurs> {
        let body = match flat.r#type.as_str() {
            "conversation_created" => fields!(flat => EventBody::ConversationCreated { title, created_at }),
            "conversation_renamed" => fields!(flat => EventBody::ConversationRenamed { title }),
            "model_chosen" => fields!(flat => EventBody::ModelChosen { model }),
            "conversation_read" => EventBody::ConversationRead,
            "conversation_deleted" => EventBody::ConversationDeleted,
            "leaf_selected" => fields!(flat => EventBody::LeafSelected { leaf_id }),
            "user_message_saved" => fields!(flat => EventBody::UserMessageSaved {
                user_message_id, expected_assistant_message_id, text, created_at; parent_id
            }),
            "run_started" => fields!(flat => EventBody::RunStarted { parent_id, model, created_at }),
            "run_continued" => fields!(flat => EventBody::RunContinued { created_at }),
            "status" => fields!(flat => EventBody::Status { message }),
            "thinking" => fields!(flat => EventBody::Thinking { node, part, offset, text }),
            "text_delta" => fields!(flat => EventBody::TextDelta { node, part, offset, text }),
            "complete" => fields!(flat => EventBody::Complete { ended_at }),
            "cancelled" => fields!(flat => EventBody::Cancelled { ended_at }),
            "error" => {
                let status = word(flat.status.take())?;
                fields!(flat => EventBody::Error { error, message, ended_at } with status)
            }
            "approval_requested" => fields!(flat => EventBody::ApprovalRequested {
                node, part, index, tool_use_id, tool, input, label; detail
            }),
            "approval_answered" => {
                fields!(flat => EventBody::ApprovalAnswered { index, tool_use_id, allowed })
            }
            "tool_start" => fields!(flat => EventBody::ToolStart {
                node, part, index, tool_use_id, tool, input, label, started_at; detail
            }),
            "tool_progress" => {
                let progress = ToolProgress {
                    stage: flat.stage.take().unwrap_or_default(),
                    message: flat.message.take().unwrap_or_default(),
                    progress: flat.progress.take(),
                    data: flat.data.take(),
                };
                fields!(flat => EventBody::ToolProgress { index, tool_use_id, tool } with progress)
            }
            "tool_complete" => {
                let status = word(flat.status.take())?;
                fields!(flat => EventBody::ToolComplete {
                    index, tool_use_id, tool, label, output, ended_at; payload
                } with status)
            }
            "waiting" => EventBody::Waiting,
            "payload_made" => fields!(flat => EventBody::PayloadMade { node, part, payload }),
            "suggested_values" => fields!(flat => EventBody::SuggestedValues { values }),
            "suggested_actions" => fields!(flat => EventBody::SuggestedActions { actions }),
            "sources" => fields!(flat => EventBody::Sources { sources }),
            "empty" => EventBody::Empty,
            _ => return Err(NotOurs::Unknown(flat.r#type)),
        };
        Ok(Self {
            position: flat.position,
            conversation_id: flat.conversation_id,
            message_id: flat.message_id,
            body,
        })
    }
}

/// Every field of a [`Message`].
#[derive(Deserialize)]
pub struct FlatMessage {
    id: MessageId,
    parent_id: Option<MessageId>,
    created_at: Timestamp,
    role: String,
    text: Option<String>,
    model: Option<String>,
    status: Option<RunStatus>,
    nodes: Option<Vec<Node>>,
    activity: Option<String>,
    error: Option<RunError>,
    suggested_values: Option<Vec<SuggestedValue>>,
    suggested_actions: Option<Vec<SuggestedAction>>,
    sources: Option<Vec<Source>>,
    ended_at: Option<Timestamp>,
}

impl TryFrom<FlatMessage> for Message {
    type Error = NotOurs;

    fn try_from(flat: FlatMessage) -> Result<Self, NotOurs> {
        let (id, parent_id, created_at) = (flat.id, flat.parent_id, flat.created_at);
        let body = FlatBody {
            role: flat.role,
            text: flat.text,
            model: flat.model,
            status: flat.status,
            nodes: flat.nodes,
            activity: flat.activity,
            error: flat.error,
            suggested_values: flat.suggested_values,
            suggested_actions: flat.suggested_actions,
            sources: flat.sources,
            ended_at: flat.ended_at,
        };
        Ok(Self {
            id,
            parent_id,
            created_at,
            body: body.try_into()?,
        })
    }
}

/// Every field of a [`MessageBody`].
#[derive(Deserialize)]
pub struct FlatBody {
    role: String,
    text: Option<String>,
    model: Option<String>,
    status: Option<RunStatus>,
    nodes: Option<Vec<Node>>,
    activity: Option<String>,
    error: Option<RunError>,
    suggested_values: Option<Vec<SuggestedValue>>,
    suggested_actions: Option<Vec<SuggestedAction>>,
    sources: Option<Vec<Source>>,
    ended_at: Option<Timestamp>,
}

impl TryFrom<FlatBody> for MessageBody {
    type Error = NotOurs;

    fn try_from(mut flat: FlatBody) -> Result<Self, NotOurs> {
        let suggested_values = flat.suggested_values.take().unwrap_or_default();
        let suggested_actions = flat.suggested_actions.take().unwrap_or_default();
        let sources = flat.sources.take().unwrap_or_default();
        Ok(match flat.role.as_str() {
            "user" => fields!(flat => Self::User { text }),
            "assistant" => Self::Assistant(fields!(flat => AssistantMessage {
                model, status, nodes; activity, error, ended_at
            } with suggested_values, suggested_actions, sources)),
            _ => return Err(NotOurs::Unknown(flat.role)),
        })
    }
}

/// Every field of a [`Part`].
#[derive(Deserialize)]
pub struct FlatPart {
    r#type: String,
    text: Option<String>,
    tool_use_id: Option<String>,
    index: Option<usize>,
    tool: Option<String>,
    input: Option<Json>,
    label: Option<String>,
    detail: Option<String>,
    status: Option<ToolStatus>,
    progress: Option<ToolProgress>,
    output: Option<String>,
    payload: Option<PayloadRef>,
    started_at: Option<Timestamp>,
    ended_at: Option<Timestamp>,
}

impl TryFrom<FlatPart> for Part {
    type Error = NotOurs;

    fn try_from(flat: FlatPart) -> Result<Self, NotOurs> {
        Ok(match flat.r#type.as_str() {
            "thinking" => fields!(flat => Self::Thinking { text }),
            "text" => fields!(flat => Self::Text { text }),
            "payload" => fields!(flat => Self::Payload { payload }),
            "tool_call" => Self::ToolCall(Box::new(fields!(flat => ToolCall {
                tool_use_id, index, tool, input, label, status; detail, progress, output, payload, started_at, ended_at
            }))),
            _ => return Err(NotOurs::Unknown(flat.r#type)),
        })
    }
}

/// Every field of a [`Notice`].
#[derive(Deserialize)]
pub struct FlatNotice {
    r#type: String,
}

impl TryFrom<FlatNotice> for Notice {
    type Error = NotOurs;

    fn try_from(FlatNotice { r#type }: FlatNotice) -> Result<Self, NotOurs> {
        match r#type.as_str() {
            "reset" => Ok(Self::Reset),
            "unavailable" => Ok(Self::Unavailable),
            _ => Err(NotOurs::Unknown(r#type)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress() -> ToolProgress {
        ToolProgress {
            stage: "searching".into(),
            message: "Found 15 articles".into(),
            progress: Some(Fraction::of(1, 3)),
            data: Some(Json::or_string("[1.5]")),
        }
    }

    fn payload() -> PayloadRef {
        PayloadRef {
            payload_id: "abc12345".into(),
            kind: "table".into(),
            summary: "Table (3)".into(),
        }
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
            EventBody::ConversationRead,
            EventBody::ConversationDeleted,
            EventBody::LeafSelected { leaf_id: id },
            EventBody::UserMessageSaved {
                user_message_id: id,
                expected_assistant_message_id: MessageId::new(),
                parent_id: None,
                text: text.clone(),
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
            EventBody::ApprovalRequested {
                node: 0,
                part: 1,
                index: 2,
                tool_use_id: text.clone(),
                tool: text.clone(),
                input: Json::or_string(r#"{"a": [0.5, "}"]}"#),
                label: text.clone(),
                detail: None,
            },
            EventBody::ApprovalAnswered {
                index: 2,
                tool_use_id: text.clone(),
                allowed: true,
            },
            EventBody::ToolStart {
                node: 0,
                part: 1,
                index: 2,
                tool_use_id: text.clone(),
                tool: text.clone(),
                input: Json::or_string("not JSON"),
                label: text.clone(),
                detail: Some(text.clone()),
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
                ended_at: at,
            },
            EventBody::Waiting,
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
            EventBody::Sources {
                sources: vec![Source {
                    title: text.clone(),
                    url: text.clone(),
                }],
            },
            EventBody::Complete { ended_at: at },
            EventBody::Cancelled { ended_at: at },
            EventBody::Error {
                status: RunStatus::Failed,
                error,
                message: text,
                ended_at: at,
            },
            EventBody::Empty,
        ];
        for body in bodies {
            // A body that is added has to be added above and in `try_from`.
            match &body {
                EventBody::ConversationCreated { .. }
                | EventBody::ConversationRenamed { .. }
                | EventBody::ModelChosen { .. }
                | EventBody::ConversationRead
                | EventBody::ConversationDeleted
                | EventBody::LeafSelected { .. }
                | EventBody::UserMessageSaved { .. }
                | EventBody::RunStarted { .. }
                | EventBody::RunContinued { .. }
                | EventBody::Status { .. }
                | EventBody::Thinking { .. }
                | EventBody::TextDelta { .. }
                | EventBody::ApprovalRequested { .. }
                | EventBody::ApprovalAnswered { .. }
                | EventBody::ToolStart { .. }
                | EventBody::ToolProgress { .. }
                | EventBody::ToolComplete { .. }
                | EventBody::Waiting
                | EventBody::PayloadMade { .. }
                | EventBody::SuggestedValues { .. }
                | EventBody::SuggestedActions { .. }
                | EventBody::Sources { .. }
                | EventBody::Complete { .. }
                | EventBody::Cancelled { .. }
                | EventBody::Error { .. }
                | EventBody::Empty => {}
            }
            let event = Event {
                position: Position(7),
                conversation_id: ConversationId::new(),
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
                started_at: Some(Timestamp(1)),
                ended_at: None,
            })),
        ];
        let mut answer = AssistantMessage::started("endpoint/model");
        answer.nodes.push(Node { parts });
        answer.sources.push(Source {
            title: "title".into(),
            url: "https://example.org".into(),
        });
        for body in [
            MessageBody::User { text: "hi".into() },
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
