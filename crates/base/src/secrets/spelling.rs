//! The spellings of a secret: plain, percent-encoded, escaped as in JSON, any mixture of these, and in
//! Base64.

use base64::{Engine, prelude::BASE64_STANDARD_NO_PAD};

/// The minimum length of a Base64 fragment that identifies a secret.
const MIN_BASE64_PART_BYTES: usize = 7;

/// The maximum number of bytes for one byte of a secret, as in `\u002f`.
pub(super) const MAX_SPELLING_FACTOR: usize = 6;

/// The maximum number of times that a percent sign may have been encoded repeatedly.
const MAX_REPEATED_ENCODINGS: usize = 8;

/// The bytes that a secret may begin with besides its own first one.
pub(super) const ESCAPE_BYTES: [u8; 2] = *b"%\\";

/// Returns the number of bytes at the beginning of a text that spell this secret.
pub(super) fn match_secret(secret: &str, text: &[u8]) -> Option<usize> {
    // The possible ends of the match so far: a backslash or percent sign of the secret may be escaped or not.
    let mut ends = vec![0];
    for c in secret.chars() {
        let mut next = Vec::with_capacity(ends.len());
        for end in ends {
            let rest = text.get(end..)?;
            let lengths = [match_plain(c, rest), match_escaped(c, rest)];
            let percent_signs = (c == '%')
                .then(|| percent_sign_lengths(rest))
                .into_iter()
                .flatten();
            for length in lengths.into_iter().flatten().chain(percent_signs) {
                let end = end + length;
                if !next.contains(&end) {
                    next.push(end);
                }
            }
        }
        ends = next;
    }
    ends.into_iter().max()
}

/// Returns the number of bytes at the beginning of a text that are this character in plain form.
fn match_plain(c: char, text: &[u8]) -> Option<usize> {
    text.starts_with(c.encode_utf8(&mut [0; 4]).as_bytes())
        .then_some(c.len_utf8())
}

/// Returns the number of bytes at the beginning of a text that spell this character in an escaped form.
fn match_escaped(c: char, text: &[u8]) -> Option<usize> {
    match text.first()? {
        b'%' => match_percent_escape(c, text),
        b'\\' => match_json_escape(c, text),
        // As in form data.
        b'+' if c == ' ' => Some(1),
        _ => None,
    }
}

/// Returns the possible lengths of a percent sign that is encoded at the beginning of a text: in `%2525`, the second `25`
/// belongs to a repeated encoding or to the text after it.
fn percent_sign_lengths(text: &[u8]) -> impl Iterator<Item = usize> {
    let digits = text.strip_prefix(b"%").unwrap_or_default();
    let repeated = digits.chunks(2).take_while(|pair| pair == b"25").count();
    (1..=repeated.min(MAX_REPEATED_ENCODINGS)).map(|encodings| 1 + 2 * encodings)
}

/// Matches `%2F`, or `%252F` for a repeated encoding.
fn match_percent_escape(c: char, text: &[u8]) -> Option<usize> {
    let mut length = 0;
    for byte in c.encode_utf8(&mut [0; 4]).bytes() {
        let mut rest = text.get(length..)?.strip_prefix(b"%")?;
        length += 1;
        while let Some(more) = rest
            .strip_prefix(b"25")
            .filter(|more| parse_hex(more, 2).is_some())
        {
            rest = more;
            length += 2;
        }
        if parse_hex(rest, 2)? != u32::from(byte) {
            return None;
        }
        length += 2;
    }
    Some(length)
}

/// Matches `\"`, `\u0022` and `\u{22}`, after any number of backslashes: JSON may be nested in JSON.
fn match_json_escape(c: char, text: &[u8]) -> Option<usize> {
    let slashes = text.iter().take_while(|byte| **byte == b'\\').count();
    if c == '\\' && slashes >= 2 {
        return Some(2);
    }
    let rest = &text[slashes..];
    if let Some(code) = rest.strip_prefix(b"u{") {
        let end = code.iter().position(|byte| *byte == b'}')?;
        return (parse_hex(code, end)? == u32::from(c)).then_some(slashes + 2 + end + 1);
    }
    if rest.first() == Some(&b'u') {
        let mut length = slashes;
        for (index, unit) in c.encode_utf16(&mut [0; 2]).iter().enumerate() {
            if index > 0 {
                length += text
                    .get(length..)?
                    .iter()
                    .take_while(|byte| **byte == b'\\')
                    .count();
            }
            let code = text.get(length..)?.strip_prefix(b"u")?;
            if parse_hex(code, 4)? != u32::from(*unit) {
                return None;
            }
            length += 5;
        }
        return Some(length);
    }
    let escape = match c {
        '\n' => b'n',
        '\r' => b'r',
        '\t' => b't',
        '"' | '\'' | '/' => c as u8,
        _ => return None,
    };
    (rest.first() == Some(&escape)).then_some(slashes + 1)
}

fn parse_hex(text: &[u8], digits: usize) -> Option<u32> {
    let text = text
        .get(..digits)
        .filter(|text| text.iter().all(u8::is_ascii_hexdigit))?;
    u32::from_str_radix(str::from_utf8(text).ok()?, 16).ok()
}

/// Returns the Base64 fragments of a secret, for each of its three alignments in the encoded text: the
/// characters that depend only on the secret. In both alphabets.
pub(super) fn base64_forms(secret: &str) -> Vec<String> {
    let mut parts = Vec::new();
    for before in 0..3 {
        let mut bytes = vec![0; before];
        bytes.extend_from_slice(secret.as_bytes());
        let encoded = BASE64_STANDARD_NO_PAD.encode(&bytes);
        let (from, to) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
        let Some(part) = encoded
            .get(from..to)
            .filter(|part| part.len() >= MIN_BASE64_PART_BYTES)
        else {
            continue;
        };
        let for_urls = part.replace('+', "-").replace('/', "_");
        if for_urls != part {
            parts.push(for_urls);
        }
        parts.push(part.to_owned());
    }
    parts
}

/// Returns the range of the Base64 text that has a fragment at `at`.
pub(super) fn base64_span(text: &str, at: usize, length: usize) -> std::ops::Range<usize> {
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte);
    let (before, after) = (&text.as_bytes()[..at], &text.as_bytes()[at + length..]);
    let start = at - before.iter().rev().take_while(|byte| is_digit(byte)).count();
    let digits = after.iter().take_while(|byte| is_digit(byte)).count();
    let padding = after[digits..].iter().take_while(|byte| **byte == b'=').count();
    start..at + length + digits + padding
}
