//! Formatting arbitrary data as text for the user.

use serde::{Deserialize, Deserializer, de};
use serde_json::Value;

use parlor_base::text::single_line;
use parlor_protocol::number_format::group_digits;

/// The maximum length of a line, in characters.
const MAX_LINE_CHARS: usize = 1000;

/// A line of text. Numbers and booleans are accepted as text.
#[derive(Debug, Default)]
pub struct Line(pub String);

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        format_scalar(&value)
            .map(|text| Self(single_line(&text, MAX_LINE_CHARS)))
            .ok_or_else(|| de::Error::custom("not a text"))
    }
}

/// Formats a value that is neither a list nor an object.
pub fn format_scalar(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some(String::new()),
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// Formats any value as one line.
pub fn format_line(value: &Value) -> String {
    let text = format_scalar(value).unwrap_or_else(|| value.to_string());
    single_line(&text, MAX_LINE_CHARS)
}

/// Formats a count with its noun: "1 row", "1,204 rows".
pub fn format_count(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", group_digits(count), if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_is_single_and_bounded() {
        assert_eq!(format_line(&" a\n\tb  c ".into()), "a b c");
        let long = format_line(&"é ".repeat(100_000).into());
        assert_eq!(long.chars().count(), MAX_LINE_CHARS + 1);
    }

    #[test]
    fn formats_numbers_in_groups() {
        assert_eq!(format_count(1204, "row", "rows"), "1,204 rows");
        assert_eq!(format_count(1, "row", "rows"), "1 row");
        assert_eq!(format_count(2, "row", "rows"), "2 rows");
    }
}
