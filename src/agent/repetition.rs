//! Detection of an answer that goes round in circles: the same passage, again and again, until the window is full.
//!
//! Only exact repetition counts, so a list whose items differ in their numbers is none. A passage is prose if most of its characters
//! are letters and it has several words. Anything else (code, tables, drawings, data) repeats itself for good reasons and may
//! do so for as long as is remembered here, [`REMEMBERED`].

use std::collections::HashSet;

/// The shortest passage, in characters. A shorter one counts as often as it fits into this.
pub const MIN_PASSAGE_CHARS: usize = 500;

/// The most of a text that is remembered, in bytes: the longest stretch that can be looked at.
pub const MAX_TAIL_BYTES: usize = 64 << 10;

/// After so many bytes the text is looked at again, whatever pieces it comes in.
const MIN_CHECK_INTERVAL_BYTES: usize = 512;

/// Or after this part of what is remembered, if that is more: a look costs as much as it is long, so each byte costs the same.
const CHECK_INTERVAL_DIVISOR: usize = 8;

/// The longest passage, in bytes.
const MAX_PASSAGE_BYTES: usize = 4096;

/// A passage that ends the text like this has to be there before, or nothing is repeated.
const PROBE_BYTES: usize = 32;

/// Prose has so many words in the shortest passage, at least; in scripts without spaces, so many different letters.
const MIN_PROSE_WORDS: usize = 4;

/// Follows one text as it grows.
#[derive(Clone, Debug)]
pub struct RepetitionDetector {
    /// So many repetitions in a row end an answer. 0 means that nothing is followed.
    limit: usize,
    /// The text's end, at most twice [`REMEMBERED`].
    text: Vec<u8>,
    /// Bytes until it is looked at again.
    bytes_until_check: usize,
    fences: FenceTracker,
}

impl RepetitionDetector {
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            text: Vec::new(),
            bytes_until_check: MIN_CHECK_INTERVAL_BYTES,
            fences: FenceTracker::default(),
        }
    }

    /// Takes more of the text. Says whether it ends with the same passage again and again; `is_data` is what no person reads as prose.
    pub fn push(&mut self, delta: &str, is_data: bool) -> bool {
        if self.limit == 0 {
            return false;
        }
        let mut rest = delta.as_bytes();
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(self.bytes_until_check));
            rest = later;
            self.text.extend_from_slice(now);
            self.fences.push(now);
            self.bytes_until_check -= now.len();
            if self.bytes_until_check == 0 {
                self.bytes_until_check = MIN_CHECK_INTERVAL_BYTES
                    .max(self.text.len().min(MAX_TAIL_BYTES) / CHECK_INTERVAL_DIVISOR);
                if self.text.len() > 2 * MAX_TAIL_BYTES {
                    self.text.drain(..self.text.len() - MAX_TAIL_BYTES);
                }
                if self.is_repeating(is_data || self.fences.open_fence.is_some()) {
                    return true;
                }
            }
        }
        false
    }

    fn is_repeating(&self, is_data: bool) -> bool {
        let remembered = &self.text[self.text.len().saturating_sub(MAX_TAIL_BYTES)..];
        if count_chars(remembered) < MIN_PASSAGE_CHARS * self.limit || !has_earlier_ending(remembered) {
            return false;
        }
        let Some((length, period)) = longest_repetition(remembered, self.limit) else {
            return false;
        };
        let stretch = &remembered[remembered.len() - length..];
        if count_chars(stretch) < MIN_PASSAGE_CHARS * self.limit {
            return false;
        }
        // A little less than all, since what is remembered may begin in the middle.
        let fills_all = length + MAX_PASSAGE_BYTES >= MAX_TAIL_BYTES;
        fills_all || !is_data && is_prose(&stretch[..period.max(MIN_PASSAGE_CHARS).min(length)])
    }
}

/// Looks for the last bytes once more within the longest passage: nearly always they are not there, and that costs little.
fn has_earlier_ending(text: &[u8]) -> bool {
    let Some(at) = text.len().checked_sub(PROBE_BYTES) else {
        return false;
    };
    let (before, ending) = (
        &text[at.saturating_sub(MAX_PASSAGE_BYTES)..text.len() - 1],
        &text[at..],
    );
    before.windows(PROBE_BYTES).any(|window| window == ending)
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
        if period <= MAX_PASSAGE_BYTES && length / period >= times {
            found = Some((length, period));
        }
    }
    found
}

fn count_chars(text: &[u8]) -> usize {
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
        passage.split_whitespace().count() >= MIN_PROSE_WORDS
    } else {
        letters.iter().collect::<HashSet<_>>().len() >= MIN_PROSE_WORDS
    };
    has_words && letters.len() > 2 * others.len()
}

/// Follows whether a text stands in a fenced block of code. A fence is a line that begins with one.
#[derive(Clone, Copy, Debug, Default)]
struct FenceTracker {
    /// The sign of the open block's fence, and how many of it.
    open_fence: Option<(u8, usize)>,
    line: Line,
}

/// The line so far.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    /// The sign that it begins with, and how many of it.
    sign: u8,
    count: usize,
    after_signs: AfterSigns,
}

/// The most telling character behind those signs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum AfterSigns {
    #[default]
    Nothing,
    Space,
    Word,
    /// No line that begins with backticks is a fence then.
    Backtick,
}

impl FenceTracker {
    fn push(&mut self, text: &[u8]) {
        for &byte in text {
            let line = &mut self.line;
            let begins = line.after_signs == AfterSigns::Nothing;
            match byte {
                b'\n' => self.end_line(),
                b' ' | b'\t' if begins && line.count == 0 => {}
                b'`' | b'~' if begins && (line.count == 0 || byte == line.sign) => {
                    line.sign = byte;
                    line.count += 1;
                }
                b' ' | b'\t' | b'\r' => line.after_signs = line.after_signs.max(AfterSigns::Space),
                b'`' => line.after_signs = AfterSigns::Backtick,
                _ => line.after_signs = line.after_signs.max(AfterSigns::Word),
            }
        }
    }

    fn end_line(&mut self) {
        let Line {
            sign,
            count,
            after_signs: behind,
        } = std::mem::take(&mut self.line);
        self.open_fence = match self.open_fence {
            Some((open, least)) if sign == open && count >= least && behind <= AfterSigns::Space => None,
            None if count >= 3 && (sign == b'~' || behind < AfterSigns::Backtick) => Some((sign, count)),
            open => open,
        };
    }
}

#[cfg(test)]
mod tests;
