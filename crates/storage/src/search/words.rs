//! The words of a text, for the index and for what is searched in it.
//!
//! A text has two sequences of words: its words in order, and in addition parts of words. A phrase is a sequence of words,
//! or one of parts. Scripts without spaces are cut into overlapping pairs of characters, so that each part of two characters or
//! more is a phrase. A URL, an e-mail address or a name with underscores is the phrase of its tokens.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::fold::fold;
use parlor_protocol::search::is_unspaced;

/// The longest word in bytes. More of it is not compared.
const MAX_WORD_BYTES: usize = 64;

/// A folded word, and its place in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    pub text: String,
    pub range: Range<usize>,
}

/// The words of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// The words in order.
    pub words: Vec<Word>,
    /// Parts of words, in order: those of `camelCase`, an Arabic word without its article, the last character of a run of pairs.
    pub parts: Vec<Word>,
}

impl Words {
    /// Cuts a text into words.
    pub fn of(text: &str) -> Self {
        let mut words = Self::default();
        let mut rest = 0..text.len();
        while let Some(slice) = text.get(rest.clone()).filter(|slice| !slice.is_empty()) {
            let paired = slice.starts_with(is_unspaced);
            // A sign belongs to what is before it.
            let changes = |(_, next): &(usize, char)| !is_paired_sign(*next) && is_unspaced(*next) != paired;
            let end = slice.char_indices().skip(1).find(changes);
            let end = end.map_or(slice.len(), |(at, _)| at);
            let run = slice.get(..end).unwrap_or(slice);
            if paired {
                words.add_pairs(run, rest.start);
            } else {
                words.add_segments(run, rest.start);
            }
            rest.start += end;
        }
        words
    }

    /// Returns the parts by the word that they are of.
    pub fn parts_by_word(&self) -> impl Iterator<Item = &[Word]> {
        self.parts.chunk_by(|one, next| one.range.end == next.range.start)
    }

    /// Adds the pairs of a run of characters without spaces.
    fn add_pairs(&mut self, run: &str, start: usize) {
        let mut units: Vec<(char, Range<usize>)> = Vec::new();
        let mut characters = run.char_indices().peekable();
        while let Some((at, _)) = characters.next() {
            // A voicing mark is one character with its letter.
            while characters.next_if(|(_, next)| is_paired_sign(*next)).is_some() {}
            let end = characters.peek().map_or(run.len(), |(next, _)| *next);
            let folded = fold(run.get(at..end).unwrap_or_default());
            units.extend(
                folded
                    .chars()
                    .map(|character| (character, start + at..start + end)),
            );
        }
        for pair in units.windows(2) {
            let [(first, from), (second, to)] = pair else {
                continue;
            };
            self.words.push(Word {
                text: String::from_iter([first, second]),
                range: from.start..to.end,
            });
        }
        if let Some((last, range)) = units.last() {
            let single = Word {
                text: last.to_string(),
                range: range.clone(),
            };
            match units.len() {
                1 => self.words.push(single),
                _ => self.parts.push(single),
            }
        }
    }

    /// Adds the words of a text with spaces.
    fn add_segments(&mut self, text: &str, start: usize) {
        for (at, segment) in text.split_word_bound_indices() {
            let after = text.get(at + segment.len()..).unwrap_or_default();
            if segment.contains(char::is_alphanumeric) {
                self.add_segment(segment, start + at, after);
            } else if segment.contains(is_emoji) {
                self.add_emoji(segment, start + at);
            }
        }
    }

    fn add_segment(&mut self, segment: &str, start: usize, after: &str) {
        let mut from = 0;
        let ends = segment
            .char_indices()
            .filter(|(_, character)| is_separator(*character));
        let ends = ends.map(|(at, separator)| (at, at + separator.len_utf8()));
        for (end, next) in ends.chain([(segment.len(), segment.len())]) {
            let token = segment.get(from..end).unwrap_or_default();
            if token.contains(char::is_alphanumeric) {
                let suffix = if end == segment.len() {
                    name_suffix(after)
                } else {
                    ""
                };
                self.add_token(token, start + from, suffix);
            }
            from = next;
        }
    }

