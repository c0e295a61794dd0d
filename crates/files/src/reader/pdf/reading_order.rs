//! The reading order of a line with right-to-left text: characters from left to right, as they are seen, become text as it is
//! typed. That is the inverse of the Unicode Bidirectional Algorithm (UAX #9), which is not unique: where several texts look
//! the same, Latin words and the numbers beside them stay together.

use std::ops::Range;

use super::{
    brackets::Bracket,
    direction::{Direction, Kind, Seen},
};

/// A part of a line whose characters are read in one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The characters, counted from the left.
    pub range: Range<usize>,
    pub direction: Direction,
}

/// Returns the parts of a line in the order in which they are read. `seen` are its characters from left to right.
pub fn reading_order(seen: &[Seen], direction: Direction) -> Vec<Run> {
    match direction {
        Direction::RightToLeft => {
            let kept = left_to_right_parts(seen);
            reversed(0..seen.len(), &kept)
        }
        Direction::LeftToRight => {
            let mut order = Vec::new();
            let mut end = 0;
            for part in right_to_left_parts(seen) {
                push_run(&mut order, end..part.start, Direction::LeftToRight);
                end = part.end;
                let numbers = numbers(seen, part.clone());
                order.extend(reversed(part, &numbers));
            }
            push_run(&mut order, end..seen.len(), Direction::LeftToRight);
            order
        }
    }
}

/// Returns a part from right to left, with those in it that are read from left to right.
fn reversed(part: Range<usize>, kept: &[Range<usize>]) -> Vec<Run> {
    let mut order = Vec::new();
    let mut end = part.end;
    for range in kept.iter().rev() {
        push_run(&mut order, range.end..end, Direction::RightToLeft);
        push_run(&mut order, range.clone(), Direction::LeftToRight);
        end = range.start;
    }
    push_run(&mut order, part.start..end, Direction::RightToLeft);
    order
}

fn push_run(order: &mut Vec<Run>, range: Range<usize>, direction: Direction) {
    if !range.is_empty() {
        order.push(Run { range, direction });
    }
}

/// Returns the parts of a right-to-left line that are read from left to right: Latin text with its numbers, and numbers.
fn left_to_right_parts(seen: &[Seen]) -> Vec<Range<usize>> {
    let is_of = |kind: Kind| matches!(kind, Kind::Left | Kind::Digit);
    let latin = parts(seen, is_of, |kind| kind == Kind::Left);
    let mut kept = Vec::new();
    let mut end = 0;
    for part in latin {
        kept.extend(numbers(seen, end..part.start));
        end = part.end;
        kept.push(part);
    }
    kept.extend(numbers(seen, end..seen.len()));
    kept
}

/// Returns the parts of a left-to-right line that are read from right to left.
fn right_to_left_parts(seen: &[Seen]) -> Vec<Range<usize>> {
    let is_edge = |kind: Kind| kind.is_right() || kind == Kind::ArabicDigit;
    let mut found = parts(seen, |kind| is_edge(kind) || kind == Kind::Digit, is_edge);
    for part in &mut found {
        // A number at its edge is that of the line.
        let kind = |index: usize| seen.get(index).map(|seen| seen.kind);
        while part.start < part.end && kind(part.start).is_some_and(|kind| !is_edge(kind)) {
            if seen[part.start].bracket.is_some() {
                break;
            }
            part.start += 1;
        }
        while part.start < part.end && kind(part.end - 1).is_some_and(|kind| !is_edge(kind)) {
            if seen[part.end - 1].bracket.is_some() {
                break;
            }
            part.end -= 1;
        }
    }
    found
}

