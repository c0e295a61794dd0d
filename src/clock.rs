//! The one place where the server asks what time it is.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::protocol::Timestamp;

/// Now, in milliseconds. A clock before 1970 counts as 1970.
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
