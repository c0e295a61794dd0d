//! Texts in the URLs of pages.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// All characters but the unreserved ones of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// Percent-encodes a text for a path.
pub fn encode_path(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// Percent-encodes a text for a query, where a space is `+`.
pub fn encode_query(text: &str) -> String {
    encode_path(text).replace("%20", "+")
}

/// Decodes a text of a path or a query. Invalid escapes are kept as they are.
pub fn decode(text: &str) -> String {
    let text = text.replace('+', " ");
    percent_decode_str(&text).decode_utf8_lossy().into_owned()
}
