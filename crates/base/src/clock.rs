//! The server's only access to the current time, and the format of times for models.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::tz::TimeZone;

use parlor_protocol::Timestamp;

/// A source of the current time, for what tests move by hand.
pub trait Clock: Send + Sync + 'static {
    fn now(&self) -> Timestamp;
}

/// The clock of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        now()
    }
}

/// Returns the current time in milliseconds. A clock before 1970 counts as 1970.
pub fn now() -> Timestamp {
    to_timestamp(SystemTime::now())
}

fn to_timestamp(time: SystemTime) -> Timestamp {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// A clock before 1970. HTTP dates and certificate checks do not work then.
#[derive(Debug, thiserror::Error)]
#[error(
    "this machine's clock is set to a time before 1970. Nothing was changed: set the clock, then start Parlor again"
)]
pub struct ClockTooEarlyError;

/// Checks that the clock is in a range in which the libraries that read it do not panic.
///
/// # Errors
///
/// If it is before 1970.
pub fn check() -> Result<(), ClockTooEarlyError> {
    check_time(SystemTime::now())
}

fn check_time(now: SystemTime) -> Result<(), ClockTooEarlyError> {
    if now < UNIX_EPOCH {
        return Err(ClockTooEarlyError);
    }
    Ok(())
}

/// Formats a time to the minute: `2026-11-21 13:01 CET`.
pub fn format_minute(at: Timestamp, zone: &TimeZone) -> String {
    match jiff::Timestamp::from_millisecond(at.0) {
        Ok(time) => {
            let there = time.to_zoned(zone.clone());
            there.strftime("%Y-%m-%d %H:%M %Z").to_string()
        }
        Err(_) => "unknown".into(),
    }
}

/// Returns the day of a time without its year, such as Nov 25.
pub fn format_day(at: Timestamp, zone: &TimeZone) -> String {
    match jiff::Timestamp::from_millisecond(at.0) {
        Ok(time) => time.to_zoned(zone.clone()).strftime("%b %-d").to_string(),
        Err(_) => "unknown".into(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn rejects_a_clock_before_1970() {
        let early = UNIX_EPOCH - Duration::from_nanos(1);
        let error = check_time(early).unwrap_err().to_string();
        assert!(
            error.contains("before 1970") && error.contains("set the clock"),
            "{error}"
        );
        assert_eq!(to_timestamp(early), Timestamp(0));
        assert!(check_time(UNIX_EPOCH).is_ok() && check().is_ok());
        assert_eq!(to_timestamp(UNIX_EPOCH + Duration::from_millis(7)), Timestamp(7));
    }
}
