//! Echoed metadata: a model writes metadata about its own answer because it has seen them before all messages
//! of the history.
//!
//! Echoes mostly stand at the very beginning and are often malformed: without the end of the comment, with
//! other content than JSON, or as JSON alone. At the beginning there is no text yet that they could belong
//! to, so there they are removed in any form if they name a time. JSON alone needs both fields that Parlor
//! always writes, since an answer may be an object with a timestamp. Other metadata are left to the filter,
//! which handles sources, mentions, and comments at the beginning of later lines.

use super::{
    is_space,
    json_scanner::{self, ScanStep, Scanner},
};

/// The longest echo, in bytes. Anything longer is text.
const MAX_ECHO_BYTES: usize = 4096;

/// The same limit for a malformed echo at the beginning of a later line. It holds back no more than a
/// paragraph.
const MAX_LATER_ECHO_BYTES: usize = 1024;

const OPENING: &str = "<!--";
const WORD: &str = "metadata";
const CLOSING: &str = "-->";

/// The fields of the history's metadata. An object with the first of them and no others is an echo.
const METADATA_FIELDS: [&str; 6] = [
    "timestamp",
    "relative_time",
    "session_gap",
    "files",
    "tools_used",
    "tool_summary",
];

/// Holds back the beginning of an answer until it is identified as text or as an echo.
#[derive(Clone, Debug, Default)]
pub(super) struct EchoedMetadata {
    held: String,
    /// True if the answer's own text has begun.
    has_passed: bool,
    /// True if an echo was removed.
    has_removed: bool,
}

/// The classification of an answer's beginning.
#[derive(Debug, PartialEq, Eq)]
enum EchoMatch {
    /// An echo of this many bytes.
    Echo(usize),
    /// More text is needed.
    Incomplete,
    Text,
}

impl EchoedMetadata {
    /// Disables the check, for the continuation of an answer.
    pub fn disable(&mut self) {
        self.has_passed = true;
    }

    /// Appends text of the answer and returns the part that is certainly its text.
    pub fn push(&mut self, delta: &str) -> String {
        if self.has_passed {
            return delta.to_owned();
        }
        self.held.push_str(delta);
        self.scan(false)
    }

    /// Ends the answer and returns the text that was held back.
    pub fn finish(&mut self) -> String {
        if self.has_passed {
            return String::new();
        }
        self.scan(true)
    }

    /// Returns the number of bytes held back.
    #[cfg(test)]
    pub fn held_bytes(&self) -> usize {
        self.held.len()
    }

    /// Releases the held text. Whitespace after a removed echo is removed too, except the indent of the
    /// next line.
    fn release(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        if !self.has_removed {
            return held;
        }
        let text = held.trim_start_matches(is_space);
        let space = &held[..held.len() - text.len()];
        match space.rfind(['\n', '\r']) {
            Some(end) if !text.is_empty() => held[end + 1..].to_owned(),
            _ => text.to_owned(),
        }
    }

    fn scan(&mut self, has_ended: bool) -> String {
        loop {
            match match_beginning(&self.held, has_ended) {
                EchoMatch::Echo(length) if length <= MAX_ECHO_BYTES => {
                    self.held.drain(..length);
                    self.has_removed = true;
                }
                EchoMatch::Incomplete if self.held.len() <= MAX_ECHO_BYTES => return String::new(),
                EchoMatch::Echo(_) | EchoMatch::Incomplete | EchoMatch::Text => {
                    self.has_passed = true;
                    return self.release();
                }
            }
        }
    }
}

/// Classifies the beginning of an answer, or all of it if it `has_ended`.
fn match_beginning(held: &str, has_ended: bool) -> EchoMatch {
    let text = held.trim_start_matches(is_space);
    let space = held.len() - text.len();
    if is_indented_code(&held[..space]) && !text.is_empty() {
        return EchoMatch::Text;
    }
    let found = match text.chars().next() {
        Some('<') => match_comment(text, has_ended),
        Some('{') => match_object(text, &METADATA_FIELDS[..2]),
        Some('m' | 'M') => match_word(text),
        Some(_) => EchoMatch::Text,
        None => EchoMatch::Incomplete,
    };
    match found {
        EchoMatch::Echo(length) => EchoMatch::Echo(space + length),
        EchoMatch::Incomplete if has_ended => EchoMatch::Text,
        found => found,
    }
}

/// Returns true if text after this whitespace is indented code.
fn is_indented_code(space: &str) -> bool {
    let indent = space.rsplit(['\n', '\r']).next().unwrap_or_default();
    indent.contains('\t') || indent.len() >= 4
}

