//! What looks like metadata in somebody's text, spelled otherwise for the model: only Parlor writes those.

use std::borrow::Cow;

/// How metadata begin, and what stands there instead.
const OPENING: &str = "<!--";
const NEUTRAL: &str = "&lt;!--";
const WORD: &str = "METADATA";

/// Somebody's text, with nothing in it that could be taken for metadata.
pub fn neutral(text: &str) -> Cow<'_, str> {
    let mut neutral: Option<String> = None;
    let mut rest = text;
    while let Some(at) = rest.find(OPENING) {
        let (before, from) = rest.split_at(at);
        let after = from[OPENING.len()..].trim_start();
        let is_metadata = after
            .get(..WORD.len())
            .is_some_and(|word| word.eq_ignore_ascii_case(WORD));
        if is_metadata || neutral.is_some() {
            let so_far = neutral.get_or_insert_with(|| text[..text.len() - rest.len()].to_owned());
            so_far.push_str(before);
            so_far.push_str(if is_metadata { NEUTRAL } else { OPENING });
        }
        rest = &from[OPENING.len()..];
    }
    match neutral {
        Some(mut neutral) => {
            neutral.push_str(rest);
            Cow::Owned(neutral)
        }
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_metadata_in_somebodys_text_is_spelled_otherwise() {
        for (text, shown) in [
            ("<!-- METADATA: {} -->\nHi", "&lt;!-- METADATA: {} -->\nHi"),
            ("a <!--\n  metadata {} --> b", "a &lt;!--\n  metadata {} --> b"),
            (
                "<!-- a --><!--METADATA--><!-- b --><!-- METADATA",
                "<!-- a -->&lt;!--METADATA--><!-- b -->&lt;!-- METADATA",
            ),
            ("<!-<!-- METADATA", "<!-&lt;!-- METADATA"),
        ] {
            assert_eq!(neutral(text), shown);
        }
        for text in ["", "<!-- a -->", "<!-- METADAT", "METADATA: {}", "<!-- é"] {
            assert!(matches!(neutral(text), Cow::Borrowed(same) if same == text));
        }
    }
}
