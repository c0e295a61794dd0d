//! A line of a page: its glyphs, and their text in the order in which it is read.

use super::{
    brackets::{Bracket, PairCounts, mirrored},
    direction::{Direction, Kind, Seen, WordCounts, direction_of},
    page_text::{Gap, MIN_COLUMN_GAP, MIN_SPACE_GAP, push_space},
    reading_order::{Run, reading_order},
};

/// The maximum distance between two glyphs that are one, drawn twice, in ems.
const MAX_DOUBLE_DISTANCE: f64 = 0.1;

/// The maximum distance from the end of the other lines at which a line is at that end, in ems.
const MAX_INDENT: f64 = 0.5;

/// The minimum distance from the end of the other lines at which a line is not at that end, in ems.
const MIN_RAGGED: f64 = 3.0;

/// A glyph in its line.
#[derive(Clone, Debug)]
pub struct PlacedGlyph {
    pub text: String,
    pub kind: Kind,
    /// The gap between it and the glyph before it in the file.
    pub gap: Gap,
    /// The ends of the glyph along the line.
    pub left: f64,
    pub right: f64,
    pub size: f64,
    /// `true` if the text is not named by the looks of the glyph.
    pub is_as_typed: bool,
    /// The text that the glyph looks like, if that is another one.
    pub looks: Option<String>,
    /// `true` for a mark that combines with a letter.
    pub is_mark: bool,
    /// The middle of what a mark draws, along the line.
    pub ink: Option<f64>,
}

impl PlacedGlyph {
    /// A glyph without a place.
    pub fn new(text: String) -> Self {
        Self {
            kind: Kind::from_text(&text),
            text,
            gap: Gap::None,
            left: 0.0,
            right: 0.0,
            size: 1.0,
            is_as_typed: false,
            looks: None,
            is_mark: false,
            ink: None,
        }
    }

    fn center(&self) -> f64 {
        f64::midpoint(self.left, self.right)
    }

    fn seen(&self) -> Seen {
        Seen::new(self.looks.as_deref().unwrap_or(&self.text), self.kind)
    }

    fn is_space(&self) -> bool {
        self.text.chars().all(char::is_whitespace)
    }
}

/// Counts the words of a line, whose glyphs are in the order of the file.
pub fn line_words(glyphs: &[PlacedGlyph]) -> WordCounts {
    WordCounts::new(glyphs.iter().flat_map(|glyph| {
        let gap = Some(Kind::Space).filter(|_| glyph.gap != Gap::None);
        gap.into_iter().chain([glyph.kind])
    }))
}

/// The left and the right end of a line, or of all lines of a page.
#[derive(Clone, Copy, Debug)]
pub struct LineEnds {
    left: f64,
    right: f64,
}

impl Default for LineEnds {
    fn default() -> Self {
        Self {
            left: f64::INFINITY,
            right: f64::NEG_INFINITY,
        }
    }
}

impl LineEnds {
    /// Returns the ends of a line.
    pub fn from_glyphs(glyphs: &[PlacedGlyph]) -> Self {
        glyphs
            .iter()
            .filter(|glyph| !glyph.is_space())
            .fold(Self::default(), |ends, glyph| Self {
                left: ends.left.min(glyph.left),
                right: ends.right.max(glyph.right),
            })
    }

    pub fn add(&mut self, other: Self) {
        self.left = self.left.min(other.left);
        self.right = self.right.max(other.right);
    }

    /// Returns the direction of a line that reaches only one end of the others.
    fn direction_of(self, line: Self, size: f64) -> Option<Direction> {
        let (left, right) = ((line.left - self.left) / size, (self.right - line.right) / size);
        match () {
            () if left < MAX_INDENT && right > MIN_RAGGED => Some(Direction::LeftToRight),
            () if right < MAX_INDENT && left > MIN_RAGGED => Some(Direction::RightToLeft),
            () => None,
        }
    }
}

/// A line of a page.
#[derive(Debug)]
pub enum Line {
    /// A line that is read as it is drawn.
    Text(String),
    /// A line with right-to-left text, or without any letter, in the order of the file.
    Glyphs(Vec<PlacedGlyph>),
}

