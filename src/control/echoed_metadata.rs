//! The metadata that a model writes about its own answer, because it has seen them before all messages of the history.
//!
//! They mostly stand at the very beginning, and are not always well written: without the end of the comment, with other words than
//! JSON in it, or as JSON alone. There is nothing there yet that they could be a part of, so there they are taken out however
//! they are written, as long as they name when something was said: as JSON alone only with both fields that Parlor always writes,
//! since an answer may be an object that has a timestamp. Other metadata are left to the filter: it knows sources, what is only a
//! mention, and what begins a later line.

use super::{
    is_space,
    json_scanner::{self, ScanStep, Scanner},
};

/// The longest imitation, in bytes. What is longer is text.
const MAX_ECHO_BYTES: usize = 4096;

/// The same for one that is not well written and begins a later line: what is held back there is no more than a paragraph.
const MAX_LATER_ECHO_BYTES: usize = 1024;

const OPENING: &str = "<!--";
const WORD: &str = "metadata";
const CLOSING: &str = "-->";

/// What the history's metadata say. An object of nothing else, with the first of them, is an imitation.
const METADATA_FIELDS: [&str; 6] = [
    "timestamp",
    "relative_time",
    "session_gap",
    "files",
    "tools_used",
    "tool_summary",
];

/// Holds back the beginning of an answer until it is known what it is.
#[derive(Clone, Debug, Default)]
pub(super) struct EchoedMetadata {
    held: String,
    /// The answer's own text has begun.
    has_passed: bool,
    /// Something was taken out.
    has_removed: bool,
}

/// What the beginning of an answer is.
#[derive(Debug, PartialEq, Eq)]
enum EchoMatch {
    /// So many bytes of imitation.
    Echo(usize),
    /// That can't be said yet.
    Incomplete,
    Text,
}

impl EchoedMetadata {
    /// The answer has begun before: there is nothing to look for.
    pub fn skip(&mut self) {
        self.has_passed = true;
    }

    /// Takes more of the answer, and gives what is surely its text.
    pub fn push(&mut self, delta: &str) -> String {
        if self.has_passed {
            return delta.to_owned();
        }
        self.held.push_str(delta);
        self.scan(false)
    }

    /// The answer has ended: gives what was held back and is its text.
    pub fn finish(&mut self) -> String {
        if self.has_passed {
            return String::new();
        }
        self.scan(true)
    }

    /// How many bytes are held back.
    #[cfg(test)]
    pub fn held_bytes(&self) -> usize {
        self.held.len()
    }

    /// What was held is text. White space behind what was taken out goes with it, but for the indent of the line that follows.
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

/// Looks at the beginning of an answer, or at all of it if it `has_ended`.
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

/// Whether what begins behind this white space is code.
fn is_indented_code(space: &str) -> bool {
    let indent = space.rsplit(['\n', '\r']).next().unwrap_or_default();
    indent.contains('\t') || indent.len() >= 4
}

/// `<!-- METADATA …`, up to its end or the end of what is in it.
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
                // The end of the comment may be yet to come.
                None if !has_ended && CLOSING.starts_with(closing) => EchoMatch::Incomplete,
                // It was forgotten.
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

/// `METADATA: {…}` without a comment around it.
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

/// `{"timestamp": …}` with these fields, and none that Parlor does not write. The first name in it decides whether it is worth waiting
/// for the rest.
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

/// The object that a text begins with.
enum ObjectMatch<'a> {
    /// The object, and what is behind it.
    Whole(&'a str, &'a str),
    /// More of it is to come.
    Incomplete,
    /// There is none, or it is none.
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

/// Whether a comment with metadata that begins a line ends here and is an imitation.
pub(super) fn is_complete_echo(held: &str) -> bool {
    held.ends_with(CLOSING) && is_history_metadata(held)
}

/// Whether such a comment may yet turn out to be one: it has not ended, and is in one paragraph.
pub(super) fn may_become_echo(held: &str) -> bool {
    !held.ends_with(CLOSING)
        && !held.ends_with("\n\n")
        && !held.ends_with("\n\r\n")
        && held.len() < MAX_LATER_ECHO_BYTES
}

/// Whether metadata, well written or not, are those of the history. Others are the filter's, which knows sources, or text.
pub(super) fn is_history_metadata(metadata: &str) -> bool {
    METADATA_FIELDS[..2].iter().any(|field| metadata.contains(field)) && !metadata.contains("\"sources\"")
}

/// What is behind a word, in whatever case it is written.
fn strip_word_prefix<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (begin, rest) = text.split_at_checked(word.len())?;
    begin.eq_ignore_ascii_case(word).then_some(rest)
}

/// Whether the whole text may be the beginning of a word.
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
