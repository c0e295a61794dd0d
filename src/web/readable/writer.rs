//! Text with its gaps and margins: words flow, and what stands between them is decided when the next one comes.

use super::MAX_TEXT;

/// The deepest that lists and quotes are moved to the right: a margin must not outweigh the text.
const MAX_MARGIN: usize = 8;

/// What stands before the next word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gap {
    #[default]
    None,
    Space,
    Line,
    Paragraph,
}

#[derive(Debug, Default)]
pub struct Writer {
    out: String,
    gap: Gap,
    /// What begins the next line, once it has a word: a heading's or an item's mark.
    mark: String,
    /// What opens before the next word, on its line: a link's bracket.
    opening: String,
    pub lists: usize,
    pub quotes: usize,
    /// In how many things nothing may begin a line: links, cells of tables.
    pub in_line: usize,
    /// In a cell, a bar would end it.
    pub in_cell: bool,
}

impl Writer {
    /// Asks for a gap before the next word: the largest asked for wins.
    pub fn gap(&mut self, gap: Gap) {
        let gap = if self.in_line > 0 {
            gap.min(Gap::Space)
        } else {
            gap
        };
        self.gap = self.gap.max(gap);
    }

    /// Sets what begins the next line.
    pub fn mark(&mut self, mark: impl Into<String>) {
        if self.in_line == 0 {
            self.mark = mark.into();
        }
    }

    /// A mark without words is none.
    pub fn unmark(&mut self) {
        self.mark.clear();
    }

    pub fn open(&mut self, bracket: char) {
        self.opening.push(bracket);
    }

    /// Closes what was opened last; `false` if nothing was written in it: then it was never there.
    pub fn close(&mut self, bracket: &str) -> bool {
        if self.opening.pop().is_some() {
            return false;
        }
        self.out.push_str(bracket);
        true
    }

    /// Writes words, with one space where there was any.
    pub fn text(&mut self, text: &str) {
        for c in text.chars() {
            if c.is_whitespace() {
                self.gap(Gap::Space);
            } else if !is_unseen(c) {
                self.before_word();
                if c == '|' && self.in_cell {
                    self.out.push('\\');
                }
                self.out.push(c);
            }
            if self.is_full() {
                return;
            }
        }
    }

    /// Writes something as it is.
    pub fn raw(&mut self, text: &str) {
        self.before_word();
        self.out.push_str(text);
    }

    /// Writes lines as they are, each with its margin.
    pub fn lines(&mut self, text: &str) {
        for line in text.split('\n') {
            if self.is_full() {
                return;
            }
            let seen = line
                .chars()
                .filter(|&c| c == '\t' || !is_unseen(c))
                .collect::<String>();
            self.raw(seen.trim_end());
            self.gap(Gap::Line);
        }
    }

    pub fn is_full(&self) -> bool {
        self.out.len() >= MAX_TEXT
    }

    pub fn finish(self) -> String {
        self.out
    }

    fn before_word(&mut self) {
        let gap = std::mem::take(&mut self.gap);
        let is_new_line = gap >= Gap::Line || self.out.is_empty();
        if !self.out.is_empty() {
            self.out.push_str(match gap {
                Gap::None => "",
                Gap::Space => " ",
                Gap::Line => "\n",
                Gap::Paragraph => "\n\n",
            });
        }
        if is_new_line {
            self.margin();
        }
        self.out.push_str(&std::mem::take(&mut self.opening));
    }

    fn margin(&mut self) {
        let is_item = !self.mark.is_empty() && self.lists > 0;
        let indent = self.lists - usize::from(is_item);
        self.out
            .extend(std::iter::repeat_n("> ", self.quotes.min(MAX_MARGIN)));
        self.out.extend(std::iter::repeat_n("  ", indent.min(MAX_MARGIN)));
        self.out.push_str(&std::mem::take(&mut self.mark));
    }
}

/// Whether a character is one that nobody sees but a model might read: controls, marks of direction, tags.
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}
