//! Reading what is flat on the wire: an event or a message is one JSON object, with a word that says which kind it is.
//!
//! serde can derive that reading as well (`flatten` with a tagged enum), but what it derives keeps the object in a
//! buffer of its own and reads from there with a second set of everything: a tenth of the WASM. Here the object is
//! read into a plain struct of all fields that there may be, and the kind then takes those that it needs.

use serde::Deserialize;

use super::{
    AssistantMessage, ConversationId, Event, EventBody, Message, MessageBody, MessageId, Node, Part, Position,
    RunError, RunStatus, Timestamp,
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
    status: Option<RunStatus>,
    error: Option<RunError>,
}

/// `fields!(flat => Kind { a, b; c })`: the kind with these fields, of which only those after the semicolon may be
/// missing.
macro_rules! fields {
    ($flat:ident => $($kind:ident)::+ { $($field:ident),* $(; $($optional:ident),*)? }) => {
        $($kind)::+ {
            $($field: $flat.$field.ok_or(NotOurs::Missing(stringify!($field)))?,)*
            $($($optional: $flat.$optional,)*)?
        }
    };
}

impl TryFrom<FlatEvent> for Event {
    type Error = NotOurs;

    fn try_from(flat: FlatEvent) -> Result<Self, NotOurs> {
        let body = match flat.r#type.as_str() {
            "conversation_created" => fields!(flat => EventBody::ConversationCreated { title, created_at }),
            "conversation_renamed" => fields!(flat => EventBody::ConversationRenamed { title }),
            "model_chosen" => fields!(flat => EventBody::ModelChosen { model }),
            "conversation_deleted" => EventBody::ConversationDeleted,
            "leaf_selected" => fields!(flat => EventBody::LeafSelected { leaf_id }),
            "user_message_saved" => fields!(flat => EventBody::UserMessageSaved {
                user_message_id, expected_assistant_message_id, text, created_at; parent_id
            }),
            "run_started" => fields!(flat => EventBody::RunStarted { parent_id, model, created_at }),
            "status" => fields!(flat => EventBody::Status { message }),
            "thinking" => fields!(flat => EventBody::Thinking { node, part, offset, text }),
            "text_delta" => fields!(flat => EventBody::TextDelta { node, part, offset, text }),
            "complete" => fields!(flat => EventBody::Complete { ended_at }),
            "cancelled" => fields!(flat => EventBody::Cancelled { ended_at }),
            "error" => fields!(flat => EventBody::Error { status, error, message, ended_at }),
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
    ended_at: Option<Timestamp>,
}

impl TryFrom<FlatMessage> for Message {
    type Error = NotOurs;

    fn try_from(flat: FlatMessage) -> Result<Self, NotOurs> {
        let body = match flat.role.as_str() {
            "user" => fields!(flat => MessageBody::User { text }),
            "assistant" => MessageBody::Assistant(fields!(flat => AssistantMessage {
                model, status, nodes; activity, error, ended_at
            })),
            _ => return Err(NotOurs::Unknown(flat.role)),
        };
        Ok(Self {
            id: flat.id,
            parent_id: flat.parent_id,
            created_at: flat.created_at,
            body,
        })
    }
}

/// Every field of a [`Part`].
#[derive(Deserialize)]
pub struct FlatPart {
    r#type: String,
    text: String,
}

impl TryFrom<FlatPart> for Part {
    type Error = NotOurs;

    fn try_from(FlatPart { r#type, text }: FlatPart) -> Result<Self, NotOurs> {
        match r#type.as_str() {
            "thinking" => Ok(Self::Thinking { text }),
            "text" => Ok(Self::Text { text }),
            _ => Err(NotOurs::Unknown(r#type)),
        }
    }
}
