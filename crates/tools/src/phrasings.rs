//! Searches in several phrasings, whose lists are joined: by words alone, a text is found only in its own.

use std::{
    collections::{HashMap, HashSet},
    hash::Hash,
};

use super::ToolError;
use parlor_storage::{
    SearchRequest,
    search::{MAX_QUERY_BYTES, SearchQuery},
};

/// The most phrasings; further ones are ignored.
const MAX_PHRASINGS: usize = 6;

/// The hits of each list that are compared.
const HITS_PER_LIST: usize = 12;

/// The rank from which on a hit counts half as much as the first: reciprocal rank fusion, for short lists.
const HALF_RANK: f64 = 10.0;

/// The weight of a hit that has only some of the words.
const PARTIAL_WEIGHT: f64 = 0.4;

/// Returns the searches for phrasings, each with the weight of its hits: first all words of a phrasing, then any of them.
///
/// # Errors
///
/// The message for the model: no phrasing has a word.
pub fn searches(phrasings: &[String]) -> Result<Vec<(SearchRequest, f64)>, ToolError> {
    let phrasings = phrasings.iter().map(|phrasing| phrasing.trim());
    let phrasings: Vec<&str> = phrasings.filter(|phrasing| !phrasing.is_empty()).collect();
    if phrasings.is_empty() {
        return Err(ToolError::new("Say in `phrasings` what is looked for."));
    }
    let searches = phrasings.into_iter().take(MAX_PHRASINGS).flat_map(|phrasing| {
        let beginning = phrasing.get(..phrasing.floor_char_boundary(MAX_QUERY_BYTES));
        let query = SearchQuery::parse(beginning.unwrap_or_default());
        [(false, 1.0), (true, PARTIAL_WEIGHT)].map(|(any_term, weight)| {
            let request = SearchRequest {
                query: query.clone(),
                any_term,
                limit: HITS_PER_LIST,
                ..SearchRequest::default()
            };
            (request, weight)
        })
    });
    Ok(searches.collect())
}

/// Returns the phrasings for the user; `None` if there are none.
pub fn detail(phrasings: &[String]) -> Option<String> {
    (!phrasings.is_empty()).then(|| phrasings.join(" · "))
}

/// Lists of hits that are joined: what is high in several lists comes first.
pub struct JoinedHits<K, T>(HashMap<K, (f64, T)>);

impl<K: Eq + Hash, T> Default for JoinedHits<K, T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Clone + Eq + Hash, T> JoinedHits<K, T> {
    /// Adds the hits of a search, the best first, each with what makes it the same as one of another list.
    /// One that is twice in a list counts once.
    pub fn add(&mut self, hits: impl IntoIterator<Item = (K, T)>, weight: f64) {
        let mut rank = 0.0;
        let mut known = HashSet::new();
        for (key, hit) in hits {
            if !known.insert(key.clone()) {
                continue;
            }
            let counted = self.0.entry(key).or_insert((0.0, hit));
            counted.0 += weight / (HALF_RANK + rank);
            rank += 1.0;
        }
    }

    /// Returns at most `limit` hits, the best first. Equal ones are in the order of their `place`.
    pub fn best<P: Ord>(self, limit: usize, place: impl Fn(&T) -> P) -> Vec<T> {
        let mut found: Vec<(f64, T)> = self.0.into_values().collect();
        found.sort_by(|(one, hit), (other, other_hit)| {
            other
                .total_cmp(one)
                .then_with(|| place(hit).cmp(&place(other_hit)))
        });
        found.truncate(limit);
        found.into_iter().map(|(_, hit)| hit).collect()
    }
}
