//! Reading of flat JSON: an event or a message is one object, with a field that names its kind.
//!
//! serde's derived reading was weighed (`flatten` with a tagged enum; writing is derived). It buffers the object
//! and reads from the buffer with a second set of deserializers, which made the WASM larger, and from that
//! buffer serde_json's `RawValue` cannot be read (“invalid type: newtype struct”), so a tool's arguments could
//! not be kept as they are. A plain struct of all possible fields has code for each of them as well. Here the
//! object is split into raw fields, and each kind then parses those that it needs.

mod events;
mod objects;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, MapAccess, Visitor},
};
use uuid::Uuid;

use super::{
    Attachment, AttachmentId, ConversationId, Dollars, ListedConversation, MemoryId, MessageId, Parameters,
    PayloadRef, Position, Project, ProjectColour, ProjectId, QueuedMessage, RawJson, RunError, RunStatus,
    Schedule, ScheduleId, SharedProject, Timestamp, TokenId, ToolStatus, Verdict, json,
    search::{HitKind, Snippet},
};

/// The error of an object that can't be read.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    #[error("the field `{0}` is missing")]
    Missing(&'static str),
    #[error("the field `{0}` can't be read")]
    Unreadable(&'static str),
    #[error("`{0}` is not known")]
    Unknown(String),
}

/// The fields of an object that have not been read yet.
pub struct Fields {
    fields: Vec<(String, RawJson)>,
    /// The first error.
    first_error: Option<ObjectError>,
}

impl Fields {
    /// Returns all fields.
    pub fn into_entries(self) -> Vec<(String, RawJson)> {
        self.fields
    }

    /// Reads an optional field: `null` is the same as absent.
    fn take<T: DeserializeOwned>(&mut self, name: &'static str) -> Option<T> {
        let value = self.remove(name)?;
        (value.as_str() != "null").then(|| self.parse(name, &value))?
    }

    fn parse<T: DeserializeOwned>(&mut self, name: &'static str, value: &RawJson) -> Option<T> {
        let parsed = json::parse(value.as_str().as_bytes());
        if parsed.is_err() {
            self.record_error(ObjectError::Unreadable(name));
        }
        parsed.ok()
    }

    /// Reads a required field. If it is missing, a blank value takes its place until [`Self::finish`] returns
    /// the error: an early return after each field made the WASM larger. `null` is a value: it is kept where
    /// any JSON is allowed.
    fn take_required<T: DeserializeOwned + Blank>(&mut self, name: &'static str) -> T {
        let parsed = match self.remove(name) {
            Some(value) => self.parse(name, &value),
            None => {
                self.record_error(ObjectError::Missing(name));
                None
            }
        };
        parsed.unwrap_or_else(T::blank)
    }

    fn remove(&mut self, name: &str) -> Option<RawJson> {
        let index = self.fields.iter().position(|(key, _)| key == name)?;
        Some(self.fields.remove(index).1)
    }

    fn record_error(&mut self, error: ObjectError) {
        self.first_error.get_or_insert(error);
    }

    /// Returns the value, or the first error.
    fn finish<T>(self, value: T) -> Result<T, ObjectError> {
        match self.first_error {
            None => Ok(value),
            Some(error) => Err(error),
        }
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;

        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Fields, M::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields {
                    fields,
                    first_error: None,
                })
            }
        }

        deserializer.deserialize_map(FieldsVisitor)
    }
}

/// A type with a placeholder for a field that could not be read.
trait Blank {
    /// Returns the placeholder. It never leaves this module.
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
    u64: 0,
    String: String::new(),
    RawJson: RawJson::zero(),
    Position: Position(0),
    Timestamp: Timestamp(0),
    ConversationId: ConversationId(Uuid::nil()),
    MessageId: MessageId(Uuid::nil()),
    AttachmentId: AttachmentId(Uuid::nil()),
    MemoryId: MemoryId(Uuid::nil()),
    TokenId: TokenId(Uuid::nil()),
    ProjectId: ProjectId(Uuid::nil()),
    Project: Project { name: String::new(), colour: ProjectColour::Grey, instructions: String::new(), model: None, disabled_tools: Vec::new() },
    SharedProject: SharedProject { id: ProjectId(Uuid::nil()), name: String::new(), colour: ProjectColour::Grey, owner: String::new() },
    ScheduleId: ScheduleId(Uuid::nil()),
    Schedule: Schedule {
        name: String::new(), prompt: String::new(), stream_id: None, model: None, tools: Vec::new(), days: Vec::new(), time: String::new(),
        time_zone: String::new(), ends_on: None, only_new: false, run_limit: None, month_limit: None, is_paused: false
    },
    RunStatus: RunStatus::Failed,
    Verdict: Verdict::Rejected,
    ToolStatus: ToolStatus::Unknown,
    RunError: RunError { code: String::new(), message: String::new(), hint: String::new() },
    PayloadRef: PayloadRef {
        payload_id: String::new(), kind: String::new(), summary: String::new(), preview_rows: None
    },
    Attachment: Attachment {
        id: AttachmentId(Uuid::nil()), name: String::new(), media_type: String::new(), bytes: 0, width: None, height: None,
        text_bytes: None, problem: None
    },
    Parameters: Parameters::default(),
    ListedConversation: ListedConversation {
        id: ConversationId(Uuid::nil()), title: String::new(), updated_at: Timestamp(0), activity: Position(0), active_run: None,
        waiting: false, unseen: false, pinned: false, archived: false, temporary: false, project_id: None
    },
    QueuedMessage: QueuedMessage {
        id: MessageId(Uuid::nil()), text: String::new(), files: Vec::new(), created_at: Timestamp(0)
    },
    Dollars: Dollars::default(),
    HitKind: HitKind::Title,
    Snippet: Snippet::default(),
}

impl<T> Blank for Vec<T> {
    fn blank() -> Self {
        Self::new()
    }
}
