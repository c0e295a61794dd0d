//! The visible text of an answer: the text so far, the text held after it, and the code context of the next
//! character.

use super::{Item, is_space, opening::LineContext, pending_space::PendingSpace};
use parlor_markup::markdown::CodeTracker;
use parlor_protocol::CitedSource;

/// The maximum text kept to detect code.
pub(super) const MAX_CODE_CONTEXT_BYTES: usize = 32 * 1024;

/// The maximum number of bytes that are reserved for the next text.
const MAX_RESERVED_BYTES: usize = 256;

/// The maximum number of bytes parsed to detect code: a base, and a factor for each byte of the answer. That
/// is enough for hundreds of markers. An answer with more is treated as text from there on and costs no more.
pub(super) const MAX_PARSED_BYTES: (u64, u64) = (1024 * 1024, 4);

/// The visible text, as far as it is known.
#[derive(Clone, Debug)]
pub(super) struct VisibleText {
    /// Visible text that was not output yet.
    text: String,
    /// The length in bytes of the beginning of `text` that `code` has processed.
    tracked_len: usize,
    /// Tracks code in the visible text.
    pub code: CodeTracker,
    /// The number of bytes parsed to detect code.
    pub parsed_bytes: u64,
    pending_space: PendingSpace,
    /// Sources that are control text only if no text follows.
    held_sources: Option<HeldSources>,
    /// True if some of the answer was visible.
    has_begun: bool,
    /// True if the current line has only whitespace so far.
    is_line_blank: bool,
    /// The last visible character before the current one.
    previous: Option<char>,
}

/// The held sources, with the whitespace before them.
#[derive(Clone, Debug)]
struct HeldSources {
    text: String,
    sources: Vec<CitedSource>,
}

impl VisibleText {
    /// Creates an empty text.
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

    /// Continues text that was shown before. It may end inside code.
    pub fn continue_from(&mut self, text: &str) {
        self.code.push(text);
        self.pending_space.take_before_text();
        let last_line = text.rsplit(['\n', '\r']).next().unwrap_or_default();
        self.is_line_blank = last_line.chars().all(is_space);
        self.previous = text.chars().next_back();
    }

    /// Returns the context of the next character.
    pub fn line_context(&self) -> LineContext {
        LineContext {
            is_line_start: self.is_line_blank,
            is_word_start: !self.previous.is_some_and(joins_next_word),
        }
    }

    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Returns true if sources are held that become text if more follows.
    pub fn has_held_sources(&self) -> bool {
        self.held_sources.is_some()
    }

    /// Returns the whitespace before the next text.
    pub fn pending_white_space(&self) -> String {
        self.pending_space.before_text()
    }

    /// Adds whitespace, which following control text may remove.
    pub fn push_space(&mut self, c: char) {
        self.pending_space.push(c);
        self.is_line_blank |= matches!(c, '\n' | '\r');
        self.previous = Some(c);
        if self.pending_space.is_full() {
            self.push_text("");
        }
    }

    /// Adds text that does not end in whitespace.
    pub fn push_text(&mut self, text: &str) {
        self.release_held_sources();
        let white_space = self.pending_space.take_before_text();
        self.text.push_str(&white_space);
        self.text.push_str(text);
        self.note_text(text);
    }

    /// Shows held text. Following control text may still remove the whitespace at its end.
    pub fn release(&mut self, held: &str) {
        let text = held.trim_end_matches(is_space);
        self.push_text(text);
        for c in held[text.len()..].chars() {
            self.push_space(c);
        }
    }

    /// Shows whitespace that is complete.
    pub fn flush_white_space(&mut self) {
        let white_space = self.pending_space.finish();
        self.text.push_str(&white_space);
    }

    /// Holds sources back until the answer ends or text follows.
    pub fn hold_sources(&mut self, text: &str, sources: Vec<CitedSource>) {
        self.release_held_sources();
        self.held_sources = Some(HeldSources {
            text: self.pending_space.take_before_text() + text,
            sources,
        });
        self.note_text(text);
    }

    /// Takes the sources that ended the answer.
    pub fn take_held_sources(&mut self) -> Option<Vec<CitedSource>> {
        self.held_sources.take().map(|last| last.sources)
    }

    /// Marks the position of removed control text.
    pub fn mark_removed(&mut self) {
        self.pending_space.mark_removed();
    }

    /// Marks the position of removed metadata. If no text came before, the answer begins here.
    pub fn mark_metadata_removed(&mut self) {
        if !self.has_begun {
            self.pending_space.begin_answer();
        }
        self.pending_space.mark_removed();
    }

    /// Returns true if an opening at the current position is inside code. `received` is the answer's length so
    /// far, in bytes.
    pub fn is_code(&mut self, opening: &str, received: u64) -> bool {
        let (base, per_byte) = MAX_PARSED_BYTES;
        if self.parsed_bytes > base + per_byte * received {
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

    /// Outputs the visible text so far.
    pub fn flush(&mut self, out: &mut Vec<Item>) {
        if !self.text.is_empty() {
            self.update_code_tracker();
            self.tracked_len = 0;
            // The next text is likely to be as long. It grows by single characters.
            let next = String::with_capacity(self.text.len().min(MAX_RESERVED_BYTES));
            out.push(Item::Text(std::mem::replace(&mut self.text, next)));
        }
    }

    /// Returns the number of bytes held, as a measure of memory use.
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

    /// Records text before the next character. It does not end in whitespace.
    fn note_text(&mut self, text: &str) {
        if let Some(c) = text.chars().next_back() {
            self.has_begun = true;
            self.is_line_blank = false;
            self.previous = Some(c);
        }
    }

    /// Updates the code tracker with the latest text.
    fn update_code_tracker(&mut self) {
        self.code.push(&self.text[self.tracked_len..]);
        self.tracked_len = self.text.len();
    }
}

/// Returns true if a marker after this character would be part of a word. A backslash escapes the next
/// character.
fn joins_next_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '\\')
}