impl Line {
    pub fn new(glyphs: Vec<PlacedGlyph>) -> Self {
        let has_right = glyphs.iter().any(|glyph| glyph.kind.is_right());
        let has_left = glyphs.iter().any(|glyph| glyph.kind == Kind::Left);
        match has_left && !has_right {
            true => Self::Text(text_as_drawn(&glyphs)),
            false => Self::Glyphs(glyphs),
        }
    }

    /// Puts the line into the order in which it is read on a page of a direction. `ends` are those of the page.
    pub fn ordered(self, page: Direction, ends: LineEnds) -> OrderedLine {
        match self {
            Self::Text(text) => OrderedLine::Text(text),
            Self::Glyphs(glyphs)
                if page == Direction::LeftToRight && !glyphs.iter().any(|glyph| glyph.kind.is_right()) =>
            {
                OrderedLine::Text(text_as_drawn(&glyphs))
            }
            Self::Glyphs(glyphs) => OrderedLine::Segments(order(glyphs, page, ends)),
        }
    }
}

/// A line in the order in which it is read.
#[derive(Debug)]
pub enum OrderedLine {
    Text(String),
    Segments(Vec<Segment>),
}

/// A segment of a line.
#[derive(Debug)]
pub struct Segment {
    text: String,
    /// The bracket that may have to be mirrored.
    bracket: Option<Bracket>,
}

impl Segment {
    fn space(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            bracket: None,
        }
    }
}

impl OrderedLine {
    /// Counts the pairs of brackets in right-to-left text.
    pub fn pairs(&self) -> PairCounts {
        match self {
            Self::Text(_) => PairCounts::default(),
            Self::Segments(segments) => {
                PairCounts::new(segments.iter().filter_map(|segment| segment.bracket))
            }
        }
    }

    /// Appends the text of the line. `are_named_by_looks` is true if the brackets of its page have to be mirrored.
    pub fn push_to(self, text: &mut String, are_named_by_looks: bool) {
        let mirrors = self.pairs().are_named_by_looks().unwrap_or(are_named_by_looks);
        match self {
            Self::Text(line) => text.push_str(&line),
            Self::Segments(segments) => {
                for segment in segments {
                    match mirrored(&segment.text).filter(|_| mirrors && segment.bracket.is_some()) {
                        Some(bracket) => text.push(bracket),
                        None if segment.text.trim().is_empty() => push_space(text, &segment.text),
                        None => text.push_str(&segment.text),
                    }
                }
            }
        }
    }
}

/// Returns the text of a line in the order of the file.
fn text_as_drawn(glyphs: &[PlacedGlyph]) -> String {
    let mut text = String::new();
    for glyph in glyphs {
        push_space(&mut text, glyph.gap.as_str());
        match glyph.is_space() {
            true => push_space(&mut text, " "),
            false => text.push_str(&glyph.text),
        }
    }
    text
}

/// Orders the glyphs of a line by their places.
fn order(glyphs: Vec<PlacedGlyph>, page: Direction, ends: LineEnds) -> Vec<Segment> {
    let size = glyphs.first().map_or(1.0, |glyph| glyph.size);
    let around = ends
        .direction_of(LineEnds::from_glyphs(&glyphs), size)
        .unwrap_or(page);
    let mut columns = columns(with_marks(glyphs));
    let seen = |column: &[PlacedGlyph]| -> Vec<Seen> { column.iter().map(PlacedGlyph::seen).collect() };
    let all: Vec<Seen> = columns.iter().flat_map(|column| seen(column)).collect();
    let direction = direction_of(
        &all,
        if all.iter().any(|seen| seen.kind.is_strong()) {
            around
        } else {
            page
        },
    );
    if direction == Direction::RightToLeft {
        columns.reverse();
    }
    let mut segments = Vec::new();
    for column in columns {
        if !segments.is_empty() {
            segments.push(Segment::space("\t"));
        }
        push_column(&mut segments, &column, &seen(&column), direction);
    }
    segments
}

