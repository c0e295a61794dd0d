//! Folding: the form in which words are compared, without case, accents and width.

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};

/// Characters without a decomposition that are written as others. Arabic letters that are often confused are one.
const SPELLINGS: [(char, &str); 16] = [
    ('ß', "ss"),
    ('æ', "ae"),
    ('œ', "oe"),
    ('ø', "o"),
    ('ł', "l"),
    ('đ', "d"),
    ('ð', "d"),
    ('þ', "th"),
    ('ħ', "h"),
    ('ı', "i"),
    ('ς', "σ"),
    ('\u{629}', "\u{647}"),
    ('\u{649}', "\u{64a}"),
    ('\u{6a9}', "\u{643}"),
    ('\u{6cc}', "\u{64a}"),
    ('\u{671}', "\u{627}"),
];

/// Returns true if folding removes a character of a decomposed text: accents of Latin, Greek and Cyrillic letters, vowel
/// signs of Arabic and Hebrew, and what is invisible. Signs of other scripts make another letter.
fn is_removed(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}' | '\u{5c2}' | '\u{5c4}' | '\u{5c5}' | '\u{5c7}'
        | '\u{640}' | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{20e3}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0100}'..='\u{e01ef}')
}

/// Returns a word as it is compared: compatibility forms are those they stand for (NFKC), without case and accents.
pub fn fold(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    let decomposed = DecomposingNormalizerBorrowed::new_nfkd().normalize(word);
    let mut folded = String::with_capacity(decomposed.len());
    for character in decomposed.chars().flat_map(char::to_lowercase) {
        // Some spacing accents are a space with an accent.
        if is_removed(character) || character.is_whitespace() {
            continue;
        }
        match SPELLINGS.iter().find(|(special, _)| *special == character) {
            Some((_, spelling)) => folded.push_str(spelling),
            None => folded.push(digit(character)),
        }
    }
    // Signs that were kept are one character with their letter again.
    ComposingNormalizerBorrowed::new_nfc()
        .normalize(&folded)
        .into_owned()
}

/// Returns the ASCII form of Arabic, Persian and Devanagari digits.
fn digit(character: char) -> char {
    let zero = match character {
        '\u{660}'..='\u{669}' => 0x660,
        '\u{6f0}'..='\u{6f9}' => 0x6f0,
        '\u{966}'..='\u{96f}' => 0x966,
        _ => return character,
    };
    char::from_digit(u32::from(character) - zero, 10).unwrap_or(character)
}
