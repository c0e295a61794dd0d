//! The query language: words, `"phrases"`, `beginnings*`, and conditions such as `from:me`.

use super::words::Words;
use parlor_protocol::{Timestamp, search::SearchedAuthor};

/// The most terms of a query. Further ones are ignored.
const MAX_TERMS: usize = 24;

/// A query, as far as it was understood. All terms and conditions must be met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchQuery {
    /// What the text, or the name of its file, contains.
    pub terms: Vec<Term>,
    /// What the name of the file contains (`file:`); an empty one is met by any file.
    pub file: Option<Vec<Term>>,
    pub from: Option<SearchedAuthor>,
    /// The end of the time, without it.
    pub before: Option<Timestamp>,
    /// The start of the time.
    pub after: Option<Timestamp>,
    /// The name of a project (`in:`), or its beginning.
    pub project: Option<String>,
}

/// One of the phrases must be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term(pub Vec<Phrase>);

/// Words that follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase {
    pub words: Vec<String>,
    /// True if the last word may be the beginning of one.
    pub is_beginning: bool,
}

impl SearchQuery {
    /// Parses a query. Its last word may be unfinished. What is not understood is searched as words.
    pub fn parse(query: &str) -> Self {
        Self::parse_words(query, false)
    }

    /// Parses a query of which each word outside of quotes may be unfinished.
    pub fn parse_beginnings(query: &str) -> Self {
        Self::parse_words(query, true)
    }

    fn parse_words(query: &str, all_beginnings: bool) -> Self {
        let mut parsed = Self::default();
        let mut rest = query.trim_start();
        while !rest.is_empty() {
            let (chunk, after) = next_chunk(rest);
            let is_last = all_beginnings || after.trim_start().is_empty();
            rest = after.trim_start();
            if !parsed.add_condition(chunk, is_last) && parsed.terms.len() < MAX_TERMS {
                parsed.terms.extend(Term::of(chunk, is_last));
            }
        }
        parsed
    }

    /// Returns true if the query has no words and no conditions.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds a condition such as `from:me`. Returns false if it is none.
    fn add_condition(&mut self, chunk: &str, is_last: bool) -> bool {
        let Some((name, value)) = chunk.split_once(':') else {
            return false;
        };
        match (
            &*name.to_ascii_lowercase(),
            &*value.trim_matches(is_quote).to_lowercase(),
        ) {
            ("from", "me" | "user") => self.from = Some(SearchedAuthor::Me),
            ("from", "assistant" | "model" | "ai") => self.from = Some(SearchedAuthor::Assistant),
            ("file", _) => {
                let terms = value.split(is_quote).filter_map(|name| Term::of(name, is_last));
                self.file.get_or_insert_default().extend(terms);
            }
            ("before", day) => match parse_day(day) {
                Some(start) => self.before = Some(start),
                None => return false,
            },
            ("after", day) => match parse_day(day) {
                Some(start) => self.after = Some(start),
                None => return false,
            },
            ("in", name) if !name.is_empty() => self.project = Some(name.to_owned()),
            _ => return false,
        }
        true
    }
}

impl Term {
    /// Returns the term of a word or of a text in quotes; `None` if there is no word in it.
    fn of(chunk: &str, is_last: bool) -> Option<Self> {
        let quoted = chunk.starts_with(is_quote);
        let text = chunk.trim_matches(is_quote);
        let starred = text.ends_with('*');
        let text = text.trim_end_matches('*');
        let is_beginning = !quoted && (is_last || starred);
        let Words { words, parts } = Words::of(text);
        let words: Vec<String> = words.into_iter().map(|word| word.text).collect();
        let last = words.last()?;
        // A single character of a script without spaces is in the index as the beginning of a pair.
        let is_single = last.chars().count() == 1 && last.starts_with(parlor_protocol::search::is_unspaced);
        let mut phrases = vec![Phrase {
            is_beginning: is_beginning || is_single,
            words: words.clone(),
        }];
        // The parts of a single name, such as those of `parseHttpRequest`, may also stand apart.
        if words.len() == 1 && parts.len() > 1 {
            phrases.push(Phrase {
                words: parts.into_iter().map(|part| part.text).collect(),
                is_beginning,
            });
        }
        Some(Self(phrases))
    }
}

/// Splits the next part from a query: up to a space, or with a text in quotes up to its end.
fn next_chunk(query: &str) -> (&str, &str) {
    let mut in_quotes = false;
    for (at, character) in query.char_indices() {
        match character {
            // A quotation mark begins a text after a space, or after the colon of a condition.
            quote
                if is_quote(quote)
                    && (in_quotes
                        || at == 0
                        || query.get(..at).is_some_and(|before| before.ends_with(':'))) =>
            {
                if in_quotes {
                    return query.split_at(at + quote.len_utf8());
                }
                in_quotes = true;
            }
            space if space.is_whitespace() && !in_quotes => return query.split_at(at),
            _ => {}
        }
    }
    (query, "")
}

fn is_quote(character: char) -> bool {
    matches!(character, '"' | '“' | '”' | '„' | '«' | '»' | '「' | '」')
}

/// Returns the start of a day, a month or a year in UTC: `2026-11-28`, `2026-11`, `2026`.
fn parse_day(text: &str) -> Option<Timestamp> {
    let mut numbers = text.split('-').map(|number| number.parse::<u32>().ok());
    let year = numbers.next()?.filter(|year| (1970..10_000).contains(year))?;
    let (month, day) = match (numbers.next(), numbers.next(), numbers.next()) {
        (None, ..) => (1, 1),
        (Some(month), None, _) => (month?, 1),
        (Some(month), Some(day), None) => (month?, day?),
        _ => return None,
    };
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Days since 1970 in the Gregorian calendar, by Howard Hinnant's `days_from_civil`.
    let shifted_year = i64::from(year) - i64::from(month <= 2);
    let era = shifted_year.div_euclid(400);
    let year_of_era = shifted_year.rem_euclid(400);
    let day_of_year = (153 * ((i64::from(month) + 9) % 12) + 2) / 5 + i64::from(day) - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = era * 146_097 + day_of_era - 719_468;
    Some(Timestamp(days * 86_400_000))
}
