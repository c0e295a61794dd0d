//! Passages: words that a model quotes from a source. A passage counts only if the source has it, white space apart.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The minimum length of a quote in characters, white space apart. Shorter ones prove nothing.
const MIN_QUOTE_CHARS: usize = 8;

/// The maximum length of a quote, in characters.
pub const MAX_QUOTE_CHARS: usize = 2000;

/// A passage that a model quotes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Passage {
    /// The source has it.
    Found(FoundPassage),
    /// The source does not have these words, or the model quotes none (empty), or there is no such source.
    NotFound { quote: String },
}

/// A passage of a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundPassage {
    /// The words, as the source has them.
    pub text: String,
    /// The place in the source, such as `page 3`; empty if the source has no parts.
    pub place: String,
}

/// A part of a passage: the bytes of one of the paragraphs.
pub type PassagePart = (usize, Range<usize>);

/// Finds a quote in the paragraphs of a text, white space apart. Returns its parts, one a paragraph; none if it is not there.
pub fn find_passage<T: AsRef<str>>(paragraphs: &[T], quote: &str) -> Vec<PassagePart> {
    let wanted: String = quote.chars().filter(|char| !char.is_whitespace()).collect();
    let length = wanted.chars().count();
    if !(MIN_QUOTE_CHARS..=MAX_QUOTE_CHARS).contains(&length) {
        return Vec::new();
    }
    let mut text = String::new();
    // The first byte of each paragraph in `text`.
    let mut starts = Vec::with_capacity(paragraphs.len());
    for paragraph in paragraphs {
        starts.push(text.len());
        text.extend(paragraph.as_ref().chars().filter(|char| !char.is_whitespace()));
    }
    let Some(start) = text.find(&wanted) else {
        return Vec::new();
    };
    let end = start + wanted.len();
    let mut parts = Vec::new();
    for (index, paragraph) in paragraphs.iter().enumerate() {
        let first = starts.get(index).copied().unwrap_or_default();
        let next = starts.get(index + 1).copied().unwrap_or(text.len());
        if first < end && start < next {
            let range = original_range(
                paragraph.as_ref(),
                start.max(first) - first..end.min(next) - first,
            );
            parts.push((index, range));
        }
    }
    parts
}

/// Returns the passage of a quote whose parts were found in the paragraphs of a text, in the words of the text. Its place is the
/// number of its first paragraph, after the name of what a paragraph is (`unit`), unless that is empty.
pub fn quoted_passage<T: AsRef<str>>(
    quote: &str,
    paragraphs: &[T],
    parts: &[PassagePart],
    unit: &str,
) -> Passage {
    let Some((first, _)) = parts.first() else {
        return Passage::NotFound { quote: quote.into() };
    };
    let words: Vec<&str> = parts
        .iter()
        .filter_map(|(index, range)| paragraphs.get(*index)?.as_ref().get(range.clone()))
        .flat_map(str::split_whitespace)
        .collect();
    Passage::Found(FoundPassage {
        text: words.join(" "),
        place: match unit {
            "" => String::new(),
            unit => format!("{unit} {}", first + 1),
        },
    })
}

/// Returns the bytes of a text for a range that counts no white space.
fn original_range(text: &str, dense: Range<usize>) -> Range<usize> {
    let (mut counted, mut range) = (0, 0..text.len());
    let chars = text.char_indices().filter(|(_, char)| !char.is_whitespace());
    for (at, char) in chars {
        if counted == dense.start {
            range.start = at;
        }
        counted += char.len_utf8();
        if counted == dense.end {
            range.end = at + char.len_utf8();
            break;
        }
    }
    range
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_words_whatever_their_white_space() {
        let text = [
            "Salt  rises at\nnight.",
            "It föllows the moon. It follows nothing.",
        ];
        for (quote, found) in [
            ("Salt rises at night.", vec![(0, 0..21)]),
            ("rises at\u{a0}night", vec![(0, 6..20)]),
            ("at night. It föllows", vec![(0, 12..21), (1, 0..11)]),
            ("It follows nothing.", vec![(1, 22..41)]),
            // Not the same words.
            ("Salt rises by night.", vec![]),
            ("salt rises at night.", vec![]),
            // Too short to prove anything.
            ("Salt", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(find_passage(&text, quote), found, "{quote}");
        }
        assert_eq!(find_passage(&[] as &[&str], "Salt rises"), []);
        assert_eq!(find_passage(&["", " ", "Salt rises"], "Salt rises"), [(2, 0..10)]);
        assert_eq!(find_passage(&["x".repeat(1 << 20)], &"x".repeat(1 << 20)), []);
    }

    #[test]
    fn passage_has_the_words_of_the_text() {
        let pages = ["Of salt", "Salt  rises\nat night,", "then  falls."];
        let found = |quote: &str, unit: &str| {
            let passage = quoted_passage(quote, &pages, &find_passage(&pages, quote), unit);
            match passage {
                Passage::Found(found) => Some((found.text, found.place)),
                Passage::NotFound { quote: unchanged } => {
                    assert_eq!(unchanged, quote);
                    None
                }
            }
        };
        let passage = |text: &str, place: &str| Some((text.to_owned(), place.to_owned()));
        assert_eq!(found("Salt rises at", "page"), passage("Salt rises at", "page 2"));
        assert_eq!(
            found("at night, then falls.", ""),
            passage("at night, then falls.", "")
        );
        assert_eq!(found("Salt falls", "page"), None);
    }
}
