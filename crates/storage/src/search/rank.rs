//! The order of hits by BM25, within the newest ones of a user.
//!
//! SQLite's own ranking would count the words of all users.

use super::query::{Phrase, SearchQuery};

/// The usual parameters of BM25: how fast further places of a word count less, and how much long texts count less.
const SATURATION: f64 = 1.2;
const LENGTH_WEIGHT: f64 = 0.75;

/// A hit with its words, separated by spaces.
#[derive(Clone, Debug)]
pub struct Candidate<T> {
    pub hit: T,
    pub words: String,
    pub parts: String,
}

/// Sorts hits, the best first. Those that are equally good keep their order.
pub fn rank<T>(candidates: Vec<Candidate<T>>, query: &SearchQuery) -> Vec<T> {
    let count = as_float(candidates.len());
    let lengths: Vec<f64> = candidates
        .iter()
        .map(|candidate| as_float(candidate.words.len()))
        .collect();
    let average = (lengths.iter().sum::<f64>() / count).max(1.0);
    let mut scores = vec![0.0; candidates.len()];
    for term in query.terms.iter().chain(query.file.iter().flatten()) {
        let patterns: Vec<String> = term.0.iter().map(pattern).collect();
        let frequencies: Vec<f64> = candidates
            .iter()
            .map(|candidate| {
                let found = patterns.iter().map(|pattern| {
                    let places = occurrences(&candidate.words, pattern);
                    places.max(occurrences(&candidate.parts, pattern))
                });
                as_float(found.max().unwrap_or(0))
            })
            .collect();
        let with_term = as_float(frequencies.iter().filter(|frequency| **frequency > 0.0).count());
        let rarity = (1.0 + (count - with_term + 0.5) / (with_term + 0.5)).ln();
        for ((score, frequency), length) in scores.iter_mut().zip(frequencies).zip(&lengths) {
            let weight = SATURATION * (1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * length / average);
            *score += rarity * frequency * (SATURATION + 1.0) / (frequency + weight);
        }
    }
    let mut ranked: Vec<(f64, Candidate<T>)> = scores.into_iter().zip(candidates).collect();
    ranked.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    ranked.into_iter().map(|(_, candidate)| candidate.hit).collect()
}

/// The text of a phrase among words that are separated by spaces.
fn pattern(phrase: &Phrase) -> String {
    let mut pattern = format!(" {}", phrase.words.join(" "));
    if !phrase.is_beginning {
        pattern.push(' ');
    }
    pattern
}

/// Counts a pattern in words that begin and end with a space.
fn occurrences(words: &str, pattern: &str) -> usize {
    words.matches(pattern).count()
}

#[expect(clippy::cast_precision_loss, reason = "counts and lengths are far below 2^52")]
fn as_float(count: usize) -> f64 {
    count as f64
}
