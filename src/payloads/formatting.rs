//! Formatting arbitrary data as text for the user.

use serde::{Deserialize, Deserializer, de};
use serde_json::Value;

use crate::protocol::number_format::group_digits;

/// The maximum length of a line, in characters.
const MAX_LINE_CHARS: usize = 1000;

/// A line of text. Numbers and booleans are accepted as text.
#[derive(Debug, Default)]
pub struct Line(pub String);

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        format_scalar(&value)
            .map(|text| Self(single_line(&text)))
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
    single_line(&format_scalar(value).unwrap_or_else(|| value.to_string()))
}

/// Joins a text to one line of limited length.
pub fn single_line(text: &str) -> String {
    let mut line = String::new();
    for (index, word) in text.split_whitespace().enumerate() {
        // A character has at most four bytes.
        if line.len() > 4 * MAX_LINE_CHARS {
            break;
        }
        if index > 0 {
            line.push(' ');
        }
        line.push_str(word);
    }
    shorten(&line, MAX_LINE_CHARS)
}

/// Shortens a text to a number of characters.
pub fn shorten(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((cut, _)) => [&text[..cut], "…"].concat(),
        None => text.into(),
    }
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
        assert_eq!(single_line(" a\n\tb  c "), "a b c");
        let long = single_line(&"é ".repeat(100_000));
        assert_eq!(long.chars().count(), MAX_LINE_CHARS + 1);
        assert_eq!(
            single_line(&"é".repeat(100_000)).chars().count(),
            MAX_LINE_CHARS + 1
        );
    }

    #[test]
    fn formats_numbers_in_groups() {
        assert_eq!(format_count(1204, "row", "rows"), "1,204 rows");
        assert_eq!(format_count(1, "row", "rows"), "1 row");
        assert_eq!(format_count(2, "row", "rows"), "2 rows");
    }
}
