//! Thinking that a model writes into its text, as `<think>…</think>` at the very start.
//!
//! The filter takes deltas with any split and separates thinking from text. It accepts an opening tag at the
//! start of an answer only: a later one, or one inside code, is text. A chat template may begin the answer
//! inside the block, so that only the closing tag appears. If the first tag is a closing one that stands
//! apart ([`PrecedingText::is_closing_tag`]), all text before it becomes thinking. A tag that is only
//! mentioned makes all following text plain text. The filter holds back only as much as is needed to tell a
//! tag from text, and releases it when the stream ends.

use parlor_markup::markdown::CodeTracker;
use parlor_model::ModelEvent;

/// The tag names.
const TAGS: [&str; 3] = ["think", "thinking", "thought"];

/// The maximum whitespace before a tag, in bytes. An answer that begins with more is text.
const MAX_INDENT_BYTES: usize = 256;

/// The maximum length of the text that is kept to detect code, in bytes.
const MAX_CODE_CONTEXT_BYTES: usize = 16 << 10;

/// Splits one answer's text into thinking and text.
#[derive(Debug, Default)]
pub struct ThinkFilter {
    state: ThinkState,
    /// A possible beginning of a tag: at most [`MAX_INDENT_BYTES`] and a tag's length.
    held: String,
    /// The text so far, while a closing tag is possible.
    preceding: PrecedingText,
    /// True if the model sends its thinking in a separate field.
    has_separate_thinking: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum ThinkState {
    /// The start: only whitespace, or a part of a tag, has arrived.
    #[default]
    Start,
    /// After the opening tag. Whitespace here is dropped.
    AfterOpening(&'static str),
    /// Inside the block.
    Thinking(&'static str),
    /// After the closing tag. Whitespace here is dropped.
    AfterClosing,
    /// Text that becomes thinking if a closing tag follows.
    MaybeThinking,
    /// The rest is plain text.
    Text,
}

/// The result of matching a text's beginning with the tags.
enum TagMatch {
    Tag(&'static str, usize),
    Undecided,
    No,
}

impl ThinkFilter {
    /// Appends text of the answer and adds the resulting events to `events`.
    pub fn push(&mut self, text: &str, events: &mut impl Extend<ModelEvent>) {
        if self.state == ThinkState::Text && self.held.is_empty() {
            return push_event(ModelEvent::Text, text, events);
        }
        let joined = std::mem::take(&mut self.held) + text;
        let mut rest = joined.as_str();
        // Every iteration consumes some of `rest` or returns.
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
                        // The character after the tag is needed as well.
                        Some(end) if end < tail.len() => self.resolve_tag(tail, end, events),
                        _ => return self.held.push_str(tail),
                    }
                }
                ThinkState::Text => return push_event(ModelEvent::Text, rest, events),
            }
        }
    }

    /// Decides about a tag in a text that may be thinking, and returns the rest of the text.
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

    /// Records that the model sends its thinking in a separate field. Then only a block at the very start is
    /// thinking as well.
    pub fn set_separate_thinking(&mut self) {
        self.has_separate_thinking = true;
        if self.state == ThinkState::MaybeThinking {
            self.state = ThinkState::Text;
        }
    }

    /// Ends the text and releases held text. An unclosed block stays thinking.
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
    /// The last character.
    last: Option<char>,
    /// The last visible character on the last line.
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

    /// Returns true if a tag ends thinking and is not just mentioned. It has to be a closing tag outside code
    /// that begins a line or directly follows a word (or, at a line's end, a sentence). It is not quoted, and
    /// no sentence continues after it. `after` is the next character; `None` at the text's end.
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
        // Code can't be located in a paragraph that is too long to be kept.
        let mut is_code = || !self.code.is_uncertain() && self.code.is_code("", tag);
        tag.starts_with("</") && stands_apart && !after.is_some_and(goes_on) && !is_code()
    }
}

/// Returns the byte position of the first tag in a text, or of a possible beginning of one at its end; otherwise
/// the text's length.
fn find_tag(text: &str) -> usize {
    let may_be_tag = |rest: &str| {
        let name = rest[1..].strip_prefix('/').unwrap_or(&rest[1..]);
        TAGS.iter().any(|tag| tag.starts_with(name)) || match_whole_tag(rest).is_some()
    };
    let mut positions = text.match_indices('<').map(|(at, _)| at);
    positions
        .find(|at| may_be_tag(&text[*at..]))
        .unwrap_or(text.len())
}

/// Returns the length in bytes of the tag at the beginning of a text.
fn match_whole_tag(text: &str) -> Option<usize> {
    let name = text.strip_prefix('<')?;
    let name = name.strip_prefix('/').unwrap_or(name);
    let rest = TAGS
        .iter()
        .find_map(|tag| name.strip_prefix(tag)?.strip_prefix('>'))?;
    Some(text.len() - rest.len())
}

fn push_event(event: fn(String) -> ModelEvent, text: &str, events: &mut impl Extend<ModelEvent>) {
    if !text.is_empty() {
        events.extend([event(text.to_owned())]);
    }
}

/// Matches an opening tag at the beginning of `text`. Returns the tag and its end.
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

/// Returns the thinking before the closing tag, or before its possible beginning, and the end of the tag.
fn split_at_closing_tag<'a>(text: &'a str, tag: &str) -> (&'a str, Option<usize>) {
    let closing = format!("</{tag}>");
    if let Some(at) = text.find(&closing) {
        return (&text[..at], Some(at + closing.len()));
    }
    // The tag is ASCII, so each of its prefixes ends at a character boundary of the text.
    let kept = (1..closing.len())
        .rev()
        .find(|&length| text.ends_with(&closing[..length]))
        .unwrap_or(0);
    (&text[..text.len() - kept], None)
}

#[cfg(test)]
mod tests;
