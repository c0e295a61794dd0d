//! Durations of the settings, written with their units: `"90s"`, `"5m"`, `"250ms"`, `"1h 30m"`.

use std::{fmt, time::Duration};

use jiff::fmt::friendly::SpanParser;
use serde::{
    Deserializer,
    de::{Error, Visitor},
};

/// The longest accepted duration: a hundred years, which can be added to any time.
const MAX_DURATION: Duration = Duration::from_secs(100 * 366 * 24 * 3600);

/// The longest accepted interval between two heartbeats.
const MAX_HEARTBEAT: Duration = Duration::from_secs(15);

/// The accepted format, for error messages.
const FORMAT: &str = r#"a duration with its unit, such as "90s", "5m", "250ms" or "1h 30m""#;

static PARSER: SpanParser = SpanParser::new();

/// Reads a duration that a timer can wait for: more than zero, and not beyond the range of the clock.
pub(super) fn positive<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let duration = any(deserializer)?;
    if duration.is_zero() || duration > MAX_DURATION {
        return Err(Error::custom(
            "the duration must be above 0 and at most a hundred years",
        ));
    }
    Ok(duration)
}

/// Reads the interval of heartbeats. The page takes a stream for dead after 40 s of silence, and some proxies cut it
/// after 15 s.
pub(super) fn heartbeat<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let duration = positive(deserializer)?;
    if duration > MAX_HEARTBEAT {
        return Err(Error::custom("heartbeats must be at most 15 s apart"));
    }
    Ok(duration)
}

/// Reads a duration, which may be zero.
pub(super) fn any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    deserializer.deserialize_str(DurationVisitor)
}

struct DurationVisitor;

impl Visitor<'_> for DurationVisitor {
    type Value = Duration;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(FORMAT)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Duration, E> {
        PARSER
            .parse_unsigned_duration(text)
            .map_err(|_| E::custom(format!("“{text}” is not {FORMAT}")))
    }
}

#[cfg(test)]
mod tests {
    use serde::de::{IntoDeserializer, value};

    use super::*;

    fn read(text: &str) -> Result<Duration, value::Error> {
        positive(text.into_deserializer())
    }

    #[test]
    fn heartbeats_are_at_most_15_seconds_apart() {
        let read =
            |text: &str| heartbeat::<value::StrDeserializer<'_, value::Error>>(text.into_deserializer());
        assert_eq!(read("15s"), Ok(MAX_HEARTBEAT));
        assert!(read("16s").is_err() && read("0s").is_err());
    }

    #[test]
    fn reads_durations_with_units() {
        for (text, milliseconds) in [
            ("90s", 90_000),
            ("5m", 300_000),
            ("250ms", 250),
            ("1h 30m", 5_400_000),
            ("1h30m", 5_400_000),
            ("0.5s", 500),
            ("2 hours", 7_200_000),
        ] {
            assert_eq!(read(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
    }

    #[test]
    fn rejects_unusable_durations() {
        for text in [
            "",
            "90",
            "s",
            "-5s",
            "5s ago",
            "1 day",
            "1e3s",
            "9999999999999999999999s",
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(r#"such as "90s""#), "{text}: {error}");
        }
        for text in ["0s", "0.0001us", "900000h"] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains("above 0"), "{text}: {error}");
        }
        let zero: Result<_, value::Error> = any("0s".into_deserializer());
        assert_eq!(zero, Ok(Duration::ZERO));
    }
}
