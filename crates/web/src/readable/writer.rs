//! Writes text with its gaps and margins: words flow, and the gap between two words is decided when
//! the second one comes.

use super::MAX_TEXT_BYTES;

/// Maximum depth of margins for lists and quotes: a margin must not outweigh the text.
const MAX_MARGIN_DEPTH: usize = 8;

/// The gap before the next word.
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
    pending_gap: Gap,
    /// The prefix of the next line, written with its first word: a heading's or an item's mark.
    line_prefix: String,
    /// The opening before the next word on its line: a link's bracket.
    pending_opening: String,
    pub lists: usize,
    pub quotes: usize,
    /// The number of open elements without line breaks: links, cells of tables.
    pub inline_depth: usize,
    /// Set in a table cell, where a bar would end the cell.
    pub is_in_cell: bool,
}

impl Writer {
    /// Requests a gap before the next word. The largest requested gap counts.
    pub fn request_gap(&mut self, gap: Gap) {
        let gap = if self.inline_depth > 0 {
            gap.min(Gap::Space)
        } else {
            gap
        };
        self.pending_gap = self.pending_gap.max(gap);
    }

    /// Sets the prefix of the next line.
    pub fn set_line_prefix(&mut self, mark: impl Into<String>) {
        if self.inline_depth == 0 {
            self.line_prefix = mark.into();
        }
    }

    /// Removes the prefix of the next line, if no words followed it.
    pub fn clear_line_prefix(&mut self) {
        self.line_prefix.clear();
    }

    /// Begins markup with a bracket, which is written before the next word.
    pub fn open(&mut self, bracket: char) {
        self.pending_opening.push(bracket);
    }

    /// Closes the last opening. Returns `false` if nothing was written since; the opening is then
    /// dropped.
    pub fn close(&mut self, bracket: &str) -> bool {
        if self.pending_opening.pop().is_some() {
            return false;
        }
        self.out.push_str(bracket);
        true
    }

    /// Writes words, with each whitespace sequence as one space.
    pub fn text(&mut self, text: &str) {
        for c in text.chars() {
            if c.is_whitespace() {
                self.request_gap(Gap::Space);
            } else if !is_invisible(c) {
                self.flush_before_word();
                if c == '|' && self.is_in_cell {
                    self.out.push('\\');
                }
                self.out.push(c);
            }
            if self.is_full() {
                return;
            }
        }
    }

    /// Writes text unchanged, as far as there is room.
    pub fn raw(&mut self, text: &str) {
        self.flush_before_word();
        let room = MAX_TEXT_BYTES.saturating_sub(self.out.len());
        self.out.push_str(&text[..text.floor_char_boundary(room)]);
    }

    /// Writes lines unchanged, each with its margin.
    pub fn lines(&mut self, text: &str) {
        for line in text.split('\n') {
            if self.is_full() {
                return;
            }
            let seen = line
                .chars()
                .filter(|&c| c == '\t' || !is_invisible(c))
                .collect::<String>();
            self.raw(seen.trim_end());
            self.request_gap(Gap::Line);
        }
    }

    pub fn is_full(&self) -> bool {
        self.out.len() >= MAX_TEXT_BYTES
    }

    pub fn finish(self) -> String {
        self.out
    }

    fn flush_before_word(&mut self) {
        let gap = std::mem::take(&mut self.pending_gap);
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
            self.write_margin();
        }
        self.out.push_str(&std::mem::take(&mut self.pending_opening));
    }

    fn write_margin(&mut self) {
        let is_item = !self.line_prefix.is_empty() && self.lists > 0;
        let indent = self.lists - usize::from(is_item);
        self.out
            .extend(std::iter::repeat_n("> ", self.quotes.min(MAX_MARGIN_DEPTH)));
        self.out
            .extend(std::iter::repeat_n("  ", indent.min(MAX_MARGIN_DEPTH)));
        self.out.push_str(&std::mem::take(&mut self.line_prefix));
    }
}

/// Returns `true` for a character that people don't see but a model might read: controls, direction
/// marks, tags.
///
/// The list is shorter on purpose than that of `parlor_markup::markdown::is_invisible`: the joiners and
/// variation selectors of emoji belong to the text of a page, but not to the URL of a link.
pub fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}
