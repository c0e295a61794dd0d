//! Raw JSON: values that are passed on unchanged, such as a tool's arguments and progress.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, Visitor},
    ser::SerializeStruct,
};
use serde_json::value::RawValue;

use super::reader::Reader;

/// The newtype name by which [`Reader`] recognizes a [`RawJson`].
pub(super) const NAME: &str = "parlor::Json";

/// The name by which serde_json's serializers recognize a [`RawValue`].
const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// The maximum nesting of a value. It is that of serde_json; Python's parser fails at 1,000 levels, those of the event
/// around the value included.
const MAX_NESTING: usize = 127;

/// The white space of JSON within a line.
const BLANKS: [char; 2] = [' ', '\t'];

/// A JSON value as its text, in one line: an event of a stream is one line of `data`, however a model has laid out its
/// arguments. On the wire it is that value, not a string. The page shows it without parsing it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawJson(String);

impl RawJson {
    /// Returns the text itself if it is JSON, else a JSON string of it. Two kinds of JSON count as text, because other
    /// parsers fail at them and would lose the whole event: an escape such as `\\ud83d` without its other half, and
    /// nesting deeper than [`MAX_NESTING`].
    pub fn parse_or_quote(text: &str) -> Self {
        match serde_json::from_str::<&RawValue>(text) {
            Ok(json) if nesting(json.get()) <= MAX_NESTING && Reader::new(json.get()).has_valid_strings() => {
                Self::from_json(json.get())
            }
            _ => Self(serde_json::Value::from(text).to_string()),
        }
    }

    /// Returns a value from its text, which must be JSON. Line breaks and the indentation after them are left out.
    fn from_json(json: &str) -> Self {
        if !json.contains(['\n', '\r']) {
            return Self(json.into());
        }
        let mut line = String::with_capacity(json.len());
        let mut parts = json.split(['\n', '\r']);
        // A string has no line breaks of its own: each of these is between two tokens.
        line.push_str(parts.next().unwrap_or_default());
        for part in parts {
            line.truncate(line.trim_end_matches(BLANKS).len());
            line.push_str(part.trim_start_matches(BLANKS));
        }
        Self(line)
    }

    /// The number zero. It does not use [`Self::parse_or_quote`], which needs serde_json's code for any
    /// value: 20 KB of WASM.
    pub fn zero() -> Self {
        Self("0".into())
    }

    /// Returns a number. `digits` must be a valid one.
    pub(crate) fn from_number(digits: String) -> Self {
        Self(digits)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns the number of arrays and objects inside each other. The text must be JSON.
fn nesting(json: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut is_string, mut is_escaped) = (false, false);
    for byte in json.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_string,
            b'"' => is_string = !is_string,
            b'[' | b'{' if !is_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !is_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

impl JsonSchema for RawJson {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Json".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "description": "Any JSON." })
    }
}

impl Serialize for RawJson {
    /// As [`RawValue`] is serialized, which could be made of a text only by parsing it again.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut raw = serializer.serialize_struct(RAW_VALUE, 1)?;
        raw.serialize_field(RAW_VALUE, &self.0)?;
        raw.end()
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RawVisitor;

        impl<'de> Visitor<'de> for RawVisitor {
            type Value = RawJson;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }

            /// Called by the page's reader.
            fn visit_str<E: de::Error>(self, raw: &str) -> Result<RawJson, E> {
                Ok(RawJson::from_json(raw))
            }

            /// Called by serde_json.
            fn visit_newtype_struct<D: Deserializer<'de>>(
                self,
                deserializer: D,
            ) -> Result<RawJson, D::Error> {
                Box::<RawValue>::deserialize(deserializer).map(|raw| RawJson::from_json(raw.get()))
            }
        }

        deserializer.deserialize_newtype_struct(NAME, RawVisitor)
    }
}
