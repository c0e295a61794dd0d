//! The choice of entries for a query, and their order.

use parlor_protocol::search::is_unspaced;

/// Characters that have no accent to remove and are written as others.
const SPELLINGS: [(char, &str); 9] = [
    ('ß', "ss"),
    ('æ', "ae"),
    ('œ', "oe"),
    ('ø', "o"),
    ('ł', "l"),
    ('đ', "d"),
    ('ð', "d"),
    ('ı', "i"),
    ('’', "'"),
];

/// Returns a text in lower case without accents. In `decomposed`, accents are characters of their own (NFD).
pub fn fold(decomposed: &str) -> String {
    let mut folded = String::with_capacity(decomposed.len());
    for character in decomposed.chars().flat_map(char::to_lowercase) {
        match SPELLINGS.iter().find(|(special, _)| *special == character) {
            Some((_, spelling)) => folded.push_str(spelling),
            None if matches!(character, '\u{300}'..='\u{36f}') => {}
            None => folded.push(character),
        }
    }
    folded
}

/// A match: better ones are less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// The text begins with the first word of the query, and each word begins a word of the text.
    Beginning,
    /// Each word begins a word of the text.
    WordBeginnings,
    /// The server has found it.
    Searched,
}

/// Ranks a folded text by the words of a folded query. `None` if one of them begins no word of the text, as in the server's search:
/// each character of a script without spaces begins one.
pub fn rank(text: &str, query: &str) -> Option<Rank> {
    let mut best = Rank::Beginning;
    for (index, word) in query.split_whitespace().enumerate() {
        let begins_a_word = |at: usize| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            !before.is_some_and(char::is_alphanumeric) || word.starts_with(is_unspaced)
        };
        let mut places = text.match_indices(word).map(|(at, _)| at);
        let first = places.find(|at| begins_a_word(*at))?;
        best = best.max(match first == 0 || index > 0 {
            true => Rank::Beginning,
            false => Rank::WordBeginnings,
        });
    }
    Some(best)
}

/// The position of an entry in its list, and its group.
pub type Found<G> = (G, Vec<usize>);

/// Returns the matching entries by group. The groups with the better matches come first, equal ones in the order of `groups`; within
/// a group, equal matches keep their order. A group has at most as many entries as `max` says.
pub fn select<G: Copy + PartialEq>(
    entries: impl Iterator<Item = (G, Option<Rank>)>,
    groups: &[G],
    max: impl Fn(G) -> usize,
) -> Vec<Found<G>> {
    let mut found: Vec<(G, Vec<(Rank, usize)>)> = groups.iter().map(|group| (*group, Vec::new())).collect();
    for (index, (group, rank)) in entries.enumerate() {
        let list = found.iter_mut().find(|(known, _)| *known == group);
        if let (Some((_, list)), Some(rank)) = (list, rank) {
            list.push((rank, index));
        }
    }
    for (group, list) in &mut found {
        list.sort_by_key(|(rank, _)| *rank);
        list.truncate(max(*group));
    }
    found.retain(|(_, list)| !list.is_empty());
    found.sort_by_key(|(_, list)| list.first().map(|(rank, _)| *rank));
    let places = |list: Vec<(Rank, usize)>| list.into_iter().map(|(_, index)| index).collect();
    found
        .into_iter()
        .map(|(group, list)| (group, places(list)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_removes_case_and_accents() {
        assert_eq!(fold("Cafe\u{301} in O\u{308}ster"), "cafe in oster");
        assert_eq!(fold("STRASSE Straße Ærø"), "strasse strasse aero");
    }

    #[test]
    fn ranks_beginnings_of_words_first() {
        for (text, query, expected) in [
            ("tea in china", "tea", Some(Rank::Beginning)),
            ("tea in china", "te ch", Some(Rank::Beginning)),
            ("tea in china", "china tea", Some(Rank::WordBeginnings)),
            ("green tea", "tea", Some(Rank::WordBeginnings)),
            // The server would not find it either.
            ("instead", "tea", None),
            ("tea and steam", "tea eam", None),
            ("東京都の話", "京都", Some(Rank::WordBeginnings)),
            // The second place counts, too.
            ("steam and tea", "tea", Some(Rank::WordBeginnings)),
            ("tea in china", "tea japan", None),
            ("tea", "", Some(Rank::Beginning)),
            ("don't (tea)", "tea", Some(Rank::WordBeginnings)),
        ] {
            assert_eq!(rank(text, query), expected, "{text}: {query}");
        }
    }

    #[test]
    fn better_groups_and_recent_entries_come_first() {
        let entries = [
            ('a', "show tea"),
            ('c', "coffee"),
            ('c', "tea in may"),
            ('c', "a tea"),
            ('c', "tea in april"),
            ('m', "coffee"),
        ];
        let ranked = entries.iter().map(|(group, text)| (*group, rank(text, "tea")));
        let found = select(ranked, &['a', 'c', 'm'], |_| 3);
        assert_eq!(found, [('c', vec![2, 4, 3]), ('a', vec![0])]);
        let all = entries.iter().map(|(group, text)| (*group, rank(text, "")));
        let found = select(all, &['c', 'a'], |group| if group == 'c' { 2 } else { 1 });
        assert_eq!(found, [('c', vec![1, 2]), ('a', vec![0])]);
    }
}
