//! Finding the end of a JSON object or array that arrives character by character, and giving up at the first that
//! cannot belong to one.
//!
//! It is as strict as JSON, but for line ends and tabs that stand in strings as they are: models write those.
//! [`parse`] reads what was found.

use serde_json::Value;

/// How deep objects and arrays may stand in each other; serde_json gives up at 128.
const MAX_DEPTH: usize = 64;

/// Follows one object or array from its first character to its last.
#[derive(Clone, Debug, Default)]
pub(super) struct Scanner {
    /// For each object or array that is open, whether it is an object.
    open: Vec<bool>,
    expects: Expects,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Expects {
    #[default]
    Value,
    /// Right behind an opening bracket.
    ValueOrEnd,
    /// Right behind an opening brace.
    KeyOrEnd,
    Key,
    Colon,
    CommaOrEnd,
    /// Inside a string.
    Character {
        is_key: bool,
    },
    /// Behind a backslash.
    Escape {
        is_key: bool,
    },
    /// Inside `\u0000`.
    Digits {
        left: u8,
        is_key: bool,
    },
    /// The rest of `true`, `false` or `null`.
    Word(&'static str),
    /// Inside a number.
    Number,
}

/// What a character did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// There has to be more.
    More,
    /// It was the last one.
    End,
    /// It cannot stand there.
    Wrong,
}

impl Scanner {
    pub fn feed(&mut self, c: char) -> Step {
        use Expects::*;
        if self.expects == Number {
            if c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-') {
                return Step::More;
            }
            self.expects = CommaOrEnd;
        }
        self.expects = match (self.expects, c) {
            (Character { is_key }, '"') if is_key => Colon,
            (Character { .. }, '"') => CommaOrEnd,
            (Character { is_key }, '\\') => Escape { is_key },
            (Character { is_key }, c) if !c.is_ascii_control() || is_written_raw(c) => Character { is_key },
            (Escape { is_key }, 'u') => Digits { left: 4, is_key },
            (Escape { is_key }, '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't') => Character { is_key },
            (Digits { left: 1, is_key }, c) if c.is_ascii_hexdigit() => Character { is_key },
            (Digits { left, is_key }, c) if c.is_ascii_hexdigit() => Digits {
                left: left - 1,
                is_key,
            },
            (Character { .. } | Escape { .. } | Digits { .. }, _) => return Step::Wrong,
            (Word(rest), c) => match rest.strip_prefix(c) {
                Some("") => CommaOrEnd,
                Some(rest) => Word(rest),
                None => return Step::Wrong,
            },
            (expects, ' ' | '\t' | '\n' | '\r') => expects,
            (Value | ValueOrEnd, c) => match self.begin(c) {
                Some(expects) => expects,
                None => return self.end(c, ValueOrEnd),
            },
            (KeyOrEnd | Key, '"') => Character { is_key: true },
            (Colon, ':') => Value,
            (CommaOrEnd, ',') if self.open.last() == Some(&true) => Key,
            (CommaOrEnd, ',') => Value,
            (CommaOrEnd | KeyOrEnd, c) => return self.end(c, self.expects),
            _ => return Step::Wrong,
        };
        Step::More
    }

    /// What comes after a value's first character.
    fn begin(&mut self, c: char) -> Option<Expects> {
        Some(match c {
            '{' | '[' if self.open.len() < MAX_DEPTH => {
                self.open.push(c == '{');
                if c == '{' {
                    Expects::KeyOrEnd
                } else {
                    Expects::ValueOrEnd
                }
            }
            // The whole is an object or an array.
            _ if self.open.is_empty() => return None,
            '"' => Expects::Character { is_key: false },
            't' => Expects::Word("rue"),
            'f' => Expects::Word("alse"),
            'n' => Expects::Word("ull"),
            '-' | '0'..='9' => Expects::Number,
            _ => return None,
        })
    }

    /// Takes a closing bracket, if one may stand where this is expected.
    fn end(&mut self, c: char, where_allowed: Expects) -> Step {
        let closes = match self.open.last() {
            Some(true) => c == '}',
            Some(false) => c == ']',
            None => false,
        };
        if !closes || self.expects != where_allowed {
            return Step::Wrong;
        }
        self.open.pop();
        self.expects = Expects::CommaOrEnd;
        if self.open.is_empty() {
            Step::End
        } else {
            Step::More
        }
    }
}

/// Control characters that JSON wants escaped and models don't escape.
fn is_written_raw(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\t')
}

/// Reads JSON whose strings may have line ends and tabs as they are.
pub(super) fn parse(json: &str) -> Option<Value> {
    let mut strict = String::with_capacity(json.len());
    let (mut in_string, mut escaped) = (false, false);
    for c in json.chars() {
        match c {
            '\n' if in_string => strict.push_str("\\n"),
            '\r' if in_string => strict.push_str("\\r"),
            '\t' if in_string => strict.push_str("\\t"),
            c => strict.push(c),
        }
        in_string ^= c == '"' && !escaped;
        escaped = c == '\\' && in_string && !escaped;
    }
    serde_json::from_str(&strict).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many characters were taken, and what the last one of them did.
    fn scan(text: &str) -> (usize, Step) {
        let mut scanner = Scanner::default();
        for (index, c) in text.chars().enumerate() {
            let step = scanner.feed(c);
            if step != Step::More {
                return (index + 1, step);
            }
        }
        (text.chars().count(), Step::More)
    }

    #[test]
    fn the_end_is_where_the_first_bracket_is_closed() {
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
                (json.chars().count(), Step::End),
                "{json}"
            );
            assert!(parse(json).is_some(), "{json}");
        }
    }

    #[test]
    fn what_cannot_be_json_is_seen_at_its_first_wrong_character() {
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
            assert_eq!(scan(text), (right + 1, Step::Wrong), "{text}");
        }
    }

    #[test]
    fn brackets_that_are_too_deep_are_wrong() {
        assert_eq!(scan(&"[".repeat(MAX_DEPTH)), (MAX_DEPTH, Step::More));
        assert_eq!(scan(&"[".repeat(500)), (MAX_DEPTH + 1, Step::Wrong));
    }

    #[test]
    fn what_the_scanner_lets_through_is_still_read_by_the_book() {
        for text in ["[1e]", "[01]", "[--1]", r#"["\ud800"]"#] {
            assert_eq!(scan(text).1, Step::End, "{text}");
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