/// Matches `<!-- METADATA …` up to the comment's end, or up to the end of its content.
fn match_comment(text: &str, has_ended: bool) -> EchoMatch {
    let Some(after) = strip_word_prefix(text, OPENING) else {
        return match_word_prefix(text, OPENING);
    };
    let after = after.trim_start_matches(is_space);
    let Some(body) = strip_word_prefix(after, WORD) else {
        return match_word_prefix(after, WORD);
    };
    let body = body.trim_start_matches(is_space);
    let body = match body.chars().next() {
        Some(':') => body[1..].trim_start_matches(is_space),
        Some('{') => body,
        None => return EchoMatch::Incomplete,
        // A mention.
        Some(_) => return EchoMatch::Text,
    };
    let at = |rest: &str| text.len() - rest.len();
    match first_object(body) {
        ObjectMatch::Whole(json, _) if !is_history_metadata(json) => return EchoMatch::Text,
        ObjectMatch::Whole(_, rest) => {
            let closing = rest.trim_start_matches(is_space);
            return match strip_word_prefix(closing, CLOSING) {
                Some(rest) => EchoMatch::Echo(at(rest)),
                // The end of the comment may still arrive.
                None if !has_ended && CLOSING.starts_with(closing) => EchoMatch::Incomplete,
                // The end of the comment is missing.
                None => EchoMatch::Echo(at(rest)),
            };
        }
        ObjectMatch::Incomplete => return EchoMatch::Incomplete,
        ObjectMatch::None => {}
    }
    match body.find(CLOSING) {
        Some(end) if is_history_metadata(&body[..end]) => EchoMatch::Echo(at(&body[end + CLOSING.len()..])),
        Some(_) => EchoMatch::Text,
        None => EchoMatch::Incomplete,
    }
}

/// Matches `METADATA: {…}` without a comment.
fn match_word(text: &str) -> EchoMatch {
    let Some(after) = strip_word_prefix(text, WORD) else {
        return match_word_prefix(text, WORD);
    };
    let Some(after) = strip_word_prefix(after, ":") else {
        return match_word_prefix(after, ":");
    };
    let body = after.trim_start_matches(is_space);
    match body.chars().next() {
        None => EchoMatch::Incomplete,
        Some('{') => match match_object(body, &METADATA_FIELDS[..1]) {
            EchoMatch::Echo(length) => EchoMatch::Echo(text.len() - body.len() + length),
            found => found,
        },
        Some(_) => EchoMatch::Text,
    }
}

/// Matches `{"timestamp": …}` with the needed fields and only fields that Parlor writes. The first name
/// decides if the rest is awaited.
fn match_object(text: &str, needed: &[&str]) -> EchoMatch {
    let name = text[1..].trim_start_matches(is_space);
    let Some(name) = name.strip_prefix('"') else {
        return if name.is_empty() {
            EchoMatch::Incomplete
        } else {
            EchoMatch::Text
        };
    };
    let is_ours = |field: &str| match name.split_once('"') {
        Some((name, _)) => name == field,
        None => field.starts_with(name),
    };
    if !METADATA_FIELDS.into_iter().any(is_ours) {
        return EchoMatch::Text;
    }
    match first_object(text) {
        ObjectMatch::Whole(json, rest) if is_metadata_object(json, needed) => {
            EchoMatch::Echo(text.len() - rest.len())
        }
        ObjectMatch::Whole(..) | ObjectMatch::None => EchoMatch::Text,
        ObjectMatch::Incomplete => EchoMatch::Incomplete,
    }
}

/// The object at the beginning of a text.
enum ObjectMatch<'a> {
    /// The complete object, and the text after it.
    Whole(&'a str, &'a str),
    /// More text is needed.
    Incomplete,
    /// No object, or an invalid one.
    None,
}

fn first_object(text: &str) -> ObjectMatch<'_> {
    if !text.is_empty() && !text.starts_with('{') {
        return ObjectMatch::None;
    }
    let mut scanner = Scanner::default();
    for (at, c) in text.char_indices() {
        match scanner.feed(c) {
            ScanStep::Continue => {}
            ScanStep::End => {
                let (object, rest) = text.split_at(at + c.len_utf8());
                return ObjectMatch::Whole(object, rest);
            }
            ScanStep::Invalid => return ObjectMatch::None,
        }
    }
    ObjectMatch::Incomplete
}

fn is_metadata_object(json: &str, needed: &[&str]) -> bool {
    let Some(serde_json::Value::Object(fields)) = json_scanner::parse(json) else {
        return false;
    };
    needed.iter().all(|name| fields.contains_key(*name))
        && fields.keys().all(|name| METADATA_FIELDS.contains(&name.as_str()))
}

/// Returns true if a comment at the beginning of a line ends here and is an echo.
pub(super) fn is_complete_echo(held: &str) -> bool {
    held.ends_with(CLOSING) && is_history_metadata(held)
}

/// Returns true if such a comment may still become an echo: it has not ended and is within one paragraph.
pub(super) fn may_become_echo(held: &str) -> bool {
    !held.ends_with(CLOSING)
        && !held.ends_with("\n\n")
        && !held.ends_with("\n\r\n")
        && held.len() < MAX_LATER_ECHO_BYTES
}

/// Returns true if metadata, well-formed or not, have the fields of the history's. Other metadata are text or
/// are left to the filter, which handles sources.
pub(super) fn is_history_metadata(metadata: &str) -> bool {
    METADATA_FIELDS[..2].iter().any(|field| metadata.contains(field)) && !metadata.contains("\"sources\"")
}

/// Returns the text after a word, in any case.
fn strip_word_prefix<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (begin, rest) = text.split_at_checked(word.len())?;
    begin.eq_ignore_ascii_case(word).then_some(rest)
}

/// Matches a text that may be the beginning of a word.
fn match_word_prefix(text: &str, word: &str) -> EchoMatch {
    let begins = word
        .get(..text.len())
        .is_some_and(|begin| begin.eq_ignore_ascii_case(text));
    if begins {
        EchoMatch::Incomplete
    } else {
        EchoMatch::Text
    }
}

#[cfg(test)]
mod tests;
