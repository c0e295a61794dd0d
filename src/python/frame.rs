//! Data frames: tables that the server gives to a session as files, with the types of their columns.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The code that loads a file, and defines the function for it.
const LOAD: &str = include_str!("frame.py");

/// The maximum length of a name, in bytes.
const MAX_NAME_BYTES: usize = 64;

/// Words of Python that can't be names.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnType {
    Integer,
    Number,
    Boolean,
    /// A number that a float can't hold.
    Decimal,
    /// A date, or a date with a time.
    Time,
    Text,
}

/// A table for a session. Its cells are JSON values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    pub columns: Vec<String>,
    pub types: Vec<ColumnType>,
    pub rows: Vec<Vec<Value>>,
}

impl ColumnType {
    /// Returns the type of a column by its name in the database, as far as its values fit.
    pub fn new<'a>(database_type: &str, values: impl Iterator<Item = &'a Value> + Clone) -> Self {
        let mut known = values.filter(|value| !value.is_null()).peekable();
        let database_type = database_type.to_ascii_lowercase();
        let is = |word: &str| database_type.contains(word);
        if known.peek().is_none() {
            return Self::Text;
        }
        let all = |fits: fn(&Value) -> bool| known.clone().all(fits);
        let is_special = |value: &Value| matches!(value.as_str(), Some("NaN" | "Infinity" | "-Infinity"));
        if all(Value::is_boolean) {
            Self::Boolean
        } else if all(Value::is_i64) {
            Self::Integer
        } else if all(Value::is_number) || known.clone().all(|value| value.is_number() || is_special(value)) {
            Self::Number
        } else if is("numeric") || is("decimal") {
            Self::Decimal
        } else if (is("date") || is("timestamp")) && all(Value::is_string) {
            Self::Time
        } else {
            Self::Text
        }
    }
}

/// Returns `true` if a data frame can have this name.
pub fn is_valid_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let mut bytes = name.bytes();
    name.len() <= MAX_NAME_BYTES
        && bytes.next().is_some_and(is_letter)
        && bytes.all(|byte| is_letter(byte) || byte.is_ascii_digit())
        && !KEYWORDS.contains(&name)
}

/// Returns the code that loads a frame of a file under a name, which is valid.
pub fn load_code(path: &str, name: &str) -> String {
    // JSON strings of such texts are Python strings too.
    let path = Value::from(path);
    format!("{LOAD}\ntry:\n    _parlor_load({path}, \"{name}\")\nfinally:\n    del _parlor_load\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_those_of_python() {
        for name in ["df", "_df2", "Jobs_by_year"] {
            assert!(is_valid_name(name), "{name}");
        }
        for name in [
            "",
            "2df",
            "a b",
            "df.x",
            "class",
            "None",
            "é",
            "a;b",
            &"x".repeat(65),
        ] {
            assert!(!is_valid_name(name), "{name}");
        }
    }

    #[test]
    fn types_follow_database_and_values() {
        for (database_type, values, expected) in [
            ("INTEGER", json!([1, null, 2]), ColumnType::Integer),
            ("REAL", json!([1, 2.5]), ColumnType::Number),
            ("float8", json!(["NaN", 2.5]), ColumnType::Number),
            ("bool", json!([true, null]), ColumnType::Boolean),
            ("numeric", json!(["12345678901234567890.10"]), ColumnType::Decimal),
            ("timestamptz", json!(["2024-02-29 12:00:00+00"]), ColumnType::Time),
            ("DATE", json!([2024]), ColumnType::Integer),
            // SQLite keeps any value in any column.
            ("INTEGER", json!(["one", 2]), ColumnType::Text),
            ("", json!([null]), ColumnType::Text),
        ] {
            let values = values.as_array().unwrap();
            assert_eq!(
                ColumnType::new(database_type, values.iter()),
                expected,
                "{database_type} {values:?}"
            );
        }
    }
}
