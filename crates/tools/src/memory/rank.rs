//! Ranks memories by the words that they share with a query. There are at most some hundreds, so
//! there is no index.

use std::collections::{BTreeSet, HashMap};

use parlor_storage::projects::GivenMemory;

/// Two words match if one is the other with a suffix: the minimum length of the shorter word and
/// the maximum length of the suffix, in bytes.
const MIN_STEM_BYTES: usize = 3;
const MAX_SUFFIX_BYTES: usize = 3;

/// Returns the memories that share words with a query, best first, and the newest first among
/// equals. Rare words weigh more, so the common words of any language hardly count.
pub fn rank_by_words<'a>(memories: &'a [GivenMemory], query: &str) -> Vec<&'a GivenMemory> {
    let wanted = words(query);
    let shared: Vec<BTreeSet<&str>> = memories
        .iter()
        .map(|memory| {
            let has = words(&memory.memory.text);
            let is_there = |word: &&str| has.iter().any(|other| shares_stem(word, other));
            wanted.iter().map(String::as_str).filter(is_there).collect()
        })
        .collect();
    let mut counts: HashMap<&str, f64> = HashMap::new();
    for word in shared.iter().flatten() {
        *counts.entry(word).or_default() += 1.0;
    }
    let all = memories.len() as f64;
    let worth = |word: &&str| (1.0 + all / counts.get(word).copied().unwrap_or(1.0)).ln();
    let mut ranked: Vec<(f64, &GivenMemory)> = shared
        .iter()
        .map(|words| words.iter().map(worth).sum())
        .zip(memories)
        .filter(|(worth, _): &(f64, _)| *worth > 0.0)
        .collect();
    // A stable sort keeps the newest first.
    ranked.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    ranked.into_iter().map(|(_, given)| given).collect()
}

/// Returns the words of a text in lower case, in a fixed order, since sums of floating-point
/// numbers depend on it. In scripts without spaces, each character is a word.
fn words(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let mut word = String::new();
    for c in text.chars().flat_map(char::to_lowercase) {
        let stands_alone = ('\u{2e80}'..='\u{a4cf}').contains(&c) || c >= '\u{20000}';
        if c.is_alphanumeric() && !stands_alone {
            word.push(c);
            continue;
        }
        words.insert(std::mem::take(&mut word));
        if c.is_alphanumeric() {
            words.insert(c.into());
        }
    }
    words.insert(word);
    words.remove("");
    words
}

/// Returns true if the words are equal, or one is the other with a short suffix: peanut, peanuts.
fn shares_stem(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() {
        (one, other)
    } else {
        (other, one)
    };
    match long.strip_prefix(short) {
        Some("") => true,
        Some(ending) => short.len() >= MIN_STEM_BYTES && ending.len() <= MAX_SUFFIX_BYTES,
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_protocol::{Memory, MemoryId, Timestamp};

    fn ranked(texts: &[&str], query: &str) -> Vec<String> {
        let memories: Vec<GivenMemory> = texts
            .iter()
            .map(|text| GivenMemory {
                memory: Memory {
                    id: MemoryId::new(),
                    text: (*text).into(),
                    created_at: Timestamp(0),
                },
                is_of_project: false,
            })
            .collect();
        let ranked = rank_by_words(&memories, query);
        ranked
            .into_iter()
            .map(|given| given.memory.text.clone())
            .collect()
    }

    #[test]
    fn ranks_by_shared_rare_words() {
        let texts = [
            "The dog is called Rex.",
            "The person likes tea.",
            "The person likes the dogs of Paris.",
            "Works as a nurse.",
        ];
        assert_eq!(
            ranked(&texts, "the DOG, in paris?"),
            [texts[2], texts[0], texts[1]],
            "weak matches come last"
        );
        assert_eq!(
            ranked(&texts, "person or nurse"),
            [texts[3], texts[1], texts[2]],
            "nurse is rarer than person"
        );
        assert_eq!(ranked(&texts, "bicycle"), [""; 0]);
        assert_eq!(ranked(&texts, "?!"), [""; 0]);
    }

    #[test]
    fn ranks_equal_memories_newest_first() {
        assert_eq!(ranked(&["tea now", "tea then"], "tea"), ["tea now", "tea then"]);
    }

    #[test]
    fn matches_words_without_spaces() {
        assert_eq!(ranked(&["她喜欢茶", "他有狗"], "茶"), ["她喜欢茶"]);
    }
}
