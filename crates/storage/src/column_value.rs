//! The form that ids, times, positions and enums have in columns, the same in every database.
//!
//! Reading is not here: a damaged row must cost only itself, so each backend reads its columns one by one.

use parlor_protocol::{
    AttachmentId, ColumnId, ConversationId, EndpointId, FileProblem, IntentId, JobId, LinkId, MemoryId,
    MessageId, ModelCallId, Position, ProjectId, ResearchStreamId, Role, RunStatus, ScheduleId, SessionId,
    ShareId, Timestamp, TokenId, UserId, Verdict,
};
use uuid::Uuid;

use crate::{TokenHash, accounts::SignInMethod, audit::AuditAction, jobs::Owner, usage::Day};

/// A value that is stored in a column of another type.
pub(crate) trait ColumnValue {
    /// The type of the column.
    type Column;

    fn column(self) -> Self::Column;
}

impl<V: ColumnValue + Copy> ColumnValue for &V {
    type Column = V::Column;

    fn column(self) -> V::Column {
        (*self).column()
    }
}

impl<V: ColumnValue> ColumnValue for Option<V> {
    type Column = Option<V::Column>;

    fn column(self) -> Option<V::Column> {
        self.map(V::column)
    }
}

/// Ids are text.
macro_rules! column_values_of_ids {
    ($($id:ty),* $(,)?) => {$(
        impl ColumnValue for $id {
            type Column = String;

            fn column(self) -> String {
                self.to_string()
            }
        }
    )*};
}

column_values_of_ids!(
    AttachmentId,
    ConversationId,
    EndpointId,
    IntentId,
    ColumnId,
    JobId,
    MemoryId,
    LinkId,
    MessageId,
    ModelCallId,
    Owner,
    ProjectId,
    ResearchStreamId,
    ScheduleId,
    SessionId,
    ShareId,
    TokenId,
    UserId,
    Uuid,
);

/// Enums are their names.
macro_rules! column_values_of_enums {
    ($($name:ty),* $(,)?) => {$(
        impl ColumnValue for $name {
            type Column = &'static str;

            fn column(self) -> &'static str {
                self.as_str()
            }
        }
    )*};
}

column_values_of_enums!(AuditAction, FileProblem, Verdict, Role, RunStatus, SignInMethod);

impl ColumnValue for Position {
    type Column = i64;

    fn column(self) -> i64 {
        self.0.cast_signed()
    }
}

/// Milliseconds.
impl ColumnValue for Timestamp {
    type Column = i64;

    fn column(self) -> i64 {
        self.0
    }
}

impl ColumnValue for Day {
    type Column = i64;

    fn column(self) -> i64 {
        self.0
    }
}

/// A count or limit. One that no column can have is the largest.
impl ColumnValue for usize {
    type Column = i64;

    fn column(self) -> i64 {
        i64::try_from(self).unwrap_or(i64::MAX)
    }
}

impl ColumnValue for u64 {
    type Column = i64;

    fn column(self) -> i64 {
        i64::try_from(self).unwrap_or(i64::MAX)
    }
}

impl ColumnValue for TokenHash {
    type Column = Vec<u8>;

    fn column(self) -> Vec<u8> {
        self.0.to_vec()
    }
}
