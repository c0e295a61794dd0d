//! The tokens of JSON, one after the other: punctuation, strings, whole numbers. Their grammar is in the
//! parent module.

use super::{JsonError, Result};

/// The rest of the input. All code that does not depend on the requested type is here, so that it is compiled
/// once.
pub(super) struct Reader<'a> {
    pub rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(json: &'a str) -> Self {
        Self {
            rest: json.as_bytes(),
        }
    }

    /// The next byte that is not whitespace.
    #[inline(never)]
    pub fn peek(&mut self) -> Option<u8> {
        self.rest = self.rest.trim_ascii_start();
        self.rest.first().copied()
    }

    /// Consumes the next byte if it is this one.
    #[inline(never)]
    pub fn take_byte(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        if there {
            self.rest = &self.rest[1..];
        }
        there
    }

    pub fn expect_byte(&mut self, byte: u8) -> Result<()> {
        if self.take_byte(byte) {
            Ok(())
        } else {
            Err(JsonError)
        }
    }

    /// Consumes the next literal if it is this one.
    #[inline(never)]
    pub fn take_literal(&mut self, word: &str) -> bool {
        self.peek();
        match self.rest.strip_prefix(word.as_bytes()) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    #[inline(never)]
    pub fn read_bool(&mut self) -> Result<bool> {
        let is_true = self.take_literal("true");
        if is_true || self.take_literal("false") {
            Ok(is_true)
        } else {
            Err(JsonError)
        }
    }

    /// Returns true if there is another element before `end`. Consumes the comma before it, or the end.
    #[inline(never)]
    pub fn has_next_element(&mut self, is_first: &mut bool, end: u8) -> Result<bool> {
        if self.take_byte(end) {
            return Ok(false);
        }
        if !std::mem::take(is_first) {
            self.expect_byte(b',')?;
        }
        Ok(true)
    }

    /// Reads a whole number.
    #[inline(never)]
    pub fn read_integer(&mut self) -> Result<i64> {
        let negative = self.take_byte(b'-');
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.rest.split_at(digits);
        if digits.is_empty() || matches!(rest, [b'.' | b'e' | b'E', ..]) {
            return Err(JsonError);
        }
        self.rest = rest;
        let number = digits.iter().try_fold(0_i64, |number, digit| {
            number.checked_mul(10)?.checked_add(i64::from(digit - b'0'))
        });
        let number = number.ok_or(JsonError)?;
        Ok(if negative { -number } else { number })
    }

    #[inline(never)]
    pub fn read_string(&mut self) -> Result<String> {
        self.expect_byte(b'"')?;
        let mut text = Vec::new();
        loop {
            let is_plain = |byte: &&u8| !matches!(byte, b'"' | b'\\');
            let plain = self.rest.iter().take_while(is_plain).count();
            let (plain, rest) = self.rest.split_at(plain);
            text.extend_from_slice(plain);
            match rest {
                [b'"', rest @ ..] => {
                    self.rest = rest;
                    return String::from_utf8(text).map_err(|_| JsonError);
                }
                [b'\\', escape, rest @ ..] => {
                    self.rest = rest;
                    let character = self.read_escape(*escape)?;
                    text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                _ => return Err(JsonError),
            }
        }
    }

    /// Skips a string. As in serde_json, an escape may be a lone surrogate here, since the string is not
    /// decoded.
    fn skip_string(&mut self) -> Result<()> {
        self.rest = &self.rest[1..];
        loop {
            let is_plain = |byte: &&u8| !matches!(byte, b'"' | b'\\');
            let plain = self.rest.iter().take_while(is_plain).count();
            match &self.rest[plain..] {
                [b'"', rest @ ..] => {
                    self.rest = rest;
                    return Ok(());
                }
                [b'\\', b'u', rest @ ..] => {
                    self.rest = rest;
                    self.read_utf16_unit()?;
                }
                [
                    b'\\',
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't',
                    rest @ ..,
                ] => self.rest = rest,
                _ => return Err(JsonError),
            }
        }
    }

    /// Returns true if all strings can be decoded. The input must be JSON.
    pub fn has_valid_strings(&mut self) -> bool {
        while let Some(begin) = self.rest.iter().position(|byte| *byte == b'"') {
            self.rest = &self.rest[begin..];
            if self.read_string().is_err() {
                return false;
            }
        }
        true
    }

    /// Decodes an escape.
    pub fn read_escape(&mut self, escape: u8) -> Result<char> {
        Ok(match escape {
            b'"' | b'\\' | b'/' => escape.into(),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let first = self.read_utf16_unit()?;
                let second = match first {
                    0xd800..0xdc00 if self.rest.starts_with(b"\\u") => {
                        self.rest = &self.rest[2..];
                        Some(self.read_utf16_unit()?)
                    }
                    _ => None,
                };
                let mut characters = char::decode_utf16([first].into_iter().chain(second));
                characters.next().and_then(|one| one.ok()).ok_or(JsonError)?
            }
            _ => return Err(JsonError),
        })
    }

    /// Reads a value of any type as its text.
    #[inline(never)]
    pub fn read_raw(&mut self) -> Result<&'a str> {
        self.peek();
        let value = self.rest;
        let mut depth = 0_usize;
        loop {
            match self.peek().ok_or(JsonError)? {
                b'"' => self.skip_string()?,
                b'{' | b'[' => {
                    depth += 1;
                    self.rest = &self.rest[1..];
                    continue;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1).ok_or(JsonError)?;
                    self.rest = &self.rest[1..];
                }
                b',' | b':' if depth > 0 => {
                    self.rest = &self.rest[1..];
                    continue;
                }
                _ => {
                    let in_word = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
                    let word = self.rest.iter().take_while(in_word).count();
                    if word == 0 {
                        return Err(JsonError);
                    }
                    self.rest = &self.rest[word..];
                }
            }
            if depth == 0 {
                let value = &value[..value.len() - self.rest.len()];
                return std::str::from_utf8(value).map_err(|_| JsonError);
            }
        }
    }

    /// Reads four hexadecimal digits.
    #[inline(never)]
    pub fn read_utf16_unit(&mut self) -> Result<u16> {
        let (digits, rest) = self.rest.split_at_checked(4).ok_or(JsonError)?;
        self.rest = rest;
        digits.iter().try_fold(0, |unit, digit| {
            let digit = char::from(*digit).to_digit(16).ok_or(JsonError)?;
            Ok(unit << 4 | digit as u16)
        })
    }
}
