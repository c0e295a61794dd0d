//! The directions of characters, and of lines with characters of both.

use icu_properties::{CodePointMapData, props::BidiClass};

use super::brackets::{Bracket, PAIRS, only_char};

/// The direction of a line or of a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    LeftToRight,
    RightToLeft,
}

/// The bidirectional type of a character, as far as the order depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A letter that is read from left to right.
    Left,
    /// A letter that is read from right to left, but not of Arabic script.
    Right,
    /// A letter of Arabic script.
    Arabic,
    /// A European digit.
    Digit,
    /// An Arabic digit.
    ArabicDigit,
    /// A plus or minus sign, which joins European digits.
    Sign,
    /// A point, comma, colon or slash, which joins digits.
    Separator,
    /// A sign that belongs to the European digits beside it, such as `%` or `$`.
    Terminator,
    Space,
    Neutral,
}

impl Kind {
    /// Returns the kind of a text that is shown by one glyph: that of its first character with a direction. A text with letters
    /// of both directions is a word of several characters, typed in this order, and is kept as it is.
    pub fn from_text(text: &str) -> Self {
        let mut kinds = text.chars().map(Self::from_char);
        let has = |is_of: fn(Self) -> bool| text.chars().map(Self::from_char).any(is_of);
        if has(Self::is_right) && has(|kind| kind == Self::Left) {
            return Self::Left;
        }
        let first = kinds.next().unwrap_or(Self::Neutral);
        match first.is_neutral() {
            true => kinds.find(|kind| kind.is_strong()).unwrap_or(first),
            false => first,
        }
    }

    fn from_char(c: char) -> Self {
        match CodePointMapData::<BidiClass>::new().get(c) {
            BidiClass::LeftToRight => Self::Left,
            BidiClass::RightToLeft => Self::Right,
            BidiClass::ArabicLetter => Self::Arabic,
            BidiClass::EuropeanNumber => Self::Digit,
            BidiClass::ArabicNumber => Self::ArabicDigit,
            BidiClass::EuropeanSeparator => Self::Sign,
            BidiClass::CommonSeparator => Self::Separator,
            BidiClass::EuropeanTerminator => Self::Terminator,
            BidiClass::WhiteSpace | BidiClass::ParagraphSeparator | BidiClass::SegmentSeparator => {
                Self::Space
            }
            _ => Self::Neutral,
        }
    }

    /// Returns `true` for a letter of the scripts that are read from right to left.
    pub fn is_right(self) -> bool {
        matches!(self, Self::Right | Self::Arabic)
    }

    pub fn is_strong(self) -> bool {
        self.is_right() || self == Self::Left
    }

    pub fn is_digit(self) -> bool {
        matches!(self, Self::Digit | Self::ArabicDigit)
    }

    pub fn is_neutral(self) -> bool {
        !self.is_strong() && !self.is_digit()
    }
}

/// The number of words of both directions.
#[derive(Clone, Copy, Debug, Default)]
pub struct WordCounts {
    pub left: usize,
    pub right: usize,
}

impl WordCounts {
    /// Counts the words of a line. A word has the direction of its first letter.
    pub fn new(kinds: impl IntoIterator<Item = Kind>) -> Self {
        let mut counts = Self::default();
        let mut is_counted = false;
        for kind in kinds {
            is_counted &= kind != Kind::Space;
            if kind.is_strong() && !is_counted {
                is_counted = true;
                *if kind == Kind::Left {
                    &mut counts.left
                } else {
                    &mut counts.right
                } += 1;
            }
        }
        counts
    }

    pub fn add(&mut self, other: Self) {
        self.left += other.left;
        self.right += other.right;
    }
}

/// Returns the direction of a part of a line, whose characters are seen from left to right. Where it has letters of both
/// directions, `around` is that of the page.
pub fn direction_of(seen: &[Seen], around: Direction) -> Direction {
    let WordCounts { left, right } = WordCounts::new(seen.iter().map(|seen| seen.kind));
    match (left, right) {
        (0, 0) => return around,
        (0, _) => return Direction::RightToLeft,
        (_, 0) => return Direction::LeftToRight,
        _ => {}
    }
    let mut strong = seen.iter().filter(|seen| seen.kind.is_strong());
    let begins_right = strong.next().is_some_and(|seen| seen.kind.is_right());
    let ends_right = strong
        .next_back()
        .map_or(begins_right, |seen| seen.kind.is_right());
    let ends_sentence = |seen: Option<&Seen>| seen.is_some_and(|seen| seen.ends_sentence);
    match (ends_sentence(seen.first()), ends_sentence(seen.last())) {
        (true, false) if begins_right => return Direction::RightToLeft,
        (false, true) if !ends_right => return Direction::LeftToRight,
        _ => {}
    }
    match around {
        // A line of another language, with a word of that of the page.
        Direction::RightToLeft if !begins_right && !ends_right && left > 2 * right => Direction::LeftToRight,
        Direction::LeftToRight if right > 2 * left => Direction::RightToLeft,
        Direction::LeftToRight if begins_right && ends_right && 2 * right > left => Direction::RightToLeft,
        around => around,
    }
}

/// A character, or several that one glyph shows.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    pub kind: Kind,
    pub bracket: Option<Bracket>,
    pub ends_sentence: bool,
}

impl Seen {
    pub fn new(text: &str, kind: Kind) -> Self {
        let c = only_char(text);
        let bracket = PAIRS.iter().find_map(|(opening, closing)| match c {
            _ if c == Some(*opening) => Some(Bracket::Opening),
            _ if c == Some(*closing) => Some(Bracket::Closing),
            _ => None,
        });
        Self {
            kind,
            bracket,
            ends_sentence: matches!(
                c,
                Some('.' | '!' | '?' | '…' | ':' | ',' | ';' | '؟' | '،' | '؛' | '۔')
            ),
        }
    }
}
