//! Reading JSON in the page.
//!
//! The server reads what others sent and has to say where it is wrong, which is what `serde_json` is for. The page
//! reads what Parlor itself wrote: it is as it should be, or the page gives up on it. A reader that says no more than
//! that, and knows only whole numbers, makes the WASM much smaller.

use std::fmt;

use serde::{
    Deserialize,
    de::{
        self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess,
        VariantAccess, Visitor, value::StringDeserializer,
    },
    forward_to_deserialize_any,
};

/// The text is not JSON, or not of the form that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable;

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unexpected JSON")
    }
}

impl std::error::Error for Unreadable {}

impl de::Error for Unreadable {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

type Result<T> = std::result::Result<T, Unreadable>;

/// Reads a value from JSON, which must not have anything behind it.
pub fn read<T: DeserializeOwned>(json: &[u8]) -> Result<T> {
    let mut reader = Reader { rest: json };
    let value = T::deserialize(&mut reader)?;
    match reader.peek() {
        None => Ok(value),
        Some(_) => Err(Unreadable),
    }
}

/// What is still to be read. What does not depend on the type that is read is here, so that it is there once.
struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    /// The next byte that is not white space.
    #[inline(never)]
    fn peek(&mut self) -> Option<u8> {
        self.rest = self.rest.trim_ascii_start();
        self.rest.first().copied()
    }

    /// Takes the next byte if it is this one.
    #[inline(never)]
    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        if there {
            self.rest = &self.rest[1..];
        }
        there
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.take(byte) { Ok(()) } else { Err(Unreadable) }
    }

    /// Takes the next word if it is this one.
    #[inline(never)]
    fn word(&mut self, word: &str) -> bool {
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
    fn bool(&mut self) -> Result<bool> {
        let is_true = self.word("true");
        if is_true || self.word("false") {
            Ok(is_true)
        } else {
            Err(Unreadable)
        }
    }

    /// Whether there is another element before `end`: takes the comma before it, or the end.
    #[inline(never)]
    fn more(&mut self, is_first: &mut bool, end: u8) -> Result<bool> {
        if self.take(end) {
            return Ok(false);
        }
        if !std::mem::take(is_first) {
            self.expect(b',')?;
        }
        Ok(true)
    }

    /// A whole number.
    #[inline(never)]
    fn number(&mut self) -> Result<i64> {
        let negative = self.take(b'-');
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.rest.split_at(digits);
        if digits.is_empty() || matches!(rest, [b'.' | b'e' | b'E', ..]) {
            return Err(Unreadable);
        }
        self.rest = rest;
        let number = digits.iter().try_fold(0_i64, |number, digit| {
            number.checked_mul(10)?.checked_add(i64::from(digit - b'0'))
        });
        let number = number.ok_or(Unreadable)?;
        Ok(if negative { -number } else { number })
    }

    #[inline(never)]
    fn string(&mut self) -> Result<String> {
        self.expect(b'"')?;
        let mut text = Vec::new();
        loop {
            let is_plain = |byte: &&u8| !matches!(byte, b'"' | b'\\');
            let plain = self.rest.iter().take_while(is_plain).count();
            let (plain, rest) = self.rest.split_at(plain);
            text.extend_from_slice(plain);
            match rest {
                [b'"', rest @ ..] => {
                    self.rest = rest;
                    return String::from_utf8(text).map_err(|_| Unreadable);
                }
                [b'\\', escape, rest @ ..] => {
                    self.rest = rest;
                    let character = self.escaped(*escape)?;
                    text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                _ => return Err(Unreadable),
            }
        }
    }

    /// The character that an escape stands for.
    fn escaped(&mut self, escape: u8) -> Result<char> {
        Ok(match escape {
            b'"' | b'\\' | b'/' => escape.into(),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let first = self.utf16()?;
                let second = match first {
                    0xd800..0xdc00 if self.rest.starts_with(b"\\u") => {
                        self.rest = &self.rest[2..];
                        Some(self.utf16()?)
                    }
                    _ => None,
                };
                let mut characters = char::decode_utf16([first].into_iter().chain(second));
                characters.next().and_then(|one| one.ok()).ok_or(Unreadable)?
            }
            _ => return Err(Unreadable),
        })
    }

    /// Four hexadecimal digits.
    #[inline(never)]
    fn utf16(&mut self) -> Result<u16> {
        let (digits, rest) = self.rest.split_at_checked(4).ok_or(Unreadable)?;
        self.rest = rest;
        digits.iter().try_fold(0, |unit, digit| {
            let digit = char::from(*digit).to_digit(16).ok_or(Unreadable)?;
            Ok(unit << 4 | digit as u16)
        })
    }
}

