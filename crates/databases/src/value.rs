//! A value of a result, of any type.

use serde_json::{Number, Value};

/// The bytes of a binary value that are shown.
const MAX_SHOWN_BINARY_BYTES: usize = 32;

/// A value of a result. None loses precision: a decimal number stays text.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Null,
    Bool(bool),
    Integer(i64),
    Real(f64),
    /// A decimal number of any length, as the database writes it.
    Decimal(String),
    /// Text, and all other types as the database writes them.
    Text(String),
    Binary(Vec<u8>),
}

impl Cell {
    /// Returns the value as text; `None` for NULL.
    pub fn to_text(&self) -> Option<String> {
        Some(match self {
            Self::Null => return None,
            Self::Bool(value) => value.to_string(),
            Self::Integer(value) => value.to_string(),
            Self::Real(value) if value.is_finite() => format_real(*value),
            Self::Real(value) if value.is_nan() => "NaN".into(),
            Self::Real(value) => if *value > 0.0 { "Infinity" } else { "-Infinity" }.into(),
            Self::Decimal(text) | Self::Text(text) => text.clone(),
            Self::Binary(bytes) => format_binary(bytes),
        })
    }

    /// Returns the value as JSON. What JSON has no number for is a text.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => (*value).into(),
            Self::Integer(value) => (*value).into(),
            Self::Real(value) if value.is_finite() => {
                Number::from_f64(*value).map_or(Value::Null, Value::Number)
            }
            other => other.to_text().map_or(Value::Null, Value::String),
        }
    }

    /// Returns the size of the value as JSON in bytes, or a little more.
    pub fn max_json_len(&self) -> usize {
        const MAX_NUMBER_BYTES: usize = 26;
        let escaped = |text: &str| {
            let len = |byte: u8| match byte {
                b'"' | b'\\' => 2,
                0..b' ' => 6,
                _ => 1,
            };
            text.bytes().map(len).sum::<usize>() + 2
        };
        match self {
            Self::Text(text) | Self::Decimal(text) => escaped(text),
            Self::Binary(_) => MAX_SHOWN_BINARY_BYTES * 2 + MAX_NUMBER_BYTES + 16,
            _ => MAX_NUMBER_BYTES,
        }
    }

    /// Returns the size in bytes that counts against the limit of a result.
    pub fn byte_len(&self) -> usize {
        const MIN_BYTES: usize = 8;
        match self {
            Self::Text(text) | Self::Decimal(text) => text.len().max(MIN_BYTES),
            Self::Binary(bytes) => bytes.len().min(MAX_SHOWN_BINARY_BYTES) * 2 + MIN_BYTES,
            _ => MIN_BYTES * 2,
        }
    }
}

/// Formats a finite number in its shortest exact form: `1e300`, not three hundred digits.
fn format_real(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude != 0.0 && !(1e-5..1e16).contains(&magnitude) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

/// Formats the beginning of a binary value as `\x…`, with its length if it is longer.
fn format_binary(bytes: &[u8]) -> String {
    let shown = &bytes[..bytes.len().min(MAX_SHOWN_BINARY_BYTES)];
    let hex: String = shown.iter().map(|byte| format!("{byte:02x}")).collect();
    if shown.len() < bytes.len() {
        format!("\\x{hex}… ({} bytes)", bytes.len())
    } else {
        format!("\\x{hex}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keeps_precision_in_text_and_json() {
        let big = i64::MAX;
        let cases = [
            (Cell::Null, None, json!(null)),
            (Cell::Bool(true), Some("true"), json!(true)),
            (Cell::Integer(big), Some("9223372036854775807"), json!(big)),
            (Cell::Real(0.1), Some("0.1"), json!(0.1)),
            (Cell::Real(1e300), Some("1e300"), json!(1e300)),
            (Cell::Real(f64::NAN), Some("NaN"), json!("NaN")),
            (
                Cell::Real(f64::NEG_INFINITY),
                Some("-Infinity"),
                json!("-Infinity"),
            ),
            (
                Cell::Decimal("12345678901234567890.10".into()),
                Some("12345678901234567890.10"),
                json!("12345678901234567890.10"),
            ),
            (Cell::Binary(vec![0, 255]), Some("\\x00ff"), json!("\\x00ff")),
        ];
        for (cell, text, json) in cases {
            assert_eq!(
                (cell.to_text().as_deref(), cell.to_json()),
                (text, json),
                "{cell:?}"
            );
        }
        let long = Cell::Binary(vec![1; 100]);
        let texts = Cell::Text("a\"\\\n\u{1}é".into());
        for cell in [
            &long,
            &texts,
            &Cell::Real(-f64::MIN_POSITIVE),
            &Cell::Integer(i64::MIN),
        ] {
            assert!(
                cell.to_json().to_string().len() <= cell.max_json_len(),
                "{cell:?}"
            );
        }
        let long = long.to_text().unwrap();
        assert!(long.ends_with("… (100 bytes)"), "{long}");
    }
}
