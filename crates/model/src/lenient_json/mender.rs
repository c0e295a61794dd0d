//! Writes the valid JSON that a text was meant to be.

use std::{borrow::Cow, collections::HashMap, ops::Range};

use super::{
    Mended,
    halves::{escaped_code, is_half, is_pair, mark},
};

/// The maximum nesting of arrays and objects. That of serde_json is 127, and chunks nest the arguments of calls.
const MAX_DEPTH: usize = 120;

/// Words that other languages have for `null`, and numbers that JSON has not.
const NULL_WORDS: [&str; 9] = [
    "null",
    "NULL",
    "Null",
    "None",
    "nil",
    "undefined",
    "NaN",
    "Infinity",
    "nan",
];

/// The result of a lone half of a surrogate pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halves {
    /// U+FFFD.
    Replace,
    /// A mark, which [`super::join_marks`] joins with its other half.
    Mark,
}

/// Reads one value and writes it as valid JSON.
pub(super) struct Mender<'a> {
    text: &'a str,
    at: usize,
    halves: Halves,
    /// The written JSON. Its bytes are those of characters.
    written: Vec<u8>,
    /// The written fields that a later field of the same name replaces.
    dropped: Vec<Range<usize>>,
    is_changed: bool,
    has_marks: bool,
    /// True if a value was nested too deeply, and left out.
    has_lost_value: bool,
}

impl<'a> Mender<'a> {
    pub fn new(text: &'a str, halves: Halves) -> Self {
        Self {
            text,
            at: 0,
            halves,
            written: Vec::with_capacity(text.len()),
            dropped: Vec::new(),
            is_changed: false,
            has_marks: false,
            has_lost_value: false,
        }
    }

    pub fn has_lost_value(&self) -> bool {
        self.has_lost_value
    }

    pub fn position(&self) -> usize {
        self.at
    }

    /// Returns true if only white space is left.
    pub fn is_at_end(&mut self) -> bool {
        self.skip_space();
        self.at == self.text.len()
    }

