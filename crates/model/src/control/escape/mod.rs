//! Escapes text that looks like metadata before the model reads it: only Parlor writes metadata.
//!
//! A model accepts more than the exact marker as metadata: full-width and Cyrillic letters, invisible
//! characters between the letters, one dash or three. All of these are recognised ([`lookalikes`]). Only the
//! first character of the marker is replaced.

mod lookalikes;

use std::borrow::Cow;

use self::lookalikes::{is_ignored, is_letter, is_mark};

/// The replacement of the character that begins metadata.
const ESCAPED_LT: &str = "&lt;";
const WORD: &[u8; 8] = b"METADATA";

/// Returns a text in which nothing can be mistaken for metadata.
pub fn escape_metadata(text: &str) -> Cow<'_, str> {
    let mut escaped = String::new();
    let mut copied = 0;
    for (at, c) in text.char_indices() {
        if is_mark(c, b'<') && begins_metadata(&text[at + c.len_utf8()..]) {
            escaped.push_str(&text[copied..at]);
            escaped.push_str(ESCAPED_LT);
            copied = at + c.len_utf8();
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    escaped.push_str(&text[copied..]);
    Cow::Owned(escaped)
}

/// Returns true if a `<` with this text after it reads as `<!-- METADATA`. Stops at the next `<`, so that a
/// text is read at most twice.
fn begins_metadata(rest: &str) -> bool {
    let mut rest = rest.chars().filter(|c| !is_ignored(*c)).peekable();
    if rest.next_if(|c| is_mark(*c, b'!')).is_none() {
        return false;
    }
    let mut dashes = 0;
    while rest.next_if(|c| is_mark(*c, b'-')).is_some() {
        dashes += 1;
    }
    dashes > 0
        && WORD
            .iter()
            .all(|letter| rest.next().is_some_and(|c| is_letter(c, *letter)))
}

#[cfg(test)]
mod tests;
