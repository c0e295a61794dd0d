//! Identifiers. Each is a UUIDv7 (RFC 9562), so that later ids sort later, and each has its own type.

use std::{
    borrow::Cow,
    fmt,
    str::FromStr,
    time::{SystemTime, UNIX_EPOCH},
};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// Creates an id that is later than all that were made before it on this machine.
            pub fn new() -> Self {
                Self(new())
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(s: &str) -> Result<Self, Self::Err> {
                s.parse().map(Self)
            }
        }

        /// All ids share one schema: programs need no types of ids.
        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                "Id".into()
            }

            fn schema_id() -> Cow<'static, str> {
                "Id".into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "description": "A UUID. Later ids sort after earlier ones.",
                    "type": "string",
                    "format": "uuid",
                })
            }
        }
    };
}

/// Creates a UUID. `Uuid::now_v7` alone panics on a clock before 1970; with such a clock the ids have no
/// order.
fn new() -> Uuid {
    // The browser's clock is read through another API, which accepts any time.
    if cfg!(target_family = "wasm") {
        return Uuid::now_v7();
    }
    new_at(SystemTime::now())
}

fn new_at(now: SystemTime) -> Uuid {
    if now < UNIX_EPOCH {
        return Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, 0, 0));
    }
    Uuid::now_v7()
}

id!(
    /// The owner of a row or an event. Every row and every query has one.
    UserId
);
id!(
    /// A conversation. The client makes the id, so that it is final before the server has seen it.
    ConversationId
);
id!(
    /// A message. An assistant message's id is also the id of the run that produces it.
    MessageId
);
id!(
    /// A file of the user or of a tool.
    AttachmentId
);
id!(
    /// A memory: a fact about the user that is kept across conversations.
    MemoryId
);
id!(
    /// One model call, in the diagnostics.
    ModelCallId
);
id!(
    /// A research stream: a saved query.
    ResearchStreamId
);
id!(
    /// A project: conversations that belong together. The client makes the id.
    ProjectId
);
id!(
    /// A schedule: a prompt with the times at which it is sent. The client makes the id.
    ScheduleId
);
id!(
    /// A job. The client makes the id, so that the same request twice starts one job.
    JobId
);
id!(
    /// A column: a question about each row of something. The client makes the id.
    ColumnId
);
id!(
    /// An API token's id, which is not the token itself.
    TokenId
);
id!(
    /// A session's id, which is not its secret.
    SessionId
);
id!(
    /// The id of a one-time link to an account, which is not its secret.
    LinkId
);
id!(
    /// The id of a share of a conversation, which is not the secret of its link.
    ShareId
);
id!(
    /// A model server that was added in the page.
    EndpointId
);
id!(
    /// One intent of a user (send, regenerate …). The same id twice is done once.
    IntentId
);

impl ConversationId {
    /// The id in events that are about no conversation. On the wire the field is then absent.
    pub const NONE: Self = Self(Uuid::nil());

    pub fn is_none(&self) -> bool {
        *self == Self::NONE
    }
}

impl UserId {
    /// The only user without accounts.
    pub const LOCAL: Self = Self(Uuid::from_u128(1));
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn ids_differ_before_1970() {
        let early = UNIX_EPOCH - Duration::from_secs(1);
        let (first, second) = (new_at(early), new_at(early));
        assert_ne!(first, second);
        let seconds = |id: Uuid| id.get_timestamp().map(|time| time.to_unix().0);
        assert_eq!((first.get_version_num(), seconds(first)), (7, Some(0)));
        // Later ids sort later, and so after all of an early clock.
        let (third, fourth) = (MessageId::new(), MessageId::new());
        assert!(first < third.0 && third < fourth);
    }
}