/// Each kind of value reads only what it can be.
impl<'de> Deserializer<'de> for &mut Reader<'_> {
    type Error = Unreadable;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.peek() {
            Some(b'{') => self.deserialize_map(visitor),
            Some(b'[') => self.deserialize_seq(visitor),
            Some(b'"') => self.deserialize_string(visitor),
            Some(b't' | b'f') => self.deserialize_bool(visitor),
            Some(b'n') => self.deserialize_unit(visitor),
            _ => self.deserialize_i64(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_bool(self.bool()?)
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_i64(self.number()?)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_i64(visitor)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_i64(visitor)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_string(visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_string(self.string()?)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_str(&self.string()?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.word("null") {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.word("null") {
            visitor.visit_unit()
        } else {
            Err(Unreadable)
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.expect(b'[')?;
        visitor.visit_seq(Elements {
            reader: self,
            is_first: true,
        })
    }

    /// Who reads a tuple knows its length, and does not look for its end.
    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        let tuple = self.deserialize_seq(visitor)?;
        self.expect(b']')?;
        Ok(tuple)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.expect(b'{')?;
        visitor.visit_map(Elements {
            reader: self,
            is_first: true,
        })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        if self.peek() == Some(b'"') {
            return visitor.visit_enum(StringDeserializer::new(self.string()?));
        }
        self.expect(b'{')?;
        let value = visitor.visit_enum(Variant(self))?;
        self.expect(b'}')?;
        Ok(value)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i128 u8 u16 u128 f32 f64 char bytes byte_buf unit_struct ignored_any
    }
}

/// What is in an array or an object. Reading what comes after the last one reads the end as well.
struct Elements<'r, 'a> {
    reader: &'r mut Reader<'a>,
    is_first: bool,
}

impl<'de> SeqAccess<'de> for Elements<'_, '_> {
    type Error = Unreadable;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        if self.reader.more(&mut self.is_first, b']')? {
            seed.deserialize(&mut *self.reader).map(Some)
        } else {
            Ok(None)
        }
    }
}

impl<'de> MapAccess<'de> for Elements<'_, '_> {
    type Error = Unreadable;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        if self.reader.more(&mut self.is_first, b'}')? {
            seed.deserialize(&mut *self.reader).map(Some)
        } else {
            Ok(None)
        }
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value> {
        self.reader.expect(b':')?;
        seed.deserialize(&mut *self.reader)
    }
}

/// `"Name": content`.
struct Variant<'r, 'a>(&'r mut Reader<'a>);

impl<'de> EnumAccess<'de> for Variant<'_, '_> {
    type Error = Unreadable;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self)> {
        let name = seed.deserialize(&mut *self.0)?;
        self.0.expect(b':')?;
        Ok((name, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, '_> {
    type Error = Unreadable;

    fn unit_variant(self) -> Result<()> {
        Deserialize::deserialize(self.0)
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value> {
        seed.deserialize(self.0)
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value> {
        self.0.deserialize_tuple(length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value> {
        self.0.deserialize_map(visitor)
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Everything {
        yes: bool,
        number: i64,
        size: usize,
        text: String,
        list: Vec<Kind>,
        result: std::result::Result<(), String>,
        nothing: Option<u32>,
        pair: (u32, bool),
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum Kind {
        Unit,
        New(Option<u64>),
        Tuple(u32, String),
        Struct { inner: Vec<Kind> },
    }

    #[test]
    fn what_serde_json_writes_reads_back() {
        let everything = Everything {
            yes: true,
            number: -1_790_000_000_123,
            size: 0,
            text: "\"\\ / \u{8}\u{c}\n\r\t \u{1} ä 😀".into(),
            list: vec![
                Kind::Unit,
                Kind::New(Some(7)),
                Kind::New(None),
                Kind::Tuple(1, String::new()),
                Kind::Struct {
                    inner: vec![Kind::Unit],
                },
                Kind::Struct { inner: Vec::new() },
            ],
            result: Err("no".into()),
            nothing: None,
            pair: (1, false),
        };
        let written = serde_json::to_vec(&everything).unwrap();
        assert_eq!(read(&written), Ok(everything));
        let everything: Everything = read(&written).unwrap();
        let spaced = serde_json::to_vec_pretty(&everything).unwrap();
        assert_eq!(read(&spaced), Ok(everything));
    }

    #[test]
    fn escapes_are_characters() {
        assert_eq!(read(br#" "\u00e4\ud83d\ude00\/" "#), Ok(String::from("ä😀/")));
        for json in [r#""\ud83d""#, r#""\ude00""#, r#""\u00g0""#, r#""\u00"#, r#""\x""#] {
            assert_eq!(read::<String>(json.as_bytes()), Err(Unreadable), "{json}");
        }
    }

    #[test]
    fn fields_that_nobody_asked_for_are_passed_over() {
        let json = br#"{"a":{"b":[1,true,null,"x",{}]},"text":"t","type":"text"}"#;
        let part: crate::protocol::Part = read(json).unwrap();
        assert_eq!(part, crate::protocol::Part::Text { text: "t".into() });
    }

    #[test]
    fn what_is_wrong_is_refused() {
        for json in [
            "",
            "[",
            "[1",
            "[1 2]",
            "[1]]",
            "[1.5]",
            "[99999999999999999999]",
            "[-1]",
            "{}",
            "[\"1\"]",
        ] {
            assert_eq!(read::<Vec<u64>>(json.as_bytes()), Err(Unreadable), "{json}");
        }
    }
}
