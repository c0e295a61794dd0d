//! Conversion of external text into one plain line: titles and snippets have tags, entities and line breaks,
//! and any length.

/// The tags that format titles and snippets. Others are kept: a text may be about `<html>`.
const FORMATTING_TAGS: [&str; 8] = ["b", "br", "em", "i", "strong", "sub", "sup", "u"];

/// Returns a text in one line, without formatting tags, entities and control characters, and with at most
/// `limit` characters.
pub fn plain_line(text: &str, limit: usize) -> String {
    let untagged = strip_formatting_tags(text);
    let decoded = html_escape::decode_html_entities(&untagged);
    let words: Vec<&str> = decoded
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    truncate_chars(words.join(" "), limit)
}

/// Shortens a text to `limit` characters, and appends an ellipsis if it was longer.
pub fn truncate_chars(mut text: String, limit: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(limit) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Shortens a text to `bytes` bytes at a character boundary, and appends an ellipsis if it was longer.
pub fn truncate_bytes(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.into();
    }
    format!("{}…", &text[..text.floor_char_boundary(bytes)])
}

fn strip_formatting_tags(text: &str) -> String {
    let mut untagged = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('<') {
        untagged.push_str(before);
        rest = behind;
        let name = behind.strip_prefix('/').unwrap_or(behind);
        match name.find('>').and_then(|end| name.split_at_checked(end)) {
            Some((name, end)) if FORMATTING_TAGS.contains(&name.trim_end_matches(['/', ' '])) => {
                rest = end.get(1..).unwrap_or_default();
            }
            _ => untagged.push('<'),
        }
    }
    untagged.push_str(rest);
    untagged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_line_has_no_markup() {
        assert_eq!(
            plain_line(
                "  The <strong>best</strong>\n\u{7} of H<sub>2</sub>O &amp; &#x27;more&#x27; ",
                99
            ),
            "The best of H2O & 'more'"
        );
        assert_eq!(plain_line("a < b, <html> and <b", 99), "a < b, <html> and <b");
        assert_eq!(plain_line("<<i>i</i>>", 99), "<i>");
    }

    #[test]
    fn truncates_at_a_character_boundary() {
        assert_eq!(plain_line("äöü", 3), "äöü");
        assert_eq!(plain_line("äöüx", 3), "äöü…");
        assert_eq!(truncate_bytes("äöü", 6), "äöü");
        assert_eq!(truncate_bytes("äöü", 5), "äö…");
    }
}
