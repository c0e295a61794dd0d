//! Detection of an answer that goes round in circles: the same passage, again and again, until the window is full.
//!
//! Only exact repetition counts, so a list whose items differ in their numbers is none. A passage is prose if most of its characters
//! are letters and it has several words. Anything else (code, tables, drawings, data) repeats itself for good reasons and may
//! do so for as long as is remembered here, [`REMEMBERED`].

use std::collections::HashSet;

/// The shortest passage, in characters. A shorter one counts as often as it fits into this.
pub const MIN_PASSAGE: usize = 500;

/// The most of a text that is remembered, in bytes: the longest stretch that can be looked at.
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
                if self.is_repeating(is_data || self.fences.open.is_some()) {
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

/// Looks for the last bytes once more within the longest passage: nearly always they are not there, and that costs little.
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

/// Tells words from cells, signs and numbers.
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

/// Follows whether a text stands in a fenced block of code. A fence is a line that begins with one.
#[derive(Clone, Copy, Debug, Default)]
struct Fences {
    /// The sign of the open block's fence, and how many of it.
    open: Option<(u8, usize)>,
    line: Line,
}

/// The line so far.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    /// The sign that it begins with, and how many of it.
    sign: u8,
    count: usize,
    behind: Behind,
}

/// The most telling character behind those signs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Behind {
    #[default]
    Nothing,
    Space,
    Word,
    /// No line that begins with backticks is a fence then.
    Backtick,
}

impl Fences {
    fn push(&mut self, text: &[u8]) {
        for &byte in text {
            let line = &mut self.line;
            let begins = line.behind == Behind::Nothing;
            match byte {
                b'\n' => self.end_line(),
                b' ' | b'\t' if begins && line.count == 0 => {}
                b'`' | b'~' if begins && (line.count == 0 || byte == line.sign) => {
                    line.sign = byte;
                    line.count += 1;
                }
                b' ' | b'\t' | b'\r' => line.behind = line.behind.max(Behind::Space),
                b'`' => line.behind = Behind::Backtick,
                _ => line.behind = line.behind.max(Behind::Word),
            }
        }
    }

    fn end_line(&mut self) {
        let Line { sign, count, behind } = std::mem::take(&mut self.line);
        self.open = match self.open {
            Some((open, least)) if sign == open && count >= least && behind <= Behind::Space => None,
            None if count >= 3 && (sign == b'~' || behind < Behind::Backtick) => Some((sign, count)),
            open => open,
        };
    }
}

#[cfg(test)]
mod tests;
