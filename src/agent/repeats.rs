//! Detection of an answer that goes round in circles: the same passage, again and again, until the window is full.
//!
//! Only exact repetition counts, so a list whose items differ in their numbers is none. A passage is prose if most of its characters
//! are letters and it has several words. Anything else (code, tables, drawings, data) repeats itself for good reasons and may
//! do so for as long as is remembered here, [`REMEMBERED`].

use std::collections::HashSet;

/// The shortest passage, in characters. A shorter one counts as often as it fits into this.
pub const MIN_PASSAGE: usize = 500;

/// How much of a text is remembered, in bytes: the longest stretch that can be looked at.
pub const REMEMBERED: usize = 64 << 10;

/// After so many bytes the text is looked at again, whatever pieces it comes in.
const INTERVAL: usize = 512;

/// Or after this part of what is remembered, if that is more: a look costs as much as it is long, so each byte costs the same.
const INTERVAL_PART: usize = 8;

/// The longest passage, in bytes.
const MAX_PASSAGE: usize = 4096;

/// A passage that ends the text like this has to be there before, or nothing is repeated.
const ENDING: usize = 32;

/// Prose has so many words in the shortest passage, at least; in scripts without spaces, so many different letters.
const MIN_WORDS: usize = 4;

/// Follows one text as it grows.
#[derive(Clone, Debug)]
pub struct Repeats {
    /// So many repetitions in a row end an answer. 0 means that nothing is followed.
    limit: usize,
    /// The text's end, at most twice [`REMEMBERED`].
    text: Vec<u8>,
    /// Bytes until it is looked at again.
    until_next: usize,
    fences: Fences,
}

impl Repeats {
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            text: Vec::new(),
            until_next: INTERVAL,
            fences: Fences::default(),
        }
    }

    /// Takes more of the text. Says whether it ends with the same passage again and again; `is_data` is what no person reads as prose.
    pub fn push(&mut self, delta: &str, is_data: bool) -> bool {
        if self.limit == 0 {
            return false;
        }
        let mut rest = delta.as_bytes();
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(self.until_next));
            rest = later;
            self.text.extend_from_slice(now);
            self.fences.push(now);
            self.until_next -= now.len();
            if self.until_next == 0 {
                self.until_next = INTERVAL.max(self.text.len().min(REMEMBERED) / INTERVAL_PART);
                if self.text.len() > 2 * REMEMBERED {
                    self.text.drain(..self.text.len() - REMEMBERED);
                }
                if self.is_repeating(is_data || self.fences.is_open) {
                    return true;
                }
            }
        }
        false
    }

    fn is_repeating(&self, is_data: bool) -> bool {
        let remembered = &self.text[self.text.len().saturating_sub(REMEMBERED)..];
        if characters(remembered) < MIN_PASSAGE * self.limit || !ends_as_before(remembered) {
            return false;
        }
        let Some((length, period)) = longest_repetition(remembered, self.limit) else {
            return false;
        };
        let stretch = &remembered[remembered.len() - length..];
        if characters(stretch) < MIN_PASSAGE * self.limit {
            return false;
        }
        // A little less than all, since what is remembered may begin in the middle.
        let fills_all = length + MAX_PASSAGE >= REMEMBERED;
        fills_all || !is_data && is_prose(&stretch[..period.max(MIN_PASSAGE).min(length)])
    }
}

/// Whether the last bytes are found once more within the longest passage: nearly always the answer is no, and costs little.
fn ends_as_before(text: &[u8]) -> bool {
    let Some(at) = text.len().checked_sub(ENDING) else {
        return false;
    };
    let (before, ending) = (&text[at.saturating_sub(MAX_PASSAGE)..text.len() - 1], &text[at..]);
    before.windows(ENDING).any(|window| window == ending)
}

/// The longest end of a text that is one passage at least `times` in a row, and how long that passage is; both in bytes.
fn longest_repetition(text: &[u8], times: usize) -> Option<(usize, usize)> {
    // The prefix function of the reversed text: for each end of it, the longest border. What is left beside that is its period.
    let reversed: Vec<u8> = text.iter().rev().copied().collect();
    let mut borders = vec![0_usize; reversed.len()];
    let mut found = None;
    for end in 1..reversed.len() {
        let mut border = borders[end - 1];
        while border > 0 && reversed[end] != reversed[border] {
            border = borders[border - 1];
        }
        if reversed[end] == reversed[border] {
            border += 1;
        }
        borders[end] = border;
        let (length, period) = (end + 1, end + 1 - border);
        if period <= MAX_PASSAGE && length / period >= times {
            found = Some((length, period));
        }
    }
    found
}

fn characters(text: &[u8]) -> usize {
    text.iter().filter(|byte| !(0x80..0xc0).contains(*byte)).count()
}

/// Whether a passage consists of words, rather than of cells, signs and numbers.
fn is_prose(passage: &[u8]) -> bool {
    let passage = String::from_utf8_lossy(passage);
    let is_row = |line: &str| line.trim_start().starts_with('|');
    if passage.lines().skip(1).any(is_row) || is_row(&passage) {
        return false;
    }
    let visible = passage.chars().filter(|c| !c.is_whitespace());
    let (letters, others): (Vec<char>, Vec<char>) = visible.partition(|c| c.is_alphabetic());
    // Many scripts have no spaces between words. One letter again and again is no word in any.
    let has_words = if letters.iter().any(char::is_ascii) {
        passage.split_whitespace().count() >= MIN_WORDS
    } else {
        letters.iter().collect::<HashSet<_>>().len() >= MIN_WORDS
    };
    has_words && letters.len() > 2 * others.len()
}

/// Whether a text stands in a fenced block of code at present.
#[derive(Clone, Copy, Debug, Default)]
struct Fences {
    is_open: bool,
    /// The sign that the line begins with, and how often; nothing once the line has something else.
    line: Line,
}

#[derive(Default, Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// Only spaces so far.
    #[default]
    Blank,
    Marks {
        sign: u8,
        count: usize,
    },
    Other,
}

impl Fences {
    fn push(&mut self, text: &[u8]) {
        for &byte in text {
            self.line = match (self.line, byte) {
                (_, b'\n') => Line::Blank,
                (Line::Blank, b' ' | b'\t') => Line::Blank,
                (Line::Blank, b'`' | b'~') => Line::Marks { sign: byte, count: 1 },
                (Line::Marks { sign, count }, byte) if byte == sign => {
                    if count == 2 {
                        self.is_open = !self.is_open;
                    }
                    Line::Marks {
                        sign,
                        count: count + 1,
                    }
                }
                _ => Line::Other,
            };
        }
    }
}

#[cfg(test)]
mod tests;
