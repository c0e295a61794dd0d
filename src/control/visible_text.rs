//! What the person sees of an answer: the text up to here, what is held behind it, and whether what comes next stands in code.

use super::{Item, is_space, opening::LineContext, pending_space::PendingSpace};
use crate::{markdown::CodeTracker, protocol::CitedSource};

/// How much text is kept to know what is code.
pub(super) const MAX_CODE_CONTEXT_BYTES: usize = 32 * 1024;

/// How many bytes may be parsed to ask what is code: so many, and so many for each byte of the answer. That is enough for
/// hundreds of markers; an answer of nothing else is text from there on, and costs no more.
pub(super) const MAX_PARSED_BYTES: (u64, u64) = (1024 * 1024, 4);

/// The text that is shown, as far as it is known.
#[derive(Clone, Debug)]
pub(super) struct VisibleText {
    /// What is shown and not given out yet.
    text: String,
    /// How much of it `code` has seen.
    tracked_len: usize,
    /// Follows what is shown.
    pub code: CodeTracker,
    /// How many bytes were parsed to ask what is code.
    pub parsed_bytes: u64,
    pending_space: PendingSpace,
    /// Sources that are control text only if no more text comes.
    held_sources: Option<HeldSources>,
    /// Something of the answer was shown.
    has_begun: bool,
    /// Whether the present line has nothing but white space so far.
    is_line_blank: bool,
    /// The last character that will be seen before the present one.
    previous: Option<char>,
}

/// What [`Shown::last`] holds, with the white space before it.
#[derive(Clone, Debug)]
struct HeldSources {
    text: String,
    sources: Vec<CitedSource>,
}

impl VisibleText {
    /// Nothing so far.
    pub fn new() -> Self {
        Self {
            text: String::new(),
            tracked_len: 0,
            code: CodeTracker::new(MAX_CODE_CONTEXT_BYTES),
            parsed_bytes: 0,
            pending_space: PendingSpace::default(),
            held_sources: None,
            has_begun: false,
            is_line_blank: true,
            previous: None,
        }
    }

    /// This was shown before. It may end in code.
    pub fn continue_from(&mut self, text: &str) {
        self.code.push(text);
        self.pending_space.take_before_text();
        let last_line = text.rsplit(['\n', '\r']).next().unwrap_or_default();
        self.is_line_blank = last_line.chars().all(is_space);
        self.previous = text.chars().next_back();
    }

    /// What stands before the next character.
    pub fn line_context(&self) -> LineContext {
        LineContext {
            is_line_start: self.is_line_blank,
            is_word_start: !self.previous.is_some_and(joins_next_word),
        }
    }

    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Whether sources are held that are text if more comes.
    pub fn has_held_sources(&self) -> bool {
        self.held_sources.is_some()
    }

    /// The white space before what comes next.
    pub fn pending_white_space(&self) -> String {
        self.pending_space.before_text()
    }

    /// White space, which control text that follows may take along.
    pub fn push_space(&mut self, c: char) {
        self.pending_space.push(c);
        self.is_line_blank |= matches!(c, '\n' | '\r');
        self.previous = Some(c);
        if self.pending_space.is_full() {
            self.push_text("");
        }
    }

    /// Text that does not end in white space.
    pub fn push_text(&mut self, text: &str) {
        self.release_held_sources();
        let white_space = self.pending_space.take_before_text();
        self.text.push_str(&white_space);
        self.text.push_str(text);
        self.note_text(text);
    }

    /// Shows what was held. The white space at its end may still belong to control text that follows.
    pub fn release(&mut self, held: &str) {
        let text = held.trim_end_matches(is_space);
        self.push_text(text);
        for c in held[text.len()..].chars() {
            self.push_space(c);
        }
    }

    /// Shows white space to which nothing is added any more.
    pub fn flush_white_space(&mut self) {
        let white_space = self.pending_space.finish();
        self.text.push_str(&white_space);
    }

    /// Holds sources back until it is known whether they are the last thing.
    pub fn hold_sources(&mut self, text: &str, sources: Vec<CitedSource>) {
        self.release_held_sources();
        self.held_sources = Some(HeldSources {
            text: self.pending_space.take_before_text() + text,
            sources,
        });
        self.note_text(text);
    }

    /// The sources that turned out to be the last thing.
    pub fn take_held_sources(&mut self) -> Option<Vec<CitedSource>> {
        self.held_sources.take().map(|last| last.sources)
    }

    /// Control text was taken out here.
    pub fn mark_removed(&mut self) {
        self.pending_space.mark_removed();
    }

    /// Metadata were taken out here: what comes first in an answer stands before it.
    pub fn mark_metadata_removed(&mut self) {
        if !self.has_begun {
            self.pending_space.begin_answer();
        }
        self.pending_space.mark_removed();
    }

    /// Whether an opening that comes now, after so many bytes of the answer, stands in code.
    pub fn is_code(&mut self, opening: &str, taken: u64) -> bool {
        let (base, each) = MAX_PARSED_BYTES;
        if self.parsed_bytes > base + each * taken {
            return true;
        }
        self.update_code_tracker();
        let held = self.held_sources.as_ref().map_or("", |last| last.text.as_str());
        let before = self.code.parsed_bytes();
        let is_code = self
            .code
            .is_code(&(held.to_owned() + &self.pending_space.before_text()), opening);
        self.parsed_bytes += self.code.parsed_bytes() - before;
        is_code
    }

    /// Gives out what is shown so far.
    pub fn flush(&mut self, out: &mut Vec<Item>) {
        if !self.text.is_empty() {
            self.update_code_tracker();
            self.tracked_len = 0;
            out.push(Item::Text(std::mem::take(&mut self.text)));
        }
    }

    /// How many bytes are kept here: a measure of the memory used.
    #[cfg(test)]
    pub fn held_bytes(&self) -> usize {
        let last = self.held_sources.as_ref().map_or(0, |last| last.text.len());
        last + self.pending_space.before_text().len() + self.text.len() + self.code.kept_bytes()
    }

    fn release_held_sources(&mut self) {
        if let Some(last) = self.held_sources.take() {
            self.text.push_str(&last.text);
        }
    }

    /// This text, which does not end in white space, stands before what comes next.
    fn note_text(&mut self, text: &str) {
        if let Some(c) = text.chars().next_back() {
            self.has_begun = true;
            self.is_line_blank = false;
            self.previous = Some(c);
        }
    }

    /// Brings what is known of the code up to date.
    fn update_code_tracker(&mut self) {
        self.code.push(&self.text[self.tracked_len..]);
        self.tracked_len = self.text.len();
    }
}

/// Whether a marker behind this character would be a part of something else. A backslash makes plain text of what follows.
fn joins_next_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '\\')
}
