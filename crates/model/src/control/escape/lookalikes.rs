//! Characters that look like one of the marker's, and characters that are invisible.

use icu_normalizer::DecomposingNormalizerBorrowed;

use parlor_markup::markdown::is_invisible;

/// Returns true if a character looks like this punctuation character of the marker.
pub(super) fn is_mark(c: char, sign: u8) -> bool {
    if c.is_ascii() {
        return u32::from(c) == u32::from(sign);
    }
    match sign {
        b'<' => matches!(
            c,
            '\u{ff1c}'
                | '\u{fe64}'
                | '\u{2039}'
                | '\u{2c2}'
                | '\u{1438}'
                | '\u{276e}'
                | '\u{2329}'
                | '\u{3008}'
                | '\u{27e8}'
                | '\u{226e}'
                | '\u{1d236}'
        ),
        b'!' => matches!(
            c,
            '\u{ff01}' | '\u{fe57}' | '\u{1c3}' | '\u{203c}' | '\u{2757}' | '\u{2d51}'
        ),
        b'-' => matches!(
            c,
            '\u{2010}'
                ..='\u{2015}'
                    | '\u{2212}'
                    | '\u{fe58}'
                    | '\u{fe63}'
                    | '\u{ff0d}'
                    | '\u{2043}'
                    | '\u{2e3a}'
                    | '\u{2e3b}'
                    | '\u{30fc}'
                    | '\u{2500}'
                    | '\u{2501}'
                    | '\u{58a}'
                    | '\u{1806}'
                    | '\u{2cba}'
        ),
        _ => false,
    }
}

/// Returns true if a character looks like an ASCII letter, in either case. `letter` is upper case.
pub(super) fn is_letter(c: char, letter: u8) -> bool {
    if c.is_ascii() {
        return c.to_ascii_uppercase() == char::from(letter);
    }
    // Full-width, mathematical, circled and accented letters, and Roman numerals.
    let first = DecomposingNormalizerBorrowed::new_nfkd()
        .normalize_iter(std::iter::once(c))
        .find(|c| !matches!(c, '('));
    first.is_some_and(|first| first.to_ascii_uppercase() == char::from(letter))
        || confusables(letter).contains(c)
}

/// Letters of other scripts that look like one of the marker's, after Unicode's confusables.txt (UTS 39).
fn confusables(letter: u8) -> &'static str {
    match letter {
        b'A' => "АаΑαᎪᗅꓮᴀɑⲀ𐊠",
        b'D' => "ԀԁᎠᗞꓓᴅđĐɗÐð",
        b'E' => "ЕеΕεϵᎬꓰᴇэєЄⴹƐɛ",
        b'M' => "МмΜᎷᗰꓟᴍⲘϺ",
        b'T' => "ТтΤτᎢꓔᴛⲦ⊤",
        _ => "",
    }
}

/// Returns true for a character that is invisible or only separates: whitespace, control and format
/// characters, and combining marks.
pub(super) fn is_ignored(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || is_invisible(c)
        || matches!(
            c,
            // Combining marks.
            '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
                | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}'
        )
}