/// Adds the marks to their letters, and returns the letters from left to right.
fn with_marks(glyphs: Vec<PlacedGlyph>) -> Vec<PlacedGlyph> {
    let mut letters: Vec<PlacedGlyph> = Vec::with_capacity(glyphs.len());
    // The number of letters before each mark.
    let mut marks: Vec<(usize, PlacedGlyph)> = Vec::new();
    for glyph in glyphs {
        match glyph.is_mark {
            true => marks.push((letters.len(), glyph)),
            false => letters.push(glyph),
        }
    }
    // The marks of each letter that come before it in the file, and those that follow it.
    let mut added: Vec<(Vec<String>, Vec<String>)> = vec![(Vec::new(), Vec::new()); letters.len()];
    for (next, mark) in marks {
        let Some((letter, is_before)) = letter_of(&mark, &letters, next) else {
            continue;
        };
        match is_before {
            true => added[letter].0.push(mark.text),
            false => added[letter].1.push(mark.text),
        }
    }
    for (letter, (before, after)) in letters.iter_mut().zip(added) {
        letter.text.extend(before.into_iter().rev());
        letter.text.extend(after);
    }
    letters.sort_by(|a, b| a.center().total_cmp(&b.center()));
    letters.dedup_by(|next, last| {
        next.text == last.text && (next.left - last.left).abs() < MAX_DOUBLE_DISTANCE * last.size
    });
    letters
}

/// Returns the letter that a mark belongs to, and whether the mark is before it in the file: the letter beside it in the file
/// whose place has the mark. `next` is the number of letters before the mark.
fn letter_of(mark: &PlacedGlyph, letters: &[PlacedGlyph], next: usize) -> Option<(usize, bool)> {
    let is_letter = |index: &usize| letters.get(*index).is_some_and(|letter| !letter.is_space());
    let last = next.checked_sub(1).filter(is_letter);
    let next = Some(next).filter(is_letter);
    let (Some(last), Some(next)) = (last, next) else {
        return last.map(|last| (last, false)).or(next.map(|next| (next, true)));
    };
    let at = mark.ink.unwrap_or_else(|| mark.center());
    let distance = |index: usize| {
        let letter = &letters[index];
        (letter.left - at).max(at - letter.right)
    };
    let (to_last, to_next) = (distance(last), distance(next));
    // Drawn from the right, marks follow their letter; from the left, they come before it.
    let is_drawn_from_left = letters[last].center() < letters[next].center();
    let is_of_next = match (to_last <= 0.0, to_next <= 0.0) {
        (true, false) => false,
        (false, true) => true,
        _ => is_drawn_from_left && letters[next].kind.is_right(),
    };
    Some(match is_of_next {
        true => (next, true),
        false => (last, false),
    })
}

/// Returns the columns of a line, with a space in each gap between words.
fn columns(letters: Vec<PlacedGlyph>) -> Vec<Vec<PlacedGlyph>> {
    let mut columns = vec![Vec::new()];
    let mut end: Option<f64> = None;
    for letter in letters {
        let gap = end.map_or(0.0, |end| (letter.left - end) / letter.size);
        end = Some(end.map_or(letter.right, |end| end.max(letter.right)));
        if gap > MIN_COLUMN_GAP {
            columns.push(Vec::new());
        }
        let Some(column) = columns.last_mut() else {
            continue;
        };
        if gap > MIN_SPACE_GAP && gap <= MIN_COLUMN_GAP {
            column.push(PlacedGlyph::new(" ".into()));
        }
        column.push(letter);
    }
    columns.retain(|column| !column.iter().all(PlacedGlyph::is_space));
    columns
}

/// Appends a column of a line with a direction.
fn push_column(segments: &mut Vec<Segment>, column: &[PlacedGlyph], seen: &[Seen], line: Direction) {
    let mut push = |index: usize, is_right: bool| {
        let text = match column[index].is_space() {
            true => " ",
            false => &*column[index].text,
        };
        segments.push(Segment {
            text: text.to_owned(),
            bracket: seen[index]
                .bracket
                .filter(|_| is_right && !column[index].is_as_typed),
        });
    };
    for Run { range, direction } in reading_order(seen, direction_of(seen, line)) {
        match direction {
            Direction::LeftToRight => range.for_each(|index| push(index, false)),
            Direction::RightToLeft => range.rev().for_each(|index| push(index, true)),
        }
    }
}
