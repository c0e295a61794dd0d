//! JSON that models and servers write, read leniently: the only place that accepts what is no JSON.
//!
//! Valid JSON is read by serde_json alone, at its cost. Anything else is mended first: lone halves of surrogate pairs,
//! `NaN` and `Infinity`, raw control characters in strings, unknown escapes, repeated keys, commas before a closing
//! bracket, words of other languages (`None`, `True`, `undefined`), numbers out of range and excessive nesting. What is
//! incomplete stays invalid.

mod halves;
mod mender;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use parlor_base::text::block_of_markdown;
use serde::de::DeserializeOwned;

use self::mender::Mender;
pub use self::{
    halves::{has_lone_half, join_marks, without_marks},
    mender::Halves,
};

/// JSON that was mended.
#[derive(Debug, PartialEq)]
pub struct Mended<'a> {
    /// Borrowed if there was nothing to mend.
    pub text: Cow<'a, str>,
    /// True if the text has marks of lone halves.
    pub has_marks: bool,
}

/// Mends one value. Returns `None` if it can't be read, or if anything follows it.
pub fn mend(text: &str, halves: Halves) -> Option<Mended<'_>> {
    let mut mender = Mender::new(text, halves);
    mender.value(0)?;
    mender.is_at_end().then(|| mender.into_mended())
}

/// Parses a value. Lone halves become U+FFFD.
///
/// # Errors
///
/// The error of the text as it stands, if it can't be mended.
pub fn parse<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    serde_json::from_str(text).or_else(|error| match mend(text, Halves::Replace) {
        Some(mended) => serde_json::from_str(&mended.text),
        None => Err(error),
    })
}

/// Parses the bytes of a value as [`parse`] does. Invalid UTF-8 becomes U+FFFD.
///
/// # Errors
///
/// As [`parse`].
pub fn parse_bytes<T: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    serde_json::from_slice(bytes).or_else(|_| parse(&String::from_utf8_lossy(bytes)))
}

/// Returns the arguments of a tool call as an object in valid JSON; the text itself if there is none in it.
///
/// An object is also found in a code block, as a JSON string, behind empty objects or its own repetition, as proxies send
/// it (`{}{"expression":"1"}`), and among the marks of a template and brackets without a partner (`{"a":1}}</tool_call>`).
pub fn tool_arguments(text: &str) -> Cow<'_, str> {
    object_in(text).unwrap_or(Cow::Borrowed(text))
}

fn object_in(text: &str) -> Option<Cow<'_, str>> {
    let inside = block_of_markdown(text).map_or(text, |(_, inside)| inside);
    let values = mend_all(without_marks_around(inside))?;
    if let [only] = values.as_slice()
        && only.starts_with('"')
    {
        let inner: String = serde_json::from_str(only).ok()?;
        let object = only_object(mend_all(&inner)?)?;
        return Some(Cow::Owned(object.into_owned()));
    }
    only_object(values)
}

/// Returns the object among values that are empty or its repetitions.
fn only_object(values: Vec<Cow<'_, str>>) -> Option<Cow<'_, str>> {
    let has_object = values.iter().any(|value| value.starts_with('{'));
    let mut found: Option<Cow<str>> = None;
    for value in values {
        if has_object && matches!(&*value, "null" | r#""""#) {
            continue;
        }
        if !value.starts_with('{') {
            return None;
        }
        found = match found {
            Some(before) if is_empty_object(&value) || value == before => Some(before),
            Some(before) if !is_empty_object(&before) => return None,
            _ => Some(value),
        };
    }
    found
}

/// Mends all values of a text that has nothing but values.
fn mend_all(text: &str) -> Option<Vec<Cow<'_, str>>> {
    let mut values = Vec::new();
    let mut rest = text;
    loop {
        let mut mender = Mender::new(rest, Halves::Replace);
        if mender.is_at_end() {
            return Some(values);
        }
        mender.value(0)?;
        // The tool would do something else.
        if mender.has_lost_value() {
            return None;
        }
        let end = mender.position();
        values.push(match mender.into_mended().text {
            Cow::Borrowed(_) => Cow::Borrowed(rest[..end].trim()),
            Cow::Owned(mended) => Cow::Owned(mended),
        });
        rest = &rest[end..];
    }
}

fn is_empty_object(json: &str) -> bool {
    json.strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'))
        .is_some_and(|inside| inside.trim().is_empty())
}

/// The characters that a mark of a template has at most: `</tool_call>`, `<|im_end|>`.
const MAX_MARK_CHARS: usize = 24;

/// Returns a text without the marks of a template around an object, and without closing brackets behind it that have no
/// partner in it.
fn without_marks_around(text: &str) -> &str {
    let mut inside = text.trim();
    while let Some((mark, rest)) = inside.split_once('>')
        && is_mark(mark)
    {
        inside = rest.trim_start();
    }
    if !inside.starts_with('{') {
        return text;
    }
    while let Some((rest, mark)) = inside.strip_suffix('>').and_then(|inside| {
        let at = inside.rfind('<')?;
        Some(inside.split_at(at))
    }) && is_mark(mark)
    {
        inside = rest.trim_end();
    }
    let mut mender = Mender::new(inside, Halves::Replace);
    if mender.value(0).is_some() {
        let (object, rest) = inside.split_at(mender.position());
        let is_closing = |c: char| matches!(c, '}' | ']') || c.is_whitespace();
        if rest.chars().all(is_closing) {
            return object;
        }
    }
    inside
}

/// Returns true for the mark of a template without its last character.
fn is_mark(text: &str) -> bool {
    let name = text.strip_prefix('<').unwrap_or_default();
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '/' | '|' | '-' | '｜' | '▁');
    !name.is_empty() && name.chars().count() <= MAX_MARK_CHARS && name.chars().all(is_part)
}
