//! The one place where the server asks what time it is, and how models are told of a time.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::tz::TimeZone;

use crate::protocol::Timestamp;

/// Now, in milliseconds. A clock before 1970 counts as 1970.
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// A clock that stands before 1970. Dates of HTTP and certificates can't be made then.
#[derive(Debug, thiserror::Error)]
#[error(
    "this machine's clock stands before 1970. Nothing was touched: set the clock, then start Parlor again"
)]
pub struct ClockTooEarlyError;

/// Checks that the clock stands where the libraries that read it don't panic.
///
/// # Errors
///
/// If it stands before 1970.
pub fn check() -> Result<(), ClockTooEarlyError> {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(_) => Ok(()),
        Err(_) => Err(ClockTooEarlyError),
    }
}

/// A time to the minute: `2026-11-21 13:01 CET`.
pub fn format_minute(at: Timestamp, zone: &TimeZone) -> String {
    match jiff::Timestamp::from_millisecond(at.0) {
        Ok(time) => {
            let there = time.to_zoned(zone.clone());
            there.strftime("%Y-%m-%d %H:%M %Z").to_string()
        }
        Err(_) => "unknown".into(),
    }
}