    fn add_token(&mut self, token: &str, start: usize, suffix: &str) {
        let range = start..start + token.len();
        let mut folded = fold_word(token);
        if let Some(bare) = without_article(&folded) {
            self.add_part(bare.to_owned(), range.clone());
        }
        if suffix.is_empty() {
            for part in camel_parts(token) {
                let text = fold_word(token.get(part.clone()).unwrap_or_default());
                self.add_part(text, start + part.start..start + part.end);
            }
        } else {
            self.add_part(folded.clone(), range.clone());
            folded.push_str(suffix);
        }
        if !folded.is_empty() {
            self.words.push(Word {
                text: folded,
                range: range.start..range.end + suffix.len(),
            });
        }
    }

    fn add_part(&mut self, text: String, range: Range<usize>) {
        if !text.is_empty() {
            self.parts.push(Word { text, range });
        }
    }

    /// Adds the emoji of a segment, without their colours. A flag is one.
    fn add_emoji(&mut self, segment: &str, start: usize) {
        let range = start..start + segment.len();
        let mut flag = String::new();
        for character in segment.chars().filter(|character| is_emoji(*character)) {
            match character {
                '\u{1f1e6}'..='\u{1f1ff}' => flag.push(character),
                '\u{1f3fb}'..='\u{1f3ff}' => {}
                _ => self.words.push(Word {
                    text: character.to_string(),
                    range: range.clone(),
                }),
            }
        }
        if !flag.is_empty() {
            self.words.push(Word { text: flag, range });
        }
    }
}

/// Folds a word, or its beginning if it is long.
fn fold_word(word: &str) -> String {
    let end = word.floor_char_boundary(4 * MAX_WORD_BYTES);
    let mut folded = fold(word.get(..end).unwrap_or_default());
    folded.truncate(folded.floor_char_boundary(MAX_WORD_BYTES));
    folded
}

/// Returns the rest of the name of a programming language: `C++`, `F#`.
fn name_suffix(after: &str) -> &'static str {
    match after.strip_prefix('#') {
        _ if after.starts_with("++") => "++",
        Some(rest) if !rest.starts_with(|next: char| next.is_alphanumeric() || next == '#') => "#",
        _ => "",
    }
}

/// Returns true for characters that separate the tokens of a segment. Others, such as vowel signs, belong to a word.
fn is_separator(character: char) -> bool {
    !character.is_alphanumeric()
        && (character.is_ascii()
            || matches!(
                character,
                '’' | '‘' | '·' | '\u{387}' | '\u{5f4}' | '\u{2024}' | '‧' | '‿' | '＿' | '．'
            ))
}

/// Returns the parts of a name such as `parseHttpRequest` or `HTTPServer`; none if it has only one.
fn camel_parts(token: &str) -> Vec<Range<usize>> {
    let token = token
        .get(..token.floor_char_boundary(4 * MAX_WORD_BYTES))
        .unwrap_or_default();
    let characters: Vec<(usize, char)> = token.char_indices().collect();
    let mut parts = Vec::new();
    let mut from = 0;
    for (index, (at, character)) in characters.iter().enumerate().skip(1) {
        let before = characters.get(index - 1).map(|(_, before)| *before);
        let after = characters.get(index + 1).map(|(_, after)| *after);
        let begins = character.is_uppercase()
            && (before.is_some_and(|before| before.is_lowercase() || before.is_numeric())
                || before.is_some_and(char::is_uppercase) && after.is_some_and(char::is_lowercase));
        if begins {
            parts.push(from..*at);
            from = *at;
        }
    }
    if !parts.is_empty() {
        parts.push(from..token.len());
    }
    parts
}

/// Returns an Arabic word without its article, and without a conjunction or preposition before that.
fn without_article(folded: &str) -> Option<&str> {
    let first = folded.chars().next()?;
    if !matches!(first, '\u{620}'..='\u{64a}') {
        return None;
    }
    let articles = ["وال", "بال", "كال", "فال", "لل", "ال"];
    let bare = articles.iter().find_map(|article| folded.strip_prefix(article))?;
    (bare.chars().count() >= 3).then_some(bare)
}

/// Returns true for signs that belong to the character before them: voicing marks, and the choice of a variant.
fn is_paired_sign(character: char) -> bool {
    matches!(character, '\u{3099}' | '\u{309a}' | '\u{ff9e}' | '\u{ff9f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

fn is_emoji(character: char) -> bool {
    matches!(character,
        '\u{203c}' | '\u{2049}' | '\u{2139}' | '\u{2190}'..='\u{21ff}' | '\u{231a}'..='\u{23ff}' | '\u{25a0}'..='\u{27bf}'
        | '\u{2934}' | '\u{2935}' | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}
