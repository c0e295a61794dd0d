//! Brackets and quotation marks in pairs, which are mirrored in right-to-left text.

use icu_properties::{CodePointMapData, props::BidiMirroringGlyph};

/// A bracket as it is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bracket {
    Opening,
    Closing,
}

/// The brackets and quotation marks that come in pairs.
pub const PAIRS: [(char, char); 10] = [
    ('(', ')'),
    ('[', ']'),
    ('{', '}'),
    ('<', '>'),
    ('«', '»'),
    ('‹', '›'),
    ('⟨', '⟩'),
    ('⟦', '⟧'),
    ('⌈', '⌉'),
    ('⌊', '⌋'),
];

/// Returns the sign that looks like the mirror image of a text.
pub fn mirrored(text: &str) -> Option<char> {
    CodePointMapData::<BidiMirroringGlyph>::new()
        .get(only_char(text)?)
        .mirroring_glyph
}

/// Returns the only character of a text.
pub fn only_char(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars.next().filter(|_| chars.next().is_none())
}

/// The number of pairs among brackets in the order in which they are read: as they are, and mirrored.
#[derive(Clone, Copy, Debug, Default)]
pub struct PairCounts {
    as_they_are: usize,
    mirrored: usize,
}

impl PairCounts {
    /// Counts the pairs of a line.
    pub fn new(brackets: impl IntoIterator<Item = Bracket>) -> Self {
        let mut counts = Self::default();
        let (mut open, mut mirrored_open) = (0_usize, 0_usize);
        for bracket in brackets {
            let (opened, closed, pairs) = match bracket {
                Bracket::Opening => (&mut open, &mut mirrored_open, &mut counts.mirrored),
                Bracket::Closing => (&mut mirrored_open, &mut open, &mut counts.as_they_are),
            };
            *opened += 1;
            if *closed > 0 {
                *closed -= 1;
                *pairs += 1;
            }
        }
        counts
    }

    pub fn add(&mut self, other: Self) {
        self.as_they_are += other.as_they_are;
        self.mirrored += other.mirrored;
    }

    /// Returns `true` if brackets are named by their looks, so that they have to be mirrored in right-to-left text; `None`
    /// if that is unclear. Some programs write the name of a bracket as it was typed.
    pub fn are_named_by_looks(self) -> Option<bool> {
        (self.as_they_are != self.mirrored).then_some(self.mirrored > self.as_they_are)
    }
}