/// Returns the longest parts that begin and end with a character of them, have a needed one, and between them neutral ones;
/// with the brackets around whose partner is in the part.
fn parts(seen: &[Seen], is_of: impl Fn(Kind) -> bool, is_needed: impl Fn(Kind) -> bool) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut current: Option<(Range<usize>, bool)> = None;
    let kind_before = |index: usize, distance: usize| Some(seen[index.checked_sub(distance)?].kind);
    for (index, Seen { kind, .. }) in seen.iter().enumerate() {
        // A comma that touches the number to its right is read after that number.
        let ends_number = *kind == Kind::Digit
            && kind_before(index, 1) == Some(Kind::Separator)
            && kind_before(index, 2) == Some(Kind::Space);
        if ends_number {
            found.extend(current.take().filter(|(_, needed)| *needed).map(|(part, _)| part));
        }
        if is_of(*kind) {
            let (part, has_needed) = current.get_or_insert((index..index, false));
            part.end = index + 1;
            *has_needed |= is_needed(*kind);
        } else if !kind.is_neutral() {
            found.extend(current.take().filter(|(_, needed)| *needed).map(|(part, _)| part));
        }
    }
    found.extend(current.filter(|(_, needed)| *needed).map(|(part, _)| part));
    let mut first_free = 0;
    for index in 0..found.len() {
        let next = found.get(index + 1).map_or(seen.len(), |next| next.start);
        let part = with_brackets(seen, found[index].clone(), first_free..next);
        first_free = part.end;
        found[index] = part;
    }
    found
}

/// The maximum distance of a bracket from the text that belongs to it.
const MAX_BRACKET_DISTANCE: usize = 3;

/// Extends a part by the brackets beside it whose partners it has.
fn with_brackets(seen: &[Seen], mut part: Range<usize>, room: Range<usize>) -> Range<usize> {
    // The number of brackets in the part without their partner.
    let (mut opening, mut closing) = (0_usize, 0_usize);
    for bracket in seen[part.clone()].iter().filter_map(|seen| seen.bracket) {
        match bracket {
            Bracket::Opening => opening += 1,
            Bracket::Closing if opening > 0 => opening -= 1,
            Bracket::Closing => closing += 1,
        }
    }
    let is_bracket =
        |index: usize, bracket| seen.get(index).is_some_and(|seen| seen.bracket == Some(bracket));
    while opening > 0 {
        let near = part.end..room.end.min(part.end + MAX_BRACKET_DISTANCE);
        let Some(found) = near
            .into_iter()
            .find(|index| is_bracket(*index, Bracket::Closing))
        else {
            break;
        };
        part.end = found + 1;
        opening -= 1;
    }
    while closing > 0 {
        let near = room.start.max(part.start.saturating_sub(MAX_BRACKET_DISTANCE))..part.start;
        let Some(found) = near.rev().find(|index| is_bracket(*index, Bracket::Opening)) else {
            break;
        };
        part.start = found;
        closing -= 1;
    }
    part
}

/// Returns, for each character of a right-to-left part, the letter before it: the first at it or to its right.
fn letters_before(seen: &[Seen], part: Range<usize>) -> Vec<Option<Kind>> {
    let mut before = None;
    let mut letters: Vec<_> = seen[part]
        .iter()
        .rev()
        .map(|seen| {
            before = Some(seen.kind).filter(|kind| kind.is_strong()).or(before);
            before
        })
        .collect();
    letters.reverse();
    letters
}

/// Returns the numbers in a right-to-left part, with the signs that belong to them.
fn numbers(seen: &[Seen], part: Range<usize>) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let kind = |index: usize| seen[index].kind;
    let letters = letters_before(seen, part.clone());
    let mut index = part.start;
    while index < part.end {
        if !kind(index).is_digit() {
            index += 1;
            continue;
        }
        // The letter before the number, which is to its right, decides about European digits.
        let before = letters[index - part.start];
        let is_european = kind(index) == Kind::Digit && before != Some(Kind::Arabic);
        let (mut start, mut end) = (index, index + 1);
        // After an Arabic letter, all digits are Arabic ones.
        let are_equal =
            |a: Kind, b: Kind| a.is_digit() && b.is_digit() && (a == b || before == Some(Kind::Arabic));
        while end < part.end {
            let joins = match kind(end) {
                Kind::Separator => true,
                Kind::Sign => is_european,
                _ => false,
            };
            if kind(end).is_digit() {
                end += 1;
            } else if joins && end + 1 < part.end && are_equal(kind(end - 1), kind(end + 1)) {
                end += 2;
            } else {
                break;
            }
        }
        if is_european {
            let first = found.last().map_or(part.start, |last| last.end);
            let is_terminator = |index: &usize| kind(*index) == Kind::Terminator;
            end += (end..part.end).take_while(is_terminator).count();
            start -= (first..start).rev().take_while(is_terminator).count();
        }
        found.push(start..end);
        index = end;
    }
    found
}
