//! Repair of running text that is cut off: `**bol` becomes `**bol**`, `[text](htt` becomes `text`, a lone `*`
//! or `[` at the end is left out until its meaning is known.
//!
//! One pass over the text, in linear time. It need not agree with the parser in every corner, since its
//! result is only shown until more text comes.

use std::collections::HashMap;
use std::ops::Range;

use super::emphasis::EmphasisStack;
use super::formula::FormulaDelimiters;
use super::link_destination::{LinkDestination, parse_destination};

/// The maximum length of text that is held back after an open bracket. A longer one will hardly become a
/// link.
pub(super) const MAX_HELD_BRACKET_BYTES: usize = 300;

/// The kind of block that has the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextContext {
    /// With `cut_at_pipe`, the paragraph may become a table's head and is shown up to the first pipe.
    Paragraph {
        cut_at_pipe: bool,
    },
    Heading,
}

/// Appends the repaired `text` to `out`.
pub(super) fn complete_inline(text: &str, context: TextContext, out: &mut String) {
    let text = match context {
        // `# Title #`: the possible closing sequence of a heading is not part of its text.
        TextContext::Heading => {
            let title = text.trim_end().trim_end_matches('#');
            if title.ends_with([' ', '\t']) { title } else { text }
        }
        TextContext::Paragraph { .. } => text,
    };
    let mut scan = InlineScanner {
        text,
        bytes: text.as_bytes(),
        cut_at_pipe: context == TextContext::Paragraph { cut_at_pipe: true },
        trimmed_end: text.trim_end().len(),
        end: text.len(),
        ..InlineScanner::default()
    };
    let code = scan.scan();
    scan.write_repaired(code, out);
}

#[derive(Debug, Default)]
struct InlineScanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    cut_at_pipe: bool,
    /// The byte position of the whitespace at the text's end.
    trimmed_end: usize,
    /// The end of the shown text, in bytes.
    end: usize,
    emphasis: EmphasisStack,
    /// The positions of `[` and `![` that are not closed.
    brackets: Vec<usize>,
    /// The brackets of a link whose URL is cut off: markup that is left out.
    dropped: Option<Range<usize>>,
}

