//! Lenient reading of a model server's fields.

use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::Value;

/// Reads `null` as the default.
pub fn null_as_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    from: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// Reads an invalid value as `None`, for a field that must not fail the stream.
pub fn ignore_invalid<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    from: D,
) -> Result<Option<T>, D::Error> {
    // Most servers send `null` in each chunk.
    let value = Option::<Value>::deserialize(from)?;
    Ok(value.and_then(|value| serde_json::from_value(value).ok()))
}

/// Reads an invalid value as the default, for a field that must not fail the stream.
pub fn default_if_invalid<'de, D: Deserializer<'de>, T: Default + DeserializeOwned>(
    from: D,
) -> Result<T, D::Error> {
    Ok(ignore_invalid(from)?.unwrap_or_default())
}

/// Reads anything but a string as an empty string.
pub fn text_or_default<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(match Value::deserialize(from)? {
        Value::String(text) => text,
        _ => String::new(),
    })
}
