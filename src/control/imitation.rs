//! The metadata that a model writes about its own answer, because it has seen them before all messages of the history.
//!
//! They mostly stand at the very beginning, and are not always well written: without the end of the comment, with other words than
//! JSON in it, or as JSON alone. There is nothing there yet that they could be a part of, so there they are taken out however
//! they are written, as long as they name when something was said: as JSON alone only with both fields that Parlor always writes,
//! since an answer may be an object that has a timestamp. Other metadata are left to the filter: it knows sources, what is only a
//! mention, and what begins a later line.

use super::{
    is_space,
    json::{self, Scanner, Step},
};

/// The longest imitation, in bytes. What is longer is text.
const LONGEST: usize = 4096;

/// The same for one that is not well written and begins a later line: what is held back there is no more than a paragraph.
const LONGEST_LATER: usize = 1024;

const OPENING: &str = "<!--";
const WORD: &str = "metadata";
const CLOSING: &str = "-->";

/// What the history's metadata say. An object of nothing else, with the first of them, is an imitation.
const FIELDS: [&str; 6] = [
    "timestamp",
    "relative_time",
    "session_gap",
    "files",
    "tools_used",
    "tool_summary",
];

/// Holds back the beginning of an answer until it is known what it is.
#[derive(Clone, Debug, Default)]
pub(super) struct Imitation {
    held: String,
    /// The answer's own text has begun.
    is_over: bool,
    /// Something was taken out.
    was_taken: bool,
}

/// What the beginning of an answer is.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    /// So many bytes of imitation.
    Imitation(usize),
    /// That can't be said yet.
    Perhaps,
    Text,
}

impl Imitation {
    /// The answer has begun before: there is nothing to look for.
    pub fn skip(&mut self) {
        self.is_over = true;
    }

    /// Takes more of the answer, and gives what is surely its text.
    pub fn push(&mut self, delta: &str) -> String {
        if self.is_over {
            return delta.to_owned();
        }
        self.held.push_str(delta);
        self.look(false)
    }

    /// The answer has ended: gives what was held back and is its text.
    pub fn finish(&mut self) -> String {
        if self.is_over {
            return String::new();
        }
        self.look(true)
    }

    /// How many bytes are held back.
    #[cfg(test)]
    pub fn held_bytes(&self) -> usize {
        self.held.len()
    }

    /// What was held is text. White space behind what was taken out goes with it, but for the indent of the line that follows.
    fn release(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        if !self.was_taken {
            return held;
        }
        let text = held.trim_start_matches(is_space);
        let space = &held[..held.len() - text.len()];
        match space.rfind(['\n', '\r']) {
            Some(end) if !text.is_empty() => held[end + 1..].to_owned(),
            _ => text.to_owned(),
        }
    }

    fn look(&mut self, has_ended: bool) -> String {
        loop {
            match find(&self.held, has_ended) {
                Found::Imitation(length) if length <= LONGEST => {
                    self.held.drain(..length);
                    self.was_taken = true;
                }
                Found::Perhaps if self.held.len() <= LONGEST => return String::new(),
                Found::Imitation(_) | Found::Perhaps | Found::Text => {
                    self.is_over = true;
                    return self.release();
                }
            }
        }
    }
}

/// Looks at the beginning of an answer, or at all of it if it `has_ended`.
fn find(held: &str, has_ended: bool) -> Found {
    let text = held.trim_start_matches(is_space);
    let space = held.len() - text.len();
    if is_indented_code(&held[..space]) && !text.is_empty() {
        return Found::Text;
    }
    let found = match text.chars().next() {
        Some('<') => comment(text, has_ended),
        Some('{') => object(text, &FIELDS[..2]),
        Some('m' | 'M') => word(text),
        Some(_) => Found::Text,
        None => Found::Perhaps,
    };
    match found {
        Found::Imitation(length) => Found::Imitation(space + length),
        Found::Perhaps if has_ended => Found::Text,
        found => found,
    }
}

/// Whether what begins behind this white space is code.
fn is_indented_code(space: &str) -> bool {
    let indent = space.rsplit(['\n', '\r']).next().unwrap_or_default();
    indent.contains('\t') || indent.len() >= 4
}

