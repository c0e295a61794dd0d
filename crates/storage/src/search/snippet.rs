//! Snippets: the part of a text that shows best what was found, with the found words marked.

use std::ops::Range;

use super::{
    query::{Phrase, SearchQuery},
    words::{Word, Words},
};
use parlor_protocol::search::Snippet;

/// The usual length of a snippet in bytes, and what of it precedes the first marked place.
pub const SNIPPET_BYTES: usize = 200;
const LEAD: usize = 40;

/// Returns the part of a text, of about this length in bytes, with the most of the query's terms. Without any it is the beginning.
pub fn snippet(text: &str, query: &SearchQuery, length: usize) -> Snippet {
    cut(text, query, length, false)
}

/// Returns the snippet of a Markdown text, without the marks of bold and italic text with asterisks, of code and of headings.
pub fn markdown_snippet(text: &str, query: &SearchQuery, length: usize) -> Snippet {
    cut(text, query, length, true)
}

fn cut(text: &str, query: &SearchQuery, length: usize, is_markdown: bool) -> Snippet {
    let found = marks(text, query);
    let mut best = (0, 0);
    for (_, first) in &found {
        let window = first.start..first.start + length.saturating_sub(LEAD);
        let mut terms: Vec<usize> = found
            .iter()
            .filter(|(_, range)| window.contains(&range.start) && range.end <= window.end)
            .map(|(term, _)| *term)
            .collect();
        terms.dedup();
        terms.sort_unstable();
        terms.dedup();
        if terms.len() > best.0 {
            best = (terms.len(), first.start);
        }
    }
    let start = word_start(text, best.1.saturating_sub(LEAD), best.1);
    let end = word_end(text, text.floor_char_boundary(start + length));
    let ranges: Vec<Range<usize>> = found.into_iter().map(|(_, range)| range).collect();
    one_line(text, start..end, &merged(ranges), is_markdown)
}

/// The places of the terms in a text, with the number of the term, in order.
fn marks(text: &str, query: &SearchQuery) -> Vec<(usize, Range<usize>)> {
    let words = Words::of(text);
    let terms = query.terms.iter().chain(query.file.iter().flatten());
    let mut found = Vec::new();
    for (number, term) in terms.enumerate() {
        for phrase in &term.0 {
            for sequence in std::iter::once(&*words.words).chain(words.parts_by_word()) {
                found.extend(places(sequence, phrase).map(|range| (number, range)));
            }
        }
    }
    found.sort_by_key(|(_, range)| (range.start, range.end));
    found
}

fn places<'a>(words: &'a [Word], phrase: &'a Phrase) -> impl Iterator<Item = Range<usize>> + 'a {
    let length = phrase.words.len().max(1);
    words.windows(length).filter_map(move |window| {
        let is_match = window
            .iter()
            .zip(&phrase.words)
            .enumerate()
            .all(
                |(index, (word, searched))| match phrase.is_beginning && index + 1 == length {
                    true => word.text.starts_with(searched),
                    false => word.text == *searched,
                },
            );
        let (first, last) = (window.first()?, window.last()?);
        is_match.then_some(first.range.start..last.range.end)
    })
}

/// Joins ranges that overlap. They are in order.
fn merged(ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// Returns the start of the first whole word from here on, or the latest possible one.
fn word_start(text: &str, from: usize, latest: usize) -> usize {
    let from = text.floor_char_boundary(from);
    if from == 0 {
        return 0;
    }
    let before = text.get(from..latest).unwrap_or_default();
    before
        .find(char::is_whitespace)
        .map_or(from, |space| from + space)
}

fn word_end(text: &str, end: usize) -> usize {
    if end >= text.len() {
        return text.len();
    }
    let before = text.get(..end).unwrap_or_default();
    match before.rfind(char::is_whitespace) {
        Some(space) if space + LEAD > end => space,
        _ => end,
    }
}

/// Returns the places in a Markdown text of the characters that mark bold and italic text, code and headings, and show nothing
/// themselves.
fn markup(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    // The length of the run of backticks that has opened a code span or block.
    let mut code = None;
    let mut at = 0;
    while let Some(character) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(at..).unwrap_or_default();
        let length = match character {
            '`' | '*' | '#' => rest.len() - rest.trim_start_matches(character).len(),
            other => other.len_utf8(),
        };
        let before = text.get(..at).unwrap_or_default().chars().next_back();
        let after = text.get(at + length..).and_then(|behind| behind.chars().next());
        let is_mark = match character {
            '`' => match code {
                None => code.replace(length).is_none(),
                Some(opened) if opened == length => code.take().is_some(),
                Some(_) => false,
            },
            _ if code.is_some() => false,
            '*' => is_emphasis(before, after),
            '#' => before.is_none_or(|before| before == '\n') && after == Some(' '),
            _ => false,
        };
        if is_mark {
            found.extend(at..at + length);
        }
        at += length;
    }
    found
}

/// Returns true if asterisks between two characters seem to mark emphasis: not those of a product, a power, or the item of a list.
fn is_emphasis(before: Option<char>, after: Option<char>) -> bool {
    let is_space = |side: Option<char>| side.is_none_or(char::is_whitespace);
    let is_ascii_word = |side: Option<char>| side.is_some_and(|side| side.is_ascii_alphanumeric());
    match (is_space(before), is_space(after)) {
        (true, true) => false,
        (true, false) => after != Some('.'),
        (false, true) => true,
        (false, false) => !(is_ascii_word(before) && is_ascii_word(after)),
    }
}

/// Writes a part of a text in one line.
fn one_line(text: &str, part: Range<usize>, marks: &[Range<usize>], is_markdown: bool) -> Snippet {
    let mut line = String::with_capacity(part.len() + 6);
    if part.start > 0 {
        line.push('…');
    }
    // The place in the line of each byte of the part.
    let mut places = Vec::with_capacity(part.len() + 1);
    let markup = if is_markdown { markup(text) } else { Vec::new() };
    for (at, character) in text.get(part.clone()).unwrap_or_default().char_indices() {
        places.extend(std::iter::repeat_n(line.len(), character.len_utf8()));
        match character.is_whitespace() || character.is_control() {
            _ if markup.binary_search(&(part.start + at)).is_ok() => {}
            true if line.is_empty() || line.ends_with([' ', '…']) => {}
            true => line.push(' '),
            false => line.push(character),
        }
    }
    places.push(line.len());
    let place = |at: usize| places.get(at.checked_sub(part.start)?).copied();
    let marks = marks
        .iter()
        .filter_map(|mark| Some((place(mark.start)?, place(mark.end)?)));
    let marks = marks.collect();
    line.truncate(line.trim_end().len());
    if part.end < text.len() {
        line.push('…');
    }
    Snippet { text: line, marks }
}
