//! The looseness of lists: a list is loose if a blank line separates two of its items, or two blocks directly in one of
//! them.
//!
//! The parser's events show it only in the paragraphs of the items. But a list may have none, or only such that are
//! made here (a line break of HTML), and the rest of a growing list is parsed without its earlier items. So the text
//! between the blocks is examined instead.

use std::ops::Range;

use pulldown_cmark::{Event, Tag, TagEnd};

/// A container of blocks that has begun and not ended.
#[derive(Debug, PartialEq, Eq)]
enum Container {
    List { is_loose: bool },
    Item,
    Quote,
    Footnote,
}

/// Follows the events of a text to find its loose lists.
pub(super) struct LooseLists<'a> {
    text: &'a str,
    /// The open containers, from the outermost inwards.
    containers: Vec<Container>,
    /// The number of quotes in `containers`.
    quotes: usize,
    /// The end, in bytes, of the text that was examined, or that is part of a block.
    examined: usize,
    /// True if blank lines precede `examined`. Those in a quote or in code in fences are parts of these and don't count.
    is_after_blank: bool,
}

impl<'a> LooseLists<'a> {
    pub fn new(text: &'a str) -> Self {
        LooseLists {
            text,
            containers: Vec::new(),
            quotes: 0,
            examined: 0,
            is_after_blank: false,
        }
    }

    /// Examines the text up to an event. Returns true if the event ends a loose list.
    pub fn push_event(&mut self, event: &Event<'_>, span: &Range<usize>) -> bool {
        match event {
            Event::Start(tag) => match begun_container(tag) {
                Some(container) => {
                    // After a tab, the parser's indent may begin in the line before.
                    let indent = self.text[span.start..].find(|c: char| !c.is_ascii_whitespace());
                    self.begin_block(span.start + indent.unwrap_or(0));
                    self.quotes += usize::from(container == Container::Quote);
                    self.containers.push(container);
                }
                None => self.skip_leaf(span),
            },
            Event::End(TagEnd::Item) => {
                self.examine_until(span.end);
                self.containers.pop();
            }
            Event::End(TagEnd::List(_)) => {
                return matches!(self.containers.pop(), Some(Container::List { is_loose: true }));
            }
            Event::End(TagEnd::BlockQuote(_)) => {
                self.examine_until(span.end);
                self.is_after_blank = false;
                self.quotes -= 1;
                self.containers.pop();
            }
            Event::End(TagEnd::FootnoteDefinition) => {
                self.containers.pop();
            }
            Event::End(_) => {}
            _ => self.skip_leaf(span),
        }
        false
    }

    /// Skips a block without blocks in it, or a part of a paragraph: those of tight lists have no events of their own.
    fn skip_leaf(&mut self, span: &Range<usize>) {
        if span.start < self.examined {
            // A part of the last one.
            return;
        }
        self.begin_block(span.start);
        // A block of HTML may end after the indent of the next line.
        let content = self.text[span.clone()].trim_end_matches([' ', '\t', '>']);
        self.examined = if content.ends_with('\n') {
            span.start + content.len()
        } else {
            span.end
        };
    }

    /// Begins a block or an item in the innermost container.
    fn begin_block(&mut self, start: usize) {
        self.examine_until(start);
        self.end_blank_lines();
    }

    /// Examines the lines between blocks up to `end`, which is in the line of a block or after a whole line.
    fn examine_until(&mut self, end: usize) {
        if end <= self.examined {
            return;
        }
        let mut lines = &self.text[self.examined..end];
        if !self.text[..self.examined].ends_with('\n') && self.examined > 0 {
            // The rest of a block's last line.
            lines = lines.split_once('\n').map_or("", |(_, lines)| lines);
        }
        for line in lines.split_inclusive('\n') {
            if !line.ends_with('\n') && end < self.text.len() {
                // The indent of a block.
                break;
            }
            if self.is_blank(line) {
                self.is_after_blank = true;
            } else {
                // A link definition. It has no event, but counts as a block.
                self.end_blank_lines();
            }
        }
        self.examined = end;
    }

    /// Ends the blank lines before a block: a list that they divide is loose.
    fn end_blank_lines(&mut self) {
        if !std::mem::take(&mut self.is_after_blank) {
            return;
        }
        let ([.., list, Container::Item] | [.., list]) = self.containers.as_mut_slice() else {
            return;
        };
        if let Container::List { is_loose } = list {
            *is_loose = true;
        }
    }

    /// Returns true if a line has only the markers of the open quotes.
    fn is_blank(&self, line: &str) -> bool {
        let mut quotes = 0;
        let is_space = line.bytes().all(|byte| {
            quotes += usize::from(byte == b'>');
            matches!(byte, b' ' | b'\t' | b'\n' | b'\x0b' | b'\x0c' | b'>')
        });
        is_space && quotes == self.quotes
    }
}

fn begun_container(tag: &Tag<'_>) -> Option<Container> {
    Some(match tag {
        Tag::List(_) => Container::List { is_loose: false },
        Tag::Item => Container::Item,
        Tag::BlockQuote(_) => Container::Quote,
        Tag::FootnoteDefinition(_) => Container::Footnote,
        _ => return None,
    })
}
