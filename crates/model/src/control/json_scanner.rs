//! A scanner that finds the end of a JSON object or array character by character, and stops at the first
//! invalid character.
//!
//! It is as strict as JSON, except that raw line ends and tabs are allowed in strings, because models write
//! them. [`parse`] parses the result.

use serde_json::Value;

use crate::lenient_json;

/// The maximum nesting depth. The limit of serde_json is 128.
const MAX_DEPTH: usize = 64;

/// Scans one object or array from its first character to its last.
#[derive(Clone, Debug, Default)]
pub(super) struct Scanner {
    /// The open objects and arrays: true for an object.
    open: Vec<bool>,
    expects: Expects,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Expects {
    #[default]
    Value,
    /// A value or the closing bracket, after an opening bracket.
    ValueOrEnd,
    /// A key or the closing brace, after an opening brace.
    KeyOrEnd,
    Key,
    Colon,
    CommaOrEnd,
    /// Inside a string.
    Character {
        is_key: bool,
    },
    /// The rest of an escape, after a backslash.
    Escape {
        is_key: bool,
    },
    /// Inside `\u0000`.
    Digits {
        left: u8,
        is_key: bool,
    },
    /// The rest of `true`, `false` or `null`.
    Literal(&'static str),
    /// Inside a number.
    Number,
}

/// The result of a character.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ScanStep {
    /// The value is incomplete.
    Continue,
    /// The character completes the value.
    End,
    /// The character is invalid here.
    Invalid,
}

impl Scanner {
    pub fn feed(&mut self, c: char) -> ScanStep {
        use Expects::*;
        if self.expects == Number {
            if c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-') {
                return ScanStep::Continue;
            }
            self.expects = CommaOrEnd;
        }
        self.expects = match (self.expects, c) {
            (Character { is_key }, '"') if is_key => Colon,
            (Character { .. }, '"') => CommaOrEnd,
            (Character { is_key }, '\\') => Escape { is_key },
            (Character { is_key }, c) if !c.is_ascii_control() || is_unescaped_control(c) => {
                Character { is_key }
            }
            (Escape { is_key }, 'u') => Digits { left: 4, is_key },
            (Escape { is_key }, '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't') => Character { is_key },
            (Digits { left: 1, is_key }, c) if c.is_ascii_hexdigit() => Character { is_key },
            (Digits { left, is_key }, c) if c.is_ascii_hexdigit() => Digits {
                left: left - 1,
                is_key,
            },
            (Character { .. } | Escape { .. } | Digits { .. }, _) => return ScanStep::Invalid,
            (Literal(rest), c) => match rest.strip_prefix(c) {
                Some("") => CommaOrEnd,
                Some(rest) => Literal(rest),
                None => return ScanStep::Invalid,
            },
            (expects, ' ' | '\t' | '\n' | '\r') => expects,
            (Value | ValueOrEnd, c) => match self.begin_value(c) {
                Some(expects) => expects,
                None => return self.close_bracket(c, ValueOrEnd),
            },
            (KeyOrEnd | Key, '"') => Character { is_key: true },
            (Colon, ':') => Value,
            (CommaOrEnd, ',') if self.open.last() == Some(&true) => Key,
            (CommaOrEnd, ',') => Value,
            (CommaOrEnd | KeyOrEnd, c) => return self.close_bracket(c, self.expects),
            _ => return ScanStep::Invalid,
        };
        ScanStep::Continue
    }

    /// Returns the expectation after a value's first character.
    fn begin_value(&mut self, c: char) -> Option<Expects> {
        Some(match c {
            '{' | '[' if self.open.len() < MAX_DEPTH => {
                self.open.push(c == '{');
                if c == '{' {
                    Expects::KeyOrEnd
                } else {
                    Expects::ValueOrEnd
                }
            }
            // The outermost value has to be an object or an array.
            _ if self.open.is_empty() => return None,
            '"' => Expects::Character { is_key: false },
            't' => Expects::Literal("rue"),
            'f' => Expects::Literal("alse"),
            'n' => Expects::Literal("ull"),
            'N' => Expects::Literal("aN"),
            'I' => Expects::Literal("nfinity"),
            '-' | '0'..='9' => Expects::Number,
            _ => return None,
        })
    }

    /// Accepts a closing bracket if it is expected.
    fn close_bracket(&mut self, c: char, allowed_in: Expects) -> ScanStep {
        let closes = match self.open.last() {
            Some(true) => c == '}',
            Some(false) => c == ']',
            None => false,
        };
        if !closes || self.expects != allowed_in {
            return ScanStep::Invalid;
        }
        self.open.pop();
        self.expects = Expects::CommaOrEnd;
        if self.open.is_empty() {
            ScanStep::End
        } else {
            ScanStep::Continue
        }
    }
}

/// Returns true for a control character that JSON requires to be escaped but models write raw.
fn is_unescaped_control(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\t')
}

/// Parses scanned JSON.
pub(super) fn parse(json: &str) -> Option<Value> {
    lenient_json::parse(json).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of characters scanned and the result of the last one.
    fn scan(text: &str) -> (usize, ScanStep) {
        let mut scanner = Scanner::default();
        for (index, c) in text.chars().enumerate() {
            let step = scanner.feed(c);
            if step != ScanStep::Continue {
                return (index + 1, step);
            }
        }
        (text.chars().count(), ScanStep::Continue)
    }

    #[test]
    fn ends_at_the_closing_bracket() {
        for json in [
            "[]",
            "{}",
            "[ ]",
            "{ }",
            r#"["]", "\"]", "\\"]"#,
            r#"{"a": {"b": [1, -2.5e+3, true, false, null]}, "}": "\u00e9\n"}"#,
            "[\"two\nlines\tand a tab\"]",
            "\r\n[\n]",
        ] {
            assert_eq!(
                scan(&format!("{json}]}} and more")),
                (json.chars().count(), ScanStep::End),
                "{json}"
            );
            assert!(parse(json).is_some(), "{json}");
        }
    }

    #[test]
    fn fails_at_the_first_invalid_character() {
        for (text, right) in [
            ("1]", 0),
            ("\"a\"", 0),
            ("]", 0),
            ("[}", 1),
            ("{]", 1),
            ("[1,]", 3),
            ("{\"a\",", 4),
            ("{\"a\":1,}", 7),
            ("{a", 1),
            ("[x", 1),
            ("[tru ", 4),
            ("[\"\\x", 3),
            ("[\"\\u12g", 6),
            ("[\"\u{1}", 2),
            ("[1 2", 3),
            ("[,", 1),
            ("{\"a\":}", 5),
        ] {
            assert_eq!(scan(text), (right + 1, ScanStep::Invalid), "{text}");
        }
    }

    #[test]
    fn rejects_deep_nesting() {
        assert_eq!(scan(&"[".repeat(MAX_DEPTH)), (MAX_DEPTH, ScanStep::Continue));
        assert_eq!(scan(&"[".repeat(500)), (MAX_DEPTH + 1, ScanStep::Invalid));
    }

    #[test]
    fn parser_stays_strict_about_scanned_text() {
        for text in ["[1e]", "[--1]"] {
            assert_eq!(scan(text).1, ScanStep::End, "{text}");
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
