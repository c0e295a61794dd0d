//! Events: every change to what a user sees, in one ordered log per user.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::{ConversationId, MessageId, ProjectId, RawJson, RunStatus, flat_json::Fields};

pub use self::{conversation::ConversationEvent, run::RunEvent};

mod conversation;
mod run;

/// A position in a user's log: 1, 2, 3 … without gaps. 0 is before the first event.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Position(pub u64);

impl Position {
    /// The position that follows this one.
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// One entry of a user's log: the `data` of a frame whose `id` is the position. One flat JSON object. More types will be
/// added: ignore unknown ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct Event {
    pub position: Position,
    /// The conversation.
    // `ConversationId::NONE` if the event is about the user and no conversation.
    #[serde(skip_serializing_if = "ConversationId::is_none")]
    pub conversation_id: ConversationId,
    /// The answer that the event is about, and its run.
    // `None` if the event is about the whole conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    #[serde(flatten)]
    pub body: EventBody,
}

/// The kind of an event, with its data. Each family is one enum, and each reader of events matches its kinds without
/// `_`: it does not compile until it says what a new kind means to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum EventBody {
    /// About a conversation: its name, model, branch, messages or queue.
    Conversation(ConversationEvent),
    /// About a run or its answer, which [`Event::message_id`] names.
    Run(RunEvent),
    /// About the user. The event has no conversation.
    User(UserEvent),
    /// In the place of an event.
    Placeholder(Placeholder),
}

/// An event about the user, without a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum UserEvent {
    /// The user's saved articles or research streams changed. The event has no conversation.
    // The change is a `literature::LibraryChange`, kept as JSON and parsed only by the code that shows it.
    LiteratureChanged { change: RawJson },
    /// A job of the user began, changed or was deleted. The event has no conversation.
    // The change is a `job::JobUpdate`, kept as JSON like that of the literature.
    JobChanged { change: RawJson },
    /// A project of the user was created, changed or deleted. The event has no conversation, and not the project: load it. The
    /// conversations of a deleted one are in none from now on.
    ProjectChanged {
        project_id: ProjectId,
        /// True if it was deleted; missing if not.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        deleted: bool,
    },
    /// The user's settings, memories, schedules, columns or shares changed. The event has no conversation and not the new values: load them.
    SettingsChanged,
    /// The models to choose from may have changed. The event has no conversation: request the list again.
    ModelsChanged,
}

/// An entry of the log without the event that was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Placeholder {
    /// A placeholder for a deleted event, which keeps its position. It has a conversation only if the original had one.
    Empty,
    /// The stored event can't be read. Continue after it and load what you show again: that includes its effects.
    Damaged,
}

macro_rules! families {
    ($($family:ident($event:ident),)*) => {
        $(impl From<$event> for EventBody {
            fn from(event: $event) -> Self {
                Self::$family(event)
            }
        })*
    };
}

families! {
    Conversation(ConversationEvent),
    Run(RunEvent),
    User(UserEvent),
    Placeholder(Placeholder),
}

/// One `oneOf` of all kinds, since there are no families on the wire. The derived schema would be an `anyOf` of them.
impl JsonSchema for EventBody {
    fn schema_name() -> Cow<'static, str> {
        "EventBody".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let families = [
            ConversationEvent::json_schema(generator),
            RunEvent::json_schema(generator),
            UserEvent::json_schema(generator),
            Placeholder::json_schema(generator),
        ];
        let kinds = families
            .iter()
            .filter_map(|family| family.get("oneOf")?.as_array())
            .flatten();
        json_schema!({ "oneOf": kinds.collect::<Vec<_>>() })
    }
}

impl EventBody {
    /// The status that this event gives to its run, if it is the run's last one.
    pub fn terminal_status(&self) -> Option<RunStatus> {
        match self {
            Self::Run(event) => event.terminal_status(),
            Self::Conversation(_) | Self::User(_) | Self::Placeholder(_) => None,
        }
    }

    /// Returns true for more text of an answer, which only its transcript shows.
    pub fn is_streamed_text(&self) -> bool {
        matches!(
            self,
            Self::Run(RunEvent::TextDelta { .. } | RunEvent::Thinking { .. })
        )
    }
}

/// A notice of the stream about itself. It has no position and no `id`, and the stream ends with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", try_from = "Fields")]
#[schemars(!try_from, rename = "Notice")]
pub enum StreamNotice {
    /// The log does not reach back to the requested position: load snapshots again.
    Reset,
    /// The log can't be read at the moment: reconnect with the same position.
    Unavailable,
    /// The log is damaged and can't be read from the requested position. Reconnecting does not help: load snapshots.
    LogDamaged,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_serializes_as_flat_contract_object() {
        let conversation_id = ConversationId::new();
        let message_id = MessageId::new();
        let event = Event {
            position: Position(7),
            conversation_id,
            message_id: Some(message_id),
            body: EventBody::Run(RunEvent::TextDelta {
                node: 0,
                part: 1,
                offset: 5,
                text: "hi".into(),
            }),
        };
        let json = serde_json::to_value(&event).unwrap();
        assert_eq!(
            json,
            serde_json::json!({
                "position": 7, "conversation_id": conversation_id, "message_id": message_id,
                "type": "text_delta", "node": 0, "part": 1, "offset": 5, "text": "hi",
            })
        );
        assert_eq!(serde_json::from_value::<Event>(json).unwrap(), event);
    }
}
