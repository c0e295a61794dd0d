//! Formats JSON for reading, without changing its order.

use serde::de::IgnoredAny;

use super::MAX_TEXT_BYTES;

/// Maximum indentation, in levels.
const MAX_INDENT: usize = 16;

/// Puts every member and element on a line of its own; `None` if the text is not JSON. Only
/// whitespace changes: numbers and the order of members stay, which a parsed value would not keep.
pub fn pretty_print(json: &str) -> Option<String> {
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
        // Longer text is cut off anyway.
        if layout.out.len() > MAX_TEXT_BYTES {
            break;
        }
    }
    Some(layout.out)
}

#[derive(Default)]
struct Layout {
    out: String,
    depth: usize,
    /// The last character opened a bracket.
    is_open: bool,
}

impl Layout {
    /// Handles a character outside strings, or the quote that begins one.
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
    fn puts_each_member_on_its_line() {
        assert_eq!(
            pretty_print(r#"{"z":1.50,"a" : [ ],"b\"{,": [true,{"c":"\\"}] , "d":{} }"#).unwrap(),
            "{\n  \"z\": 1.50,\n  \"a\": [],\n  \"b\\\"{,\": [\n    true,\n    {\n      \"c\": \"\\\\\"\n    }\n  ],\n  \"d\": {}\n}"
        );
        assert_eq!(
            pretty_print("12345678901234567890123").as_deref(),
            Some("12345678901234567890123")
        );
    }

    #[test]
    fn leaves_invalid_json_unchanged() {
        assert_eq!(pretty_print("{\"a\": "), None);
        assert_eq!(pretty_print("]"), None);
    }

    #[test]
    fn deep_json_stays_short_and_fast() {
        let deep = "[".repeat(100_000) + &"1,".repeat(100_000) + "1" + &"]".repeat(100_000);
        assert!(pretty_print(&deep).is_none_or(|json| json.len() < MAX_TEXT_BYTES + 100));
    }
}
