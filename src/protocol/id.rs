//! Identifiers. Each is a UUIDv7 (RFC 9562), so that ids made later sort later, and each has a type of its own.

use std::{
    fmt,
    str::FromStr,
    time::{SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// A new id, later than all that were made before it on this machine.
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
    };
}

/// A new id. `Uuid::now_v7` alone panics on a clock that stands before 1970; then the ids are in no order.
fn new() -> Uuid {
    // The browser's clock is read in another way, which takes any time.
    if !cfg!(target_family = "wasm") && SystemTime::now() < UNIX_EPOCH {
        return Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, 0, 0));
    }
    Uuid::now_v7()
}

id!(
    /// Whose data a row or an event is. Every row and every query has one.
    UserId
);
id!(
    /// A conversation; made by the client, so that it is final before the server has seen it.
    ConversationId
);
id!(
    /// A message. An assistant message's id is also the id of the run that produces it.
    MessageId
);
id!(
    /// A file that a tool has given.
    AttachmentId
);
id!(
    /// One thing that is remembered of a person.
    MemoryId
);
id!(
    /// One call of a model, as the diagnostics know it.
    CallId
);
id!(
    /// A stream of research: a query that is kept.
    StreamId
);
id!(
    /// An API token; not the token itself.
    TokenId
);
id!(
    /// One intent of a person (send, regenerate …). The same id twice does it once.
    IntentId
);

impl ConversationId {
    /// Stands in events that are about no conversation. On the wire there is none then.
    pub const NONE: Self = Self(Uuid::nil());

    pub fn is_none(&self) -> bool {
        *self == Self::NONE
    }
}

impl UserId {
    /// The one user there is until there are accounts.
    pub const LOCAL: Self = Self(Uuid::from_u128(1));
}
