//! What the person sees of an answer: the text up to here, what is held behind it, and whether what comes next stands in code.

use super::{Item, gap::Gap, is_space, opening::Place};
use crate::{markdown::CodeTracker, protocol::Source};

/// How much text is kept to know what is code.
pub(super) const CODE_CONTEXT: usize = 32 * 1024;

/// How many bytes may be parsed to ask what is code: so many, and so many for each byte of the answer. That is enough for
/// hundreds of markers; an answer of nothing else is text from there on, and costs no more.
pub(super) const MAX_PARSED: (u64, u64) = (1024 * 1024, 4);

/// The text that is shown, as far as it is known.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    /// What is shown and not given out yet.
    text: String,
    /// How much of it `code` has seen.
    followed: usize,
    /// Follows what is shown.
    pub code: CodeTracker,
    /// How many bytes were parsed to ask what is code.
    pub parsed: u64,
    gap: Gap,
    /// Sources that are control text only if no more text comes.
    last: Option<Last>,
    /// Something of the answer was shown.
    has_begun: bool,
    /// Whether the present line has nothing but white space so far.
    line_is_blank: bool,
    /// The last character that will be seen before the present one.
    previous: Option<char>,
}

/// What [`Shown::last`] holds, with the white space before it.
#[derive(Clone, Debug)]
struct Last {
    text: String,
    sources: Vec<Source>,
}

impl Shown {
    /// Nothing so far.
    pub fn new() -> Self {
        Self {
            text: String::new(),
            followed: 0,
            code: CodeTracker::new(CODE_CONTEXT),
            parsed: 0,
            gap: Gap::default(),
            last: None,
            has_begun: false,
            line_is_blank: true,
            previous: None,
        }
    }

    /// This was shown before. It may end in code.
    pub fn go_on_from(&mut self, text: &str) {
        self.code.push(text);
        self.gap.close();
        let last_line = text.rsplit(['\n', '\r']).next().unwrap_or_default();
        self.line_is_blank = last_line.chars().all(is_space);
        self.previous = text.chars().next_back();
    }

    /// What stands before the next character.
    pub fn place(&self) -> Place {
        Place {
            line: self.line_is_blank,
            word: !self.previous.is_some_and(is_part_of_word),
        }
    }

    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Whether sources are held that are text if more comes.
    pub fn holds_sources(&self) -> bool {
        self.last.is_some()
    }

    /// The white space before what comes next.
    pub fn white_space(&self) -> String {
        self.gap.white_space()
    }

    /// White space, which control text that follows may take along.
    pub fn space(&mut self, c: char) {
        self.gap.push(c);
        self.line_is_blank |= matches!(c, '\n' | '\r');
        self.previous = Some(c);
        if self.gap.is_full() {
            self.show("");
        }
    }

    /// Text that does not end in white space.
    pub fn show(&mut self, text: &str) {
        self.show_last();
        let white_space = self.gap.close();
        self.text.push_str(&white_space);
        self.text.push_str(text);
        self.went_by(text);
    }

    /// Shows what was held. The white space at its end may still belong to control text that follows.
    pub fn release(&mut self, held: &str) {
        let text = held.trim_end_matches(is_space);
        self.show(text);
        for c in held[text.len()..].chars() {
            self.space(c);
        }
    }

    /// Shows white space to which nothing is added any more.
    pub fn show_white_space(&mut self) {
        let white_space = self.gap.finish();
        self.text.push_str(&white_space);
    }

    /// Holds sources back until it is known whether they are the last thing.
    pub fn hold(&mut self, text: &str, sources: Vec<Source>) {
        self.show_last();
        self.last = Some(Last {
            text: self.gap.close() + text,
            sources,
        });
        self.went_by(text);
    }

    /// The sources that turned out to be the last thing.
    pub fn take_last(&mut self) -> Option<Vec<Source>> {
        self.last.take().map(|last| last.sources)
    }

    /// Control text was taken out here.
    pub fn cut(&mut self) {
        self.gap.cut();
    }

    /// Metadata were taken out here: what comes first in an answer stands before it.
    pub fn cut_metadata(&mut self) {
        if !self.has_begun {
            self.gap.begins();
        }
        self.gap.cut();
    }

    /// Whether an opening that comes now, after so many bytes of the answer, stands in code.
    pub fn is_code(&mut self, opening: &str, taken: u64) -> bool {
        let (base, each) = MAX_PARSED;
        if self.parsed > base + each * taken {
            return true;
        }
        self.follow_code();
        let held = self.last.as_ref().map_or("", |last| last.text.as_str());
        let before = self.code.parsed_bytes();
        let is_code = self
            .code
            .is_code(&(held.to_owned() + &self.gap.white_space()), opening);
        self.parsed += self.code.parsed_bytes() - before;
        is_code
    }

    /// Gives out what is shown so far.
    pub fn give(&mut self, out: &mut Vec<Item>) {
        if !self.text.is_empty() {
            self.follow_code();
            self.followed = 0;
            out.push(Item::Text(std::mem::take(&mut self.text)));
        }
    }

    /// How many bytes are kept here: a measure of the memory used.
    #[cfg(test)]
    pub fn held_bytes(&self) -> usize {
        let last = self.last.as_ref().map_or(0, |last| last.text.len());
        last + self.gap.white_space().len() + self.text.len() + self.code.kept_bytes()
    }

    fn show_last(&mut self) {
        if let Some(last) = self.last.take() {
            self.text.push_str(&last.text);
        }
    }

    /// This text, which does not end in white space, stands before what comes next.
    fn went_by(&mut self, text: &str) {
        if let Some(c) = text.chars().next_back() {
            self.has_begun = true;
            self.line_is_blank = false;
            self.previous = Some(c);
        }
    }

    /// Brings what is known of the code up to date.
    fn follow_code(&mut self) {
        self.code.push(&self.text[self.followed..]);
        self.followed = self.text.len();
    }
}

/// Whether a marker behind this character would be a part of something else. A backslash makes plain text of what follows.
fn is_part_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '\\')
}
