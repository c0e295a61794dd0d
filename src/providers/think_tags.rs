//! Thinking that a model writes into its text, as `<think>…</think>` at the very start.
//!
//! The filter takes text as it comes, cut anywhere, and says which of it is thinking. It looks for the opening tag at the start of
//! an answer only: one that comes later, or inside code, is text. Templates may begin an answer inside the block, so that only its
//! end comes: the first tag, if it is a closing one that stands apart ([`Before::is_end`]), makes thinking of all text before it. A tag
//! that is only mentioned makes text of all that follows. The filter holds back no more than it needs to tell a tag from text, and
//! what it held when the stream ends is released.

use crate::{markdown::CodeTracker, model::ModelEvent};

/// The tags, without their brackets.
const TAGS: [&str; 3] = ["think", "thinking", "thought"];

/// White space that may stand before a tag; an answer that begins with more is text.
const MAX_INDENT_BYTES: usize = 256;

/// How much text is kept to know what is code.
const MAX_CODE_CONTEXT_BYTES: usize = 16 << 10;

/// Splits one answer's text into thinking and text.
#[derive(Debug, Default)]
pub struct ThinkFilter {
    state: ThinkState,
    /// What may be the beginning of a tag: at most [`MAX_INDENT`] and a tag's length.
    held: String,
    /// The text so far, while a closing tag is looked for.
    preceding: PrecedingText,
    /// The model thinks in a field of its own.
    has_separate_thinking: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum ThinkState {
    /// Nothing but white space, or a part of a tag, has come.
    #[default]
    Start,
    /// Right behind the opening tag; white space there is dropped.
    AfterOpening(&'static str),
    /// Inside the block.
    Thinking(&'static str),
    /// Right behind the closing tag; white space there is dropped.
    AfterClosing,
    /// Text that turns out to be thinking if a closing tag comes.
    MaybeThinking,
    /// The rest is text, whatever it says.
    Text,
}

/// How a text stands to a tag that it may begin with.
enum TagMatch {
    Tag(&'static str, usize),
    Undecided,
    No,
}

impl ThinkFilter {
    /// Takes more of the answer's text and appends what it is to `events`.
    pub fn push(&mut self, text: &str, events: &mut impl Extend<ModelEvent>) {
        if self.state == ThinkState::Text && self.held.is_empty() {
            return push_event(ModelEvent::Text, text, events);
        }
        let joined = std::mem::take(&mut self.held) + text;
        let mut rest = joined.as_str();
        // Every turn either takes some of `rest` or ends.
        loop {
            rest = match self.state {
                ThinkState::Start => match match_opening_tag(rest) {
                    TagMatch::Tag(tag, end) => {
                        self.state = ThinkState::AfterOpening(tag);
                        &rest[end..]
                    }
                    TagMatch::Undecided => return self.held.push_str(rest),
                    TagMatch::No => {
                        self.state = if self.has_separate_thinking {
                            ThinkState::Text
                        } else {
                            ThinkState::MaybeThinking
                        };
                        rest
                    }
                },
                ThinkState::AfterOpening(tag) => {
                    let trimmed = rest.trim_start();
                    if trimmed.is_empty() {
                        return;
                    }
                    self.state = ThinkState::Thinking(tag);
                    trimmed
                }
                ThinkState::Thinking(tag) => {
                    let (thinking, end) = split_at_closing_tag(rest, tag);
                    push_event(ModelEvent::Thinking, thinking, events);
                    match end {
                        Some(end) => {
                            self.state = ThinkState::AfterClosing;
                            &rest[end..]
                        }
                        None => return self.held.push_str(&rest[thinking.len()..]),
                    }
                }
                ThinkState::AfterClosing => {
                    let trimmed = rest.trim_start();
                    if trimmed.is_empty() {
                        return;
                    }
                    self.state = ThinkState::Text;
                    trimmed
                }
                ThinkState::MaybeThinking => {
                    let (text, tail) = rest.split_at(find_tag(rest));
                    push_event(ModelEvent::Text, text, events);
                    self.preceding.push(text);
                    match match_whole_tag(tail) {
                        // The character behind the tag counts as well.
                        Some(end) if end < tail.len() => self.resolve_tag(tail, end, events),
                        _ => return self.held.push_str(tail),
                    }
                }
                ThinkState::Text => return push_event(ModelEvent::Text, rest, events),
            }
        }
    }

    /// Decides about a tag at the beginning of a text that may be thinking; gives what is left of the text.
    fn resolve_tag<'a>(
        &mut self,
        text: &'a str,
        end: usize,
        events: &mut impl Extend<ModelEvent>,
    ) -> &'a str {
        let (tag, rest) = text.split_at(end);
        if self.preceding.is_closing_tag(tag, rest.chars().next()) {
            events.extend([ModelEvent::TextWasThinking]);
            self.state = ThinkState::AfterClosing;
            return rest;
        }
        self.state = ThinkState::Text;
        text
    }

    /// The model has thought in a field of its own: only a block at the very start is thinking as well.
    pub fn set_separate_thinking(&mut self) {
        self.has_separate_thinking = true;
        if self.state == ThinkState::MaybeThinking {
            self.state = ThinkState::Text;
        }
    }

    /// The text has ended: what was held back is released. A block that was not closed stays thinking.
    pub fn finish(&mut self, events: &mut impl Extend<ModelEvent>) {
        let held = std::mem::take(&mut self.held);
        let mut rest = held.as_str();
        if self.state == ThinkState::MaybeThinking
            && let Some(end) = match_whole_tag(rest)
        {
            rest = self.resolve_tag(rest, end, events);
        }
        match std::mem::replace(&mut self.state, ThinkState::Text) {
            ThinkState::Thinking(_) => push_event(ModelEvent::Thinking, rest, events),
            _ => push_event(ModelEvent::Text, rest, events),
        }
    }
}

/// The text before a tag.
#[derive(Debug)]
struct PrecedingText {
    code: CodeTracker,
    /// Its last character.
    last: Option<char>,
    /// The last one on its last line that is no white space.
    last_visible: Option<char>,
}

impl Default for PrecedingText {
    fn default() -> Self {
        Self {
            code: CodeTracker::new(MAX_CODE_CONTEXT_BYTES),
            last: None,
            last_visible: None,
        }
    }
}

impl PrecedingText {
    fn push(&mut self, text: &str) {
        self.code.push(text);
        for c in text.chars() {
            self.last = Some(c);
            match c {
                '\n' => self.last_visible = None,
                c if c.is_whitespace() => {}
                c => self.last_visible = Some(c),
            }
        }
    }

    /// Whether a tag ends thinking here, rather than being mentioned: it is a closing one outside code, begins a line or follows a word
    /// directly (or, at a line's end, a sentence), is not quoted, and no sentence goes on behind it. `after` is the character there;
    /// `None` at the text's end.
    fn is_closing_tag(&mut self, tag: &str, after: Option<char>) -> bool {
        let stands_apart = match (self.last, self.last_visible) {
            (Some(last), Some(visible)) if last.is_whitespace() => {
                matches!(visible, '.' | '!' | '?' | '…' | '。' | '！' | '？')
                    && matches!(after, Some('\n' | '\r'))
            }
            (Some(last), Some(_)) => {
                let is_quoted = !last.is_alphanumeric() && after == Some(last);
                !is_quoted && !matches!(last, '(' | '[' | '{' | '<' | '“' | '„' | '‘' | '«' | '`' | '\\')
            }
            _ => true,
        };
        let goes_on = |c| {
            matches!(
                c,
                '.' | ',' | ';' | ':' | '?' | ')' | ']' | '}' | '”' | '’' | '»' | '。' | '，' | '、'
            )
        };
        // Of a paragraph that is too long to be kept it is not known where its code is.
        let mut is_code = || !self.code.is_uncertain() && self.code.is_code("", tag);
        tag.starts_with("</") && stands_apart && !after.is_some_and(goes_on) && !is_code()
    }
}

/// The place of the first tag in a text, or of what may be the beginning of one at its end; else the text's end.
fn find_tag(text: &str) -> usize {
    let may_be_tag = |rest: &str| {
        let name = rest[1..].strip_prefix('/').unwrap_or(&rest[1..]);
        TAGS.iter().any(|tag| tag.starts_with(name)) || match_whole_tag(rest).is_some()
    };
    let mut places = text.match_indices('<').map(|(at, _)| at);
    places.find(|at| may_be_tag(&text[*at..])).unwrap_or(text.len())
}

/// The end of the tag that a text begins with.
fn match_whole_tag(text: &str) -> Option<usize> {
    let name = text.strip_prefix('<')?;
    let name = name.strip_prefix('/').unwrap_or(name);
    let behind = TAGS
        .iter()
        .find_map(|tag| name.strip_prefix(tag)?.strip_prefix('>'))?;
    Some(text.len() - behind.len())
}

fn push_event(event: fn(String) -> ModelEvent, text: &str, events: &mut impl Extend<ModelEvent>) {
    if !text.is_empty() {
        events.extend([event(text.to_owned())]);
    }
}

/// Whether `text` begins with an opening tag; gives the tag and where it ends.
fn match_opening_tag(text: &str) -> TagMatch {
    let tail = text.trim_start();
    let indent = text.len() - tail.len();
    if indent > MAX_INDENT_BYTES {
        return TagMatch::No;
    }
    let Some(name) = tail.strip_prefix('<') else {
        return if tail.is_empty() {
            TagMatch::Undecided
        } else {
            TagMatch::No
        };
    };
    let mut possible = false;
    for tag in TAGS {
        if name.strip_prefix(tag).is_some_and(|rest| rest.starts_with('>')) {
            return TagMatch::Tag(tag, indent + tag.len() + 2);
        }
        possible |= tag.starts_with(name);
    }
    if possible {
        TagMatch::Undecided
    } else {
        TagMatch::No
    }
}

/// The thinking before the closing tag, or before what may become one, and where the tag ends.
fn split_at_closing_tag<'a>(text: &'a str, tag: &str) -> (&'a str, Option<usize>) {
    let closing = format!("</{tag}>");
    if let Some(at) = text.find(&closing) {
        return (&text[..at], Some(at + closing.len()));
    }
    // The tag is ASCII, so each of its beginnings ends at a character's boundary of the text.
    let kept = (1..closing.len())
        .rev()
        .find(|&length| text.ends_with(&closing[..length]))
        .unwrap_or(0);
    (&text[..text.len() - kept], None)
}

#[cfg(test)]
mod tests;