    pub fn into_mended(mut self) -> Mended<'a> {
        self.dropped.sort_unstable_by_key(|range| range.start);
        let (mut kept, mut at) = (Vec::new(), 0);
        for range in self.dropped {
            // One may lie within another.
            kept.extend_from_slice(self.written.get(at..range.start).unwrap_or_default());
            at = at.max(range.end);
        }
        let written = match (self.is_changed, at) {
            (false, _) => None,
            (true, 0) => String::from_utf8(self.written).ok(),
            (true, at) => {
                kept.extend_from_slice(&self.written[at..]);
                String::from_utf8(kept).ok()
            }
        };
        Mended {
            text: written.map_or(Cow::Borrowed(self.text), Cow::Owned),
            has_marks: self.has_marks,
        }
    }

    /// Mends the next value; `None` if it can't be.
    pub fn value(&mut self, depth: usize) -> Option<()> {
        self.skip_space();
        match self.peek()? {
            b'{' | b'[' if depth == MAX_DEPTH => self.skip_nested(),
            b'{' => self.object(depth + 1),
            b'[' => self.array(depth + 1),
            b'"' => self.string(),
            b'0'..=b'9' | b'-' | b'+' | b'.' => self.number(),
            _ => self.word(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<()> {
        self.copy(1);
        // The written places of the fields that count, with their commas.
        let mut fields: HashMap<Vec<u8>, Range<usize>> = HashMap::new();
        loop {
            self.skip_space();
            match self.peek()? {
                b'}' => {
                    self.drop_comma();
                    self.copy(1);
                    return Some(());
                }
                b'"' => {}
                _ => return None,
            }
            let begin = self.written.len();
            self.string()?;
            let name = self.written[begin..].to_vec();
            self.skip_space();
            self.expect(b':')?;
            let value = self.written.len();
            self.value(depth)?;
            let is_repeated = fields.contains_key(&name);
            self.is_changed |= is_repeated;
            // The last value counts, but not one that says nothing.
            if is_repeated && self.written[value..] == *b"null" {
                self.written.truncate(begin);
                self.end_entry(b'}', true)?;
                continue;
            }
            self.end_entry(b'}', false)?;
            let replaced = fields.insert(name, begin..self.written.len());
            self.dropped.extend(replaced);
        }
    }

    fn array(&mut self, depth: usize) -> Option<()> {
        self.copy(1);
        loop {
            self.skip_space();
            if self.peek()? == b']' {
                self.drop_comma();
                self.copy(1);
                return Some(());
            }
            self.value(depth)?;
            self.end_entry(b']', false)?;
        }
    }

    /// Reads the comma after an entry, unless the closing bracket follows. The comma of a dropped entry is not written.
    fn end_entry(&mut self, closing: u8, is_dropped: bool) -> Option<()> {
        self.skip_space();
        match self.peek()? {
            b',' if is_dropped => self.at += 1,
            b',' => self.copy(1),
            byte if byte == closing => {}
            _ => return None,
        }
        Some(())
    }

    /// Drops a comma before a closing bracket.
    fn drop_comma(&mut self) {
        if self.written.last() == Some(&b',') {
            self.written.pop();
            self.is_changed = true;
        }
    }

    fn string(&mut self) -> Option<()> {
        self.copy(1);
        let bytes = self.text.as_bytes();
        loop {
            let begin = self.at;
            let is_plain = |byte: &u8| !matches!(byte, b'"' | b'\\' | 0..0x20);
            let plain = bytes[begin..].iter().take_while(|byte| is_plain(byte)).count();
            self.copy(plain);
            match self.peek()? {
                b'"' => {
                    self.copy(1);
                    return Some(());
                }
                b'\\' => self.escape()?,
                control => {
                    self.replace(1, &format!("\\u{control:04x}"));
                }
            }
        }
    }

    fn escape(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        match *bytes.get(self.at + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.copy(2),
            b'u' => match escaped_code(bytes, self.at) {
                Some(code) if is_half(code) => match escaped_code(bytes, self.at + 6) {
                    Some(second) if is_pair(code, second) => self.copy(12),
                    _ => self.lone_half(code),
                },
                Some(_) => self.copy(6),
                None => self.replace(1, "\\\\"),
            },
            b'\'' => self.replace(2, "'"),
            // The backslash was meant.
            _ => self.replace(1, "\\\\"),
        }
        Some(())
    }

    fn lone_half(&mut self, half: u32) {
        let c = match self.halves {
            Halves::Replace => char::REPLACEMENT_CHARACTER,
            Halves::Mark => mark(half),
        };
        self.has_marks |= self.halves == Halves::Mark;
        self.replace(6, c.encode_utf8(&mut [0; 4]));
    }

    fn number(&mut self) -> Option<()> {
        let bytes = self.text[self.at..].bytes();
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        let length = bytes.take_while(is_part).count();
        let number = &self.text[self.at..self.at + length];
        let unsigned = number.trim_start_matches(['+', '-']);
        if NULL_WORDS.contains(&unsigned) || matches!(unsigned, "inf" | "Inf") {
            self.replace(length, "null");
            return Some(());
        }
        let finite = number.parse::<f64>().ok()?;
        if !finite.is_finite() {
            self.replace(length, "null");
        } else if is_json_number(number) {
            self.copy(length);
        } else {
            let whole = number.parse::<i64>().map(|whole| whole.to_string());
            self.replace(
                length,
                &whole.unwrap_or_else(|_| serde_json::json!(finite).to_string()),
            );
        }
        Some(())
    }

    fn word(&mut self) -> Option<()> {
        let bytes = self.text[self.at..].bytes();
        let length = bytes.take_while(u8::is_ascii_alphabetic).count();
        match &self.text[self.at..self.at + length] {
            "true" | "false" | "null" => self.copy(length),
            "True" | "TRUE" => self.replace(length, "true"),
            "False" | "FALSE" => self.replace(length, "false"),
            word if NULL_WORDS.contains(&word) => self.replace(length, "null"),
            _ => return None,
        }
        Some(())
    }

    /// Replaces a value that is nested too deeply.
    fn skip_nested(&mut self) -> Option<()> {
        let (mut depth, mut is_string, mut is_escaped) = (0_usize, false, false);
        for (index, byte) in self.text[self.at..].bytes().enumerate() {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = is_string,
                b'"' => is_string = !is_string,
                b'{' | b'[' if !is_string => depth += 1,
                b'}' | b']' if !is_string => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        self.has_lost_value = true;
                        self.replace(index + 1, "null");
                        return Some(());
                    }
                }
                _ => {}
            }
        }
        None
    }

    fn skip_space(&mut self) {
        let rest = &self.text[self.at..];
        // Some servers end their messages with a control character, or begin them with an invisible one.
        let is_space = |c: char| {
            matches!(c, '\u{feff}' | '\u{200b}' | '\u{2060}') || c.is_whitespace() || c.is_control()
        };
        let space = rest.len() - rest.trim_start_matches(is_space).len();
        self.is_changed |= rest[..space].contains(|c| !matches!(c, ' ' | '\n' | '\r' | '\t'));
        self.at += space;
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        let is_there = self.peek()? == byte;
        is_there.then(|| self.copy(1))
    }

    fn copy(&mut self, bytes: usize) {
        let end = self.at + bytes;
        self.written
            .extend_from_slice(&self.text.as_bytes()[self.at..end]);
        self.at = end;
    }

    fn replace(&mut self, bytes: usize, by: &str) {
        self.is_changed = true;
        self.written.extend_from_slice(by.as_bytes());
        self.at += bytes;
    }
}

/// Returns true for a number in the form of JSON.
fn is_json_number(number: &str) -> bool {
    serde_json::from_str::<&serde_json::value::RawValue>(number).is_ok()
}
