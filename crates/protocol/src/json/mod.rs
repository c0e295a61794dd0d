//! The page's JSON reader.
//!
//! serde_json was weighed, which the server uses: it reads untrusted data and has to report where it is
//! wrong. The page reads only what Parlor itself wrote: the data is valid, or the page gives up on it. A reader
//! without error details and with whole numbers only makes the WASM smaller.

use std::fmt;

use serde::{
    Deserialize,
    de::{
        self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess,
        VariantAccess, Visitor, value::StringDeserializer,
    },
    forward_to_deserialize_any,
};

#[cfg(any(test, feature = "testing"))]
pub use self::any_json::any_json;
use self::reader::Reader;
pub use self::{
    pretty::{pretty_print, pretty_print_up_to},
    raw::RawJson,
};

#[cfg(any(test, feature = "testing"))]
mod any_json;
mod pretty;
mod raw;
mod reader;

#[cfg(test)]
mod tests;

/// The text is not JSON, or not of the requested type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonError;

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unexpected JSON")
    }
}

impl std::error::Error for JsonError {}

impl de::Error for JsonError {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

type Result<T> = std::result::Result<T, JsonError>;

/// Parses a value. Nothing may follow it.
pub fn parse<T: DeserializeOwned>(json: &[u8]) -> Result<T> {
    let mut reader = Reader { rest: json };
    let value = T::deserialize(&mut reader)?;
    match reader.peek() {
        None => Ok(value),
        Some(_) => Err(JsonError),
    }
}

/// Each method accepts only values of its type.
impl<'de> Deserializer<'de> for &mut Reader<'_> {
    type Error = JsonError;

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
        visitor.visit_bool(self.read_bool()?)
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_i64(self.read_integer()?)
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
        visitor.visit_string(self.read_string()?)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_str(&self.read_string()?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.take_literal("null") {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.take_literal("null") {
            visitor.visit_unit()
        } else {
            Err(JsonError)
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value> {
        if name == raw::NAME {
            return visitor.visit_str(self.read_raw()?);
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.expect_byte(b'[')?;
        visitor.visit_seq(Elements {
            reader: self,
            is_first: true,
        })
    }

    /// A tuple's visitor knows its length and does not look for the end, so the end is read here.
    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        let tuple = self.deserialize_seq(visitor)?;
        self.expect_byte(b']')?;
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
        self.expect_byte(b'{')?;
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
            return visitor.visit_enum(StringDeserializer::new(self.read_string()?));
        }
        self.expect_byte(b'{')?;
        let value = visitor.visit_enum(Variant(self))?;
        self.expect_byte(b'}')?;
        Ok(value)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i128 u8 u16 u128 f32 f64 char bytes byte_buf unit_struct ignored_any
    }
}

/// The elements of an array or the entries of an object. Reading the element after the last one reads the end
/// as well.
struct Elements<'r, 'a> {
    reader: &'r mut Reader<'a>,
    is_first: bool,
}

impl<'de> SeqAccess<'de> for Elements<'_, '_> {
    type Error = JsonError;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        if self.reader.has_next_element(&mut self.is_first, b']')? {
            seed.deserialize(&mut *self.reader).map(Some)
        } else {
            Ok(None)
        }
    }
}

impl<'de> MapAccess<'de> for Elements<'_, '_> {
    type Error = JsonError;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        if self.reader.has_next_element(&mut self.is_first, b'}')? {
            seed.deserialize(&mut *self.reader).map(Some)
        } else {
            Ok(None)
        }
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value> {
        self.reader.expect_byte(b':')?;
        seed.deserialize(&mut *self.reader)
    }
}

/// An enum variant with content: `"Name": content`.
struct Variant<'r, 'a>(&'r mut Reader<'a>);

impl<'de> EnumAccess<'de> for Variant<'_, '_> {
    type Error = JsonError;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self)> {
        let name = seed.deserialize(&mut *self.0)?;
        self.0.expect_byte(b':')?;
        Ok((name, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, '_> {
    type Error = JsonError;

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
