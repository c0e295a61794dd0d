//! Foreign text inside a sentence of the page.

use std::borrow::Cow;

/// Returns a text that does not change the direction of the text around it: one with marks of direction stands between
/// U+2068 and U+2069, which end their effect (Unicode Standard Annex #9).
pub fn isolated(text: &str) -> Cow<'_, str> {
    let is_mark = |c| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    match text.contains(is_mark) {
        true => ["\u{2068}", text, "\u{2069}"].concat().into(),
        false => text.into(),
    }
}
