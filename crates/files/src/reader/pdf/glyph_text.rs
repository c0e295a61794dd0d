//! The text of a glyph.

use hayro_interpret::{font::Glyph, hayro_cmap::BfString};
use icu_normalizer::ComposingNormalizerBorrowed;
use icu_properties::{CodePointMapData, props::GeneralCategory};

/// Returns the text of a glyph without characters that can't be shown. Shapes of letters are letters again.
pub fn unicode(glyph: &Glyph<'_>) -> Option<String> {
    let text = match glyph.as_unicode() {
        Some(BfString::Char(c)) => c.to_string(),
        Some(BfString::String(text)) => text,
        // Some fonts do not name their quotes and dashes.
        None => {
            let code = u8::try_from(glyph.char_code()).ok()?;
            code.is_ascii_punctuation()
                .then(|| char::from(code).to_string())?
        }
    };
    let shown: String = text.chars().filter(|c| is_shown(*c)).collect();
    (!shown.is_empty()).then(|| with_letters(shown))
}

/// Returns `true` for a character that is shown. The order of text is that of its glyphs, without marks for it.
pub fn is_shown(c: char) -> bool {
    let is_order_mark = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
    !c.is_control() && !is_order_mark && c != '\u{fffd}' && c != '\u{ad}'
}

/// Replaces ligatures and the shapes of Hebrew and Arabic letters by the letters.
pub fn with_letters(text: String) -> String {
    let is_shape = |c: char| matches!(c, '\u{fb00}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}');
    if !text.contains(is_shape) {
        return text;
    }
    let normalizer = ComposingNormalizerBorrowed::new_nfkc();
    let mut letters = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            // A mark alone is shown on a space or a line.
            '\u{fe70}'..='\u{fe7f}' => {
                let shape = c.to_string();
                letters.extend(
                    normalizer
                        .normalize(&shape)
                        .chars()
                        .filter(|c| !matches!(c, ' ' | '\u{640}')),
                );
            }
            c if is_shape(c) => letters.push_str(&normalizer.normalize(&c.to_string())),
            c => letters.push(c),
        }
    }
    letters
}

/// Returns `true` for marks that combine with a letter.
pub fn is_mark(text: &str) -> bool {
    let categories = CodePointMapData::<GeneralCategory>::new();
    text.chars()
        .all(|c| categories.get(c) == GeneralCategory::NonspacingMark)
}
