//! The open runs of `*`, `_` and `~~`, by the rules of CommonMark and the amendment in [`cjk`].

use std::collections::HashMap;

use super::cjk;

/// A run of delimiters that may begin emphasis.
#[derive(Clone, Copy, Debug)]
pub(super) struct DelimiterRun {
    pub at: usize,
    byte: u8,
    /// The number of delimiters of the run, from `at` on, that are not closed.
    pub open: usize,
    /// The length of the whole run.
    length: usize,
    /// True if it can close as well.
    can_close: bool,
}

impl DelimiterRun {
    pub fn end(&self) -> usize {
        self.at + self.open
    }

    /// Writes the delimiters that close it.
    pub fn write_closer(&self, out: &mut String) {
        for _ in 0..self.open {
            out.push(char::from(self.byte));
        }
    }
}

/// The open runs of a text, the outermost first.
#[derive(Debug, Default)]
pub(super) struct EmphasisStack {
    openers: Vec<DelimiterRun>,
    /// For each kind of closer, the height of the stack below which no opener matches it. Without it,
    /// repeated searches would take long.
    bottoms: HashMap<(u8, bool, usize), usize>,
}

impl EmphasisStack {
    pub fn openers(&self) -> &[DelimiterRun] {
        &self.openers
    }

    /// Adds the run that stands at `at`, between `before` and `after`.
    pub fn push_run(&mut self, at: usize, run: &str, before: &str, after: &str) {
        let Some(&byte) = run.as_bytes().first() else {
            return;
        };
        // A single tilde mostly means "about".
        if byte == b'~' && run.len() != 2 {
            return;
        }
        let (can_open, can_close) = can_open_and_close(byte, before, after);
        let left = if can_close {
            self.match_closer(byte, run.len(), can_open)
        } else {
            run.len()
        };
        if can_open && left > 0 {
            let at = at + run.len() - left;
            self.openers.push(DelimiterRun {
                at,
                byte,
                open: left,
                length: run.len(),
                can_close,
            });
        }
    }

    /// Matches a closing run with the openers before it and returns the rest of the run's length.
    fn match_closer(&mut self, byte: u8, length: usize, both: bool) -> usize {
        let mut left = length;
        let key = (byte, both, length % 3);
        let bottom = self.bottoms.get(&key).copied().unwrap_or(0);
        let mut index = self.openers.len();
        while left > 0 && index > bottom {
            index -= 1;
            let opener = self.openers[index];
            let odd = (opener.can_close || both)
                && (opener.length + length).is_multiple_of(3)
                && !(opener.length.is_multiple_of(3) && length.is_multiple_of(3));
            if opener.byte != byte || odd || (byte == b'~' && opener.length != length) {
                continue;
            }
            let used = if opener.open >= 2 && left >= 2 { 2 } else { 1 };
            left -= used;
            self.openers.truncate(index + 1);
            if opener.open == used {
                self.openers.pop();
            } else {
                self.openers[index].open -= used;
                index += 1;
            }
        }
        let openers = self.openers.len();
        self.bottoms
            .values_mut()
            .for_each(|bottom| *bottom = openers.min(*bottom));
        if left > 0 {
            self.bottoms.insert(key, openers);
        }
        left
    }

    /// Removes the innermost open run.
    pub fn pop(&mut self) {
        self.openers.pop();
    }
}

/// Returns two flags for a run between these texts: it can open, and it can close.
fn can_open_and_close(byte: u8, before: &str, after: &str) -> (bool, bool) {
    let before = before.chars().next_back().unwrap_or(' ');
    let after = after.chars().next().unwrap_or(' ');
    if byte != b'_' {
        return cjk::flanking(before, after);
    }
    let punctuation = cjk::is_punctuation;
    let left =
        !after.is_whitespace() && (!punctuation(after) || before.is_whitespace() || punctuation(before));
    let right =
        !before.is_whitespace() && (!punctuation(before) || after.is_whitespace() || punctuation(after));
    (
        left && (!right || punctuation(before)),
        right && (!left || punctuation(after)),
    )
}