impl InlineScanner<'_> {
    /// Scans the text. Returns the byte position of a code span that is not closed.
    fn scan(&mut self) -> Option<usize> {
        let last_of_run = self.backtick_runs();
        let mut at = 0;
        while at < self.end {
            match self.bytes[at] {
                b'\\' if at + 1 >= self.trimmed_end => self.end = at,
                b'\\' if FormulaDelimiters::is_cut_off(&self.text[at..self.trimmed_end]) => self.end = at,
                b'\\' => at += 1 + self.text[at + 1..].chars().next().map_or(1, char::len_utf8),
                b'`' => {
                    let length = self.run_length(at);
                    if at + length == self.bytes.len() {
                        self.end = at;
                    } else if last_of_run.get(&length).is_some_and(|&last| last > at) {
                        at = self.code_span_end(at, length);
                    } else {
                        return Some(at).filter(|_| !self.hold_back_bracket());
                    }
                }
                b'*' | b'_' | b'~' => at = self.scan_delimiters(at),
                b'!' if at + 1 == self.bytes.len() => self.end = at,
                b'!' if self.bytes[at + 1] == b'[' => {
                    self.brackets.push(at);
                    at += 2;
                }
                b'[' if self.bytes.get(at + 1) == Some(&b'^') => at = self.scan_footnote(at),
                b'[' => {
                    self.brackets.push(at);
                    at += 1;
                }
                b']' => at = self.scan_closing_bracket(at),
                b'<' => at = self.scan_angle(at),
                b'&' if self.is_incomplete_entity(at) => self.end = at,
                b'|' if self.cut_at_pipe => self.end = at,
                // It may be half of a formula's delimiter.
                b'$' if at + 1 == self.bytes.len() => self.end = at,
                _ => at += 1,
            }
        }
        self.hold_back_bracket();
        None
    }

    /// Holds back the text after an open bracket, if there is one and it is near enough to the end.
    fn hold_back_bracket(&mut self) -> bool {
        let reach = self.text.len().saturating_sub(MAX_HELD_BRACKET_BYTES);
        let open = self
            .brackets
            .iter()
            .find(|&&bracket| bracket >= reach && bracket < self.end);
        if let Some(&open) = open {
            self.end = open;
        }
        open.is_some()
    }

    fn run_length(&self, at: usize) -> usize {
        self.bytes[at..]
            .iter()
            .take_while(|&&byte| byte == self.bytes[at])
            .count()
    }

    /// The byte position of the last run of backticks of each length.
    fn backtick_runs(&self) -> HashMap<usize, usize> {
        let mut runs = HashMap::new();
        let mut at = 0;
        while let Some(next) = self.text[at..].find('`') {
            at += next;
            let length = self.run_length(at);
            runs.insert(length, at);
            at += length;
        }
        runs
    }

    /// The end, in bytes, of the code span that the run at `at` opens. The span must be closed.
    fn code_span_end(&self, at: usize, length: usize) -> usize {
        let mut at = at + length;
        while let Some(next) = self.text[at..].find('`') {
            at += next;
            let run = self.run_length(at);
            at += run;
            if run == length {
                return at;
            }
        }
        self.text.len()
    }

    /// Scans a run of delimiters and returns its end.
    fn scan_delimiters(&mut self, at: usize) -> usize {
        let run = &self.text[at..at + self.run_length(at)];
        let after = at + run.len();
        if after >= self.trimmed_end {
            self.end = at;
        } else {
            self.emphasis
                .push_run(at, run, &self.text[..at], &self.text[after..]);
        }
        after
    }

    /// Scans `[^label`. Returns its end, or leaves it out if it is cut off.
    fn scan_footnote(&mut self, at: usize) -> usize {
        match self.text[at + 1..].find([']', '[', '\n']) {
            Some(end) => at + 1 + end + usize::from(self.bytes[at + 1 + end] == b']'),
            None => {
                if self.text.len() - at < MAX_HELD_BRACKET_BYTES {
                    self.end = at;
                }
                self.text.len()
            }
        }
    }

    /// Scans `]`. Returns the end of the construct that it closes.
    fn scan_closing_bracket(&mut self, at: usize) -> usize {
        let Some(open) = self.brackets.pop() else {
            return at + 1;
        };
        match self.bytes.get(at + 1) {
            // A URL may still follow.
            None => {
                if at - open < MAX_HELD_BRACKET_BYTES {
                    self.end = open;
                }
                at + 1
            }
            Some(b'(') => match parse_destination(&self.text[at + 1..]) {
                LinkDestination::Complete(length) => at + 1 + length,
                LinkDestination::None => at + 1,
                LinkDestination::Open => {
                    let marker = if self.bytes[open] == b'!' { 2 } else { 1 };
                    self.dropped = Some(open..open + marker);
                    self.end = at;
                    at + 1
                }
            },
            // The label of a reference.
            Some(b'[') => match self.text[at + 2..].find(['[', ']']) {
                None => {
                    self.end = open;
                    at + 1
                }
                Some(_) => at + 1,
            },
            Some(_) => at + 1,
        }
    }

    /// Scans `<`, which may begin a URL or a tag.
    fn scan_angle(&mut self, at: usize) -> usize {
        let rest = &self.text[at + 1..];
        if !rest.is_empty()
            && !rest.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'))
        {
            return at + 1;
        }
        match rest.find(|c: char| c.is_whitespace() || matches!(c, '<' | '>')) {
            Some(end) if rest[end..].starts_with('>') => at + 1 + end + 1,
            Some(_) => at + 1,
            None => {
                self.end = at;
                at
            }
        }
    }

    /// Returns true if `&` begins an entity that is cut off.
    fn is_incomplete_entity(&self, at: usize) -> bool {
        let rest = &self.bytes[at + 1..];
        rest.len() < 33
            && rest
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'#')
    }

    /// Writes the text to show. `code` is the position of an open code span.
    fn write_repaired(&mut self, code: Option<usize>, out: &mut String) {
        let mut tail = String::new();
        if let Some(at) = code {
            let length = self.run_length(at);
            let body = self.text[at + length..].trim_end_matches('`').trim();
            if !body.is_empty() {
                // Spaces separate backticks in the code from those around it. They are not part of the code.
                let pad = if body.starts_with('`') || body.ends_with('`') {
                    " "
                } else {
                    ""
                };
                let fence = &self.text[at..at + length];
                tail = format!("{fence}{pad}{body}{pad}{fence}");
            }
            self.end = at;
        }
        if tail.is_empty() {
            self.trim_end();
        }
        let end = self.end;
        match self.dropped.clone().filter(|dropped| dropped.end <= end) {
            Some(dropped) => {
                out.push_str(&self.text[..dropped.start]);
                out.push_str(&self.text[dropped.end..end]);
            }
            None => out.push_str(&self.text[..end]),
        }
        out.push_str(&tail);
        for opener in self
            .emphasis
            .openers()
            .iter()
            .rev()
            .filter(|opener| opener.at < end)
        {
            opener.write_closer(out);
        }
    }

    /// Removes whitespace and openers at the end, which enclose nothing yet.
    fn trim_end(&mut self) {
        loop {
            self.end = self.text[..self.end].trim_end().len();
            match self.emphasis.openers().last().copied() {
                Some(opener) if opener.end() >= self.end => {
                    self.end = self.end.min(opener.at);
                    self.emphasis.pop();
                }
                _ => return,
            }
        }
    }
}
