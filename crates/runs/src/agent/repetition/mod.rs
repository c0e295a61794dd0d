//! Detection of an answer that repeats the same passage until the context window is full.
//!
//! Only exact repetition counts, so a list whose items differ in their numbers does not. A passage is prose
//! if most of its characters are letters and it has several words. Anything else (code, tables, drawings,
//! data) repeats itself for good reasons and may do so up to [`MAX_TAIL_BYTES`].

use std::collections::HashSet;

/// The shortest passage, in characters. A shorter one has to be repeated proportionally more often.
pub const MIN_PASSAGE_CHARS: usize = 500;

/// The bytes kept of a text's end: the longest stretch that is examined.
pub const MAX_TAIL_BYTES: usize = 64 << 10;

/// The minimum number of bytes between two checks, independent of how the text is split.
const MIN_CHECK_INTERVAL_BYTES: usize = 512;

/// The interval as a fraction of the kept bytes, if that is more. The cost of a check grows with the kept
/// bytes, so the cost per byte is constant.
const CHECK_INTERVAL_DIVISOR: usize = 8;

/// The longest passage, in bytes.
const MAX_PASSAGE_BYTES: usize = 4096;

/// The length of the ending that has to occur earlier. Otherwise nothing is repeated.
const PROBE_BYTES: usize = 32;

/// The minimum number of words of prose in the shortest passage, or of different letters in scripts without
/// spaces.
const MIN_PROSE_WORDS: usize = 4;

/// Checks one growing text for repetition.
#[derive(Clone, Debug)]
pub struct RepetitionDetector {
    /// The number of repetitions in a row that ends an answer. 0 disables the check.
    limit: usize,
    /// The text's end, at most twice [`MAX_TAIL_BYTES`].
    text: Vec<u8>,
    /// Bytes until the next check.
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

    /// Appends text and returns true if it ends in a repeated passage. `is_data` marks text that is not read
    /// as prose.
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
        let tail = &self.text[self.text.len().saturating_sub(MAX_TAIL_BYTES)..];
        if count_chars(tail) < MIN_PASSAGE_CHARS * self.limit || !has_earlier_ending(tail) {
            return false;
        }
        let Some((length, period)) = longest_repetition(tail, self.limit) else {
            return false;
        };
        let stretch = &tail[tail.len() - length..];
        if count_chars(stretch) < MIN_PASSAGE_CHARS * self.limit {
            return false;
        }
        // A margin of one passage, since the kept text may begin in the middle of one.
        let fills_all = length + MAX_PASSAGE_BYTES >= MAX_TAIL_BYTES;
        fills_all || !is_data && is_prose(&stretch[..period.max(MIN_PASSAGE_CHARS).min(length)])
    }
}

/// Returns true if the last bytes occur earlier within the longest passage. Nearly always they don't, so the
/// full check is rarely needed.
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

/// Returns the longest ending that is one passage at least `times` in a row: its length and the passage's
/// length, both in bytes.
fn longest_repetition(text: &[u8], times: usize) -> Option<(usize, usize)> {
    // The prefix function of the reversed text gives the longest border of each ending. The ending's length
    // minus the border is its period.
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

/// Returns true for prose, as opposed to table cells, symbols and numbers.
fn is_prose(passage: &[u8]) -> bool {
    let passage = String::from_utf8_lossy(passage);
    let is_row = |line: &str| line.trim_start().starts_with('|');
    if passage.lines().skip(1).any(is_row) || is_row(&passage) {
        return false;
    }
    let visible = passage.chars().filter(|c| !c.is_whitespace());
    let (letters, others): (Vec<char>, Vec<char>) = visible.partition(|c| c.is_alphabetic());
    // Many scripts have no spaces between words. A single repeated letter is not a word in any script.
    let has_words = if letters.iter().any(char::is_ascii) {
        passage.split_whitespace().count() >= MIN_PROSE_WORDS
    } else {
        letters.iter().collect::<HashSet<_>>().len() >= MIN_PROSE_WORDS
    };
    has_words && letters.len() > 2 * others.len()
}

/// Tracks fenced code blocks. A fence is a line that begins with a run of fence characters.
#[derive(Clone, Copy, Debug, Default)]
struct FenceTracker {
    /// The character and the length of the open block's fence.
    open_fence: Option<(u8, usize)>,
    line: LineStart,
}

/// The beginning of the current line.
#[derive(Clone, Copy, Debug, Default)]
struct LineStart {
    /// The character that the line begins with, and its count.
    sign: u8,
    count: usize,
    after_signs: AfterSigns,
}

/// The most significant character behind those characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum AfterSigns {
    #[default]
    Nothing,
    Space,
    Word,
    /// A line that begins with backticks is not a fence if it has another one.
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
        let LineStart {
            sign,
            count,
            after_signs,
        } = std::mem::take(&mut self.line);
        self.open_fence = match self.open_fence {
            Some((open, open_count))
                if sign == open && count >= open_count && after_signs <= AfterSigns::Space =>
            {
                None
            }
            None if count >= 3 && (sign == b'~' || after_signs < AfterSigns::Backtick) => Some((sign, count)),
            open => open,
        };
    }
}

#[cfg(test)]
mod tests;