/// `<!-- METADATA …`, up to its end or the end of what is in it.
fn comment(text: &str, has_ended: bool) -> Found {
    let Some(after) = behind(text, OPENING) else {
        return perhaps(text, OPENING);
    };
    let after = after.trim_start_matches(is_space);
    let Some(body) = behind(after, WORD) else {
        return perhaps(after, WORD);
    };
    let body = body.trim_start_matches(is_space);
    let body = match body.chars().next() {
        Some(':') => body[1..].trim_start_matches(is_space),
        Some('{') => body,
        None => return Found::Perhaps,
        // A mention.
        Some(_) => return Found::Text,
    };
    let at = |rest: &str| text.len() - rest.len();
    match first_object(body) {
        Object::Whole(json, _) if !is_of_history(json) => return Found::Text,
        Object::Whole(_, rest) => {
            let closing = rest.trim_start_matches(is_space);
            return match behind(closing, CLOSING) {
                Some(rest) => Found::Imitation(at(rest)),
                // The end of the comment may be yet to come.
                None if !has_ended && CLOSING.starts_with(closing) => Found::Perhaps,
                // It was forgotten.
                None => Found::Imitation(at(rest)),
            };
        }
        Object::Open => return Found::Perhaps,
        Object::None => {}
    }
    match body.find(CLOSING) {
        Some(end) if is_of_history(&body[..end]) => Found::Imitation(at(&body[end + CLOSING.len()..])),
        Some(_) => Found::Text,
        None => Found::Perhaps,
    }
}

/// `METADATA: {…}` without a comment around it.
fn word(text: &str) -> Found {
    let Some(after) = behind(text, WORD) else {
        return perhaps(text, WORD);
    };
    let Some(after) = behind(after, ":") else {
        return perhaps(after, ":");
    };
    let body = after.trim_start_matches(is_space);
    match body.chars().next() {
        None => Found::Perhaps,
        Some('{') => match object(body, &FIELDS[..1]) {
            Found::Imitation(length) => Found::Imitation(text.len() - body.len() + length),
            found => found,
        },
        Some(_) => Found::Text,
    }
}

/// `{"timestamp": …}` with these fields, and none that Parlor does not write. The first name in it decides whether it is worth waiting
/// for the rest.
fn object(text: &str, needed: &[&str]) -> Found {
    let name = text[1..].trim_start_matches(is_space);
    let Some(name) = name.strip_prefix('"') else {
        return if name.is_empty() {
            Found::Perhaps
        } else {
            Found::Text
        };
    };
    let is_ours = |field: &str| match name.split_once('"') {
        Some((name, _)) => name == field,
        None => field.starts_with(name),
    };
    if !FIELDS.into_iter().any(is_ours) {
        return Found::Text;
    }
    match first_object(text) {
        Object::Whole(json, rest) if is_metadata(json, needed) => Found::Imitation(text.len() - rest.len()),
        Object::Whole(..) | Object::None => Found::Text,
        Object::Open => Found::Perhaps,
    }
}

/// The object that a text begins with.
enum Object<'a> {
    /// The object, and what is behind it.
    Whole(&'a str, &'a str),
    /// More of it is to come.
    Open,
    /// There is none, or it is none.
    None,
}

fn first_object(text: &str) -> Object<'_> {
    if !text.is_empty() && !text.starts_with('{') {
        return Object::None;
    }
    let mut scanner = Scanner::default();
    for (at, c) in text.char_indices() {
        match scanner.feed(c) {
            Step::More => {}
            Step::End => {
                let (object, rest) = text.split_at(at + c.len_utf8());
                return Object::Whole(object, rest);
            }
            Step::Wrong => return Object::None,
        }
    }
    Object::Open
}

fn is_metadata(json: &str, needed: &[&str]) -> bool {
    let Some(serde_json::Value::Object(fields)) = json::parse(json) else {
        return false;
    };
    needed.iter().all(|name| fields.contains_key(*name))
        && fields.keys().all(|name| FIELDS.contains(&name.as_str()))
}

/// Whether a comment with metadata that begins a line ends here and is an imitation.
pub(super) fn is_whole(held: &str) -> bool {
    held.ends_with(CLOSING) && is_of_history(held)
}

/// Whether such a comment may yet turn out to be one: it has not ended, and is in one paragraph.
pub(super) fn may_go_on(held: &str) -> bool {
    !held.ends_with(CLOSING)
        && !held.ends_with("\n\n")
        && !held.ends_with("\n\r\n")
        && held.len() < LONGEST_LATER
}

/// Whether metadata, well written or not, are those of the history. Others are the filter's, which knows sources, or text.
pub(super) fn is_of_history(metadata: &str) -> bool {
    FIELDS[..2].iter().any(|field| metadata.contains(field)) && !metadata.contains("\"sources\"")
}

/// What is behind a word, in whatever case it is written.
fn behind<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (begin, rest) = text.split_at_checked(word.len())?;
    begin.eq_ignore_ascii_case(word).then_some(rest)
}

/// Whether the whole text may be the beginning of a word.
fn perhaps(text: &str, word: &str) -> Found {
    let begins = word
        .get(..text.len())
        .is_some_and(|begin| begin.eq_ignore_ascii_case(text));
    if begins { Found::Perhaps } else { Found::Text }
}

#[cfg(test)]
mod tests;
