//! Data frames: tables that the server gives to a session as files, with the types of their columns.

use std::path::PathBuf;

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

/// The kind of a value in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    Boolean,
    Integer,
    Real,
    /// `NaN`, `Infinity` or `-Infinity`, as a text.
    Special,
    Text,
}

/// A table for a session. Its cells are JSON values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    pub columns: Vec<String>,
    pub types: Vec<ColumnType>,
    pub rows: Vec<Vec<Value>>,
}

/// A table for a session whose rows are in a file: a database of SQLite with the table `rows` and its columns `c0`, `c1` and so
/// on, in which booleans and special numbers are texts.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredFrame {
    pub columns: Vec<String>,
    pub types: Vec<ColumnType>,
    pub file: PathBuf,
}

impl ColumnType {
    /// Returns the type of a column by its name in the database, as far as the kinds of its known values fit.
    pub fn new(database_type: &str, kinds: &[ValueKind]) -> Self {
        let database_type = database_type.to_ascii_lowercase();
        let is = |word: &str| database_type.contains(word);
        let are = |fitting: &[ValueKind]| kinds.iter().all(|kind| fitting.contains(kind));
        if kinds.is_empty() {
            Self::Text
        } else if are(&[ValueKind::Boolean]) {
            Self::Boolean
        } else if are(&[ValueKind::Integer]) {
            Self::Integer
        } else if are(&[ValueKind::Integer, ValueKind::Real, ValueKind::Special]) {
            Self::Number
        } else if is("numeric") || is("decimal") {
            Self::Decimal
        } else if (is("date") || is("timestamp")) && are(&[ValueKind::Special, ValueKind::Text]) {
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
        use ValueKind::{Boolean, Integer, Real, Special, Text};
        let cases: [(_, &[ValueKind], _); 9] = [
            ("INTEGER", &[Integer], ColumnType::Integer),
            ("REAL", &[Integer, Real], ColumnType::Number),
            ("float8", &[Real, Special], ColumnType::Number),
            ("bool", &[Boolean], ColumnType::Boolean),
            ("numeric", &[Text], ColumnType::Decimal),
            ("timestamptz", &[Text], ColumnType::Time),
            ("DATE", &[Integer], ColumnType::Integer),
            // SQLite keeps any value in any column.
            ("INTEGER", &[Integer, Text], ColumnType::Text),
            ("", &[], ColumnType::Text),
        ];
        for (database_type, kinds, expected) in cases {
            assert_eq!(
                ColumnType::new(database_type, kinds),
                expected,
                "{database_type} {kinds:?}"
            );
        }
    }
}
