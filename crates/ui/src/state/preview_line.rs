//! One-line previews of texts.

use parlor_protocol::text::truncate_chars;

/// Longer lines are cut: the screen has one line for the preview.
const MAX_LINE_CHARS: usize = 120;

/// The last line with content, as plain text.
pub fn latest_line(thinking: &str) -> String {
    let has_content = |line: &&str| line.chars().any(char::is_alphanumeric);
    let line = thinking
        .lines()
        .rev()
        .map(trim_marks)
        .find(has_content)
        .unwrap_or_default();
    let line = without_marks(line);
    // The end of a long line is the newest part.
    match line.char_indices().rev().nth(MAX_LINE_CHARS) {
        Some((cut, _)) => {
            let end = &line[cut..];
            end.split_once(' ').map_or(end, |(_, words)| words).to_owned()
        }
        None => line,
    }
}

/// A line without the marks of emphasis and code in it, also while their end has not arrived.
fn without_marks(line: &str) -> String {
    line.replace("**", "").replace("~~", "").replace('`', "")
}

/// The first line with content, as plain text.
pub fn first_line(text: &str) -> String {
    let has_content = |line: &&str| line.chars().any(char::is_alphanumeric);
    let line = text.lines().map(trim_marks).find(has_content).unwrap_or_default();
    truncate_chars(&without_marks(line), MAX_LINE_CHARS)
}

fn trim_marks(line: &str) -> &str {
    let marks = |char: char| char.is_whitespace() || matches!(char, '*' | '#' | '_' | '`' | '>' | '-');
    line.trim_matches(marks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_line_skips_empty_lines() {
        for (text, first) in [
            ("", ""),
            (
                "---\n\n## Yes, **it** is `so`, they say\n\nBecause",
                "Yes, it is so, they say",
            ),
            ("- one\n- two", "one"),
        ] {
            assert_eq!(first_line(text), first, "{text:?}");
        }
        assert_eq!(
            first_line(&"é".repeat(MAX_LINE_CHARS + 1)),
            "é".repeat(MAX_LINE_CHARS) + "…"
        );
        assert_eq!(
            first_line(&"é".repeat(MAX_LINE_CHARS)),
            "é".repeat(MAX_LINE_CHARS)
        );
    }

    #[test]
    fn latest_line_skips_trailing_empty_lines() {
        let cases = [
            ("", ""),
            ("First I look.", "First I look."),
            ("First I look.\n\nThen I", "Then I"),
            ("First I look.\n\n", "First I look."),
            ("**Weighing the options**\n", "Weighing the options"),
            ("- one\n- ", "one"),
            ("So **the query** needs `LIMIT", "So the query needs LIMIT"),
            ("**Plan:** first ~~no~~ yes", "Plan: first no yes"),
            ("**Weighing the opt", "Weighing the opt"),
        ];
        for (thinking, latest) in cases {
            assert_eq!(latest_line(thinking), latest, "{thinking:?}");
        }
        let long = "word ".repeat(100);
        let latest = latest_line(&long);
        assert!(
            latest.starts_with("word") && latest.len() <= MAX_LINE_CHARS,
            "{latest:?}"
        );
    }
}
