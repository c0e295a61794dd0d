//! JSON laid out for reading: what it says, in the order in which it says it.

use serde::de::IgnoredAny;

use super::MAX_TEXT;

/// The deepest that lines are moved to the right.
const MAX_INDENT: usize = 16;

/// Puts every member and element on a line of its own; nothing if it is not JSON. Only whitespace changes: numbers
/// and the order of members stay as they are, which a parsed value would not keep.
pub fn pretty(json: &str) -> Option<String> {
    serde_json::from_str::<IgnoredAny>(json).ok()?;
    let mut layout = Layout::default();
    let mut in_string = false;
    let mut escaped = false;
    for c in json.chars() {
        if in_string {
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
            layout.out.push(c);
        } else if !c.is_ascii_whitespace() {
            in_string = c == '"';
            layout.token(c);
        }
        // What is longer is cut off anyway.
        if layout.out.len() > MAX_TEXT {
            break;
        }
    }
    Some(layout.out)
}

#[derive(Default)]
struct Layout {
    out: String,
    depth: usize,
    /// A bracket has just been opened.
    is_open: bool,
}

impl Layout {
    /// Takes a character outside strings, or the quote that begins one.
    fn token(&mut self, c: char) {
        let was_open = std::mem::take(&mut self.is_open);
        match c {
            '}' | ']' => {
                self.depth -= 1;
                if !was_open {
                    self.new_line();
                }
            }
            _ if was_open => self.new_line(),
            _ => {}
        }
        self.out.push(c);
        match c {
            '{' | '[' => {
                self.depth += 1;
                self.is_open = true;
            }
            ',' => self.new_line(),
            ':' => self.out.push(' '),
            _ => {}
        }
    }

    fn new_line(&mut self) {
        self.out.push('\n');
        self.out
            .extend(std::iter::repeat_n("  ", self.depth.min(MAX_INDENT)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_member_has_a_line_and_nothing_else_changes() {
        assert_eq!(
            pretty(r#"{"z":1.50,"a" : [ ],"b\"{,": [true,{"c":"\\"}] , "d":{} }"#).unwrap(),
            "{\n  \"z\": 1.50,\n  \"a\": [],\n  \"b\\\"{,\": [\n    true,\n    {\n      \"c\": \"\\\\\"\n    }\n  ],\n  \"d\": {}\n}"
        );
        assert_eq!(
            pretty("12345678901234567890123").as_deref(),
            Some("12345678901234567890123")
        );
    }

    #[test]
    fn what_is_not_json_stays_as_it_is() {
        assert_eq!(pretty("{\"a\": "), None);
        assert_eq!(pretty("]"), None);
    }

    #[test]
    fn deep_json_is_neither_long_nor_slow() {
        let deep = "[".repeat(100_000) + &"1,".repeat(100_000) + "1" + &"]".repeat(100_000);
        assert!(pretty(&deep).is_none_or(|json| json.len() < MAX_TEXT + 100));
    }
}
