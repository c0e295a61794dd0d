//! U+0000 in texts of Postgres, which refuses it: written and read in another form, for all texts alike.
//!
//! U+007F marks what is escaped: `\x7f0` is U+0000, `\x7f1` is U+007F itself. JSON escapes neither of these characters, so a
//! stored JSON text stays one.

use std::borrow::Cow;

const MARK: char = '\u{7f}';

/// Returns the form of a text in the database.
pub(super) fn escape(text: String) -> String {
    if !text.contains(['\0', MARK]) {
        return text;
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\0' => escaped.extend([MARK, '0']),
            MARK => escaped.extend([MARK, '1']),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Returns the text that a form in the database stands for.
pub(super) fn unescape(stored: &str) -> Cow<'_, str> {
    unescape_as(stored, "\0")
}

/// Returns a JSON text that the database made of stored texts: the strings in it are escaped, and JSON has no raw U+0000.
pub(super) fn unescape_json(stored: &str) -> Cow<'_, str> {
    unescape_as(stored, "\\u0000")
}

fn unescape_as<'a>(stored: &'a str, nul: &str) -> Cow<'a, str> {
    if !stored.contains(MARK) {
        return Cow::Borrowed(stored);
    }
    let mut text = String::with_capacity(stored.len());
    let mut rest = stored;
    while let Some((before, after)) = rest.split_once(MARK) {
        text.push_str(before);
        let (character, length) = match after.as_bytes().first() {
            Some(b'0') => (nul, 1),
            Some(b'1') => ("\u{7f}", 1),
            // Not written by Parlor.
            _ => ("\u{7f}", 0),
        };
        text.push_str(character);
        rest = after.get(length..).unwrap_or_default();
    }
    text.push_str(rest);
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fuzzing::properties! {
        300;

        #[test]
        fn any_text_is_read_as_it_was_written(text in "[\0\u{7f}01a\u{1F600}]{0,12}") {
            let stored = escape(text.clone());
            prop_assert!(!stored.contains('\0'));
            prop_assert_eq!(unescape(&stored), text);
        }
    }

    #[test]
    fn strings_of_made_json_keep_the_character() {
        let made = format!("[\"{}\"]", escape("a\0\u{7f}1".into()));
        let read: Vec<String> = serde_json::from_str(&unescape_json(&made)).unwrap();
        assert_eq!(read, ["a\0\u{7f}1"]);
    }
}
