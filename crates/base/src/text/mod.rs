//! Conversion of external text into one plain line: titles and snippets have tags, entities and line breaks,
//! and any length. [`terminal`]: text that was written for a terminal.

pub mod terminal;

pub use parlor_protocol::text::{truncate_bytes, truncate_chars, truncate_counted};

/// The tags that format titles and snippets. Others are kept: a text may be about `<html>`.
const FORMATTING_TAGS: [&str; 8] = ["b", "br", "em", "i", "strong", "sub", "sup", "u"];

/// Returns a text in one line, without formatting tags, entities and control characters, and with at most
/// `limit` characters.
pub fn plain_line(text: &str, limit: usize) -> String {
    let untagged = strip_formatting_tags(text);
    single_line(&html_escape::decode_html_entities(&untagged), limit)
}

/// Returns a text in one line of at most `limit` characters. White space and control characters between two words
/// become one space.
pub fn single_line(text: &str, limit: usize) -> String {
    let mut line = String::new();
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    for word in words.filter(|word| !word.is_empty()) {
        // A character has at most four bytes. The text may be much longer than the limit.
        if line.len() > limit.saturating_mul(4) {
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    truncate_chars(&line, limit)
}

/// Returns the language and the content of the block of Markdown that a whole text is in; `None` if it is in none. Models put
/// arguments and code into one.
pub fn block_of_markdown(text: &str) -> Option<(&str, &str)> {
    let (language, rest) = text.trim().strip_prefix("```")?.split_once('\n')?;
    Some((language.trim(), rest.trim_end().strip_suffix("```")?))
}

/// Returns true for characters that are not shown, and change the order in which others are. Joiners are not among them:
/// some scripts and emoji need them.
pub fn is_format_mark(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Returns the first names of a list, and how many more there are: "a, b, or one of 3 more".
pub fn join_first(names: &[String], max: usize) -> String {
    let named = names[..names.len().min(max)].join(", ");
    match names.len().saturating_sub(max) {
        0 => named,
        more => format!("{named}, or one of {more} more"),
    }
}

/// Returns the first names of a list, and how many more there are: "a, b and 3 more".
pub fn list_first(names: &[String], max: usize) -> String {
    let named = names[..names.len().min(max)].join(", ");
    match names.len().saturating_sub(max) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

fn strip_formatting_tags(text: &str) -> String {
    let mut untagged = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        untagged.push_str(before);
        rest = after;
        let name = after.strip_prefix('/').unwrap_or(after);
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
    fn line_is_single_and_bounded() {
        assert_eq!(single_line(" a\n\tb  c\u{7} ", 99), "a b c");
        assert_eq!(single_line("a\r\nb\u{1b}[0m", 99), "a b [0m");
        assert_eq!(single_line("äöü", 3), "äöü");
        assert_eq!(single_line("äöüx", 3), "äöü…");
        assert_eq!(single_line(&"é ".repeat(100_000), 1000).chars().count(), 1001);
        assert_eq!(single_line(&"é".repeat(100_000), 1000).chars().count(), 1001);
    }
}
