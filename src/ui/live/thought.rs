//! The one line that is shown of a text.

/// Longer lines are cut: the screen has one line for it.
const LONGEST: usize = 120;

/// The last line that says something, without the marks of Markdown at its ends.
pub fn latest_thought(thinking: &str) -> &str {
    let said = |line: &&str| line.chars().any(char::is_alphanumeric);
    let line = thinking.lines().rev().map(trim).find(said).unwrap_or_default();
    // The end of a long line is the news.
    match line.char_indices().rev().nth(LONGEST) {
        Some((cut, _)) => line[cut..]
            .split_once(' ')
            .map_or(&line[cut..], |(_, words)| words),
        None => line,
    }
}

/// The first line that says something, as plain text.
pub fn first_line(text: &str) -> String {
    let said = |line: &&str| line.chars().any(char::is_alphanumeric);
    let line = text.lines().map(trim).find(said).unwrap_or_default();
    let line = line.replace("**", "").replace('`', "");
    match line.char_indices().nth(LONGEST) {
        Some((cut, _)) => [&line[..cut], "…"].concat(),
        None => line,
    }
}

fn trim(line: &str) -> &str {
    let marks = |char: char| char.is_whitespace() || matches!(char, '*' | '#' | '_' | '`' | '>' | '-');
    line.trim_matches(marks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_is_the_first_that_says_something() {
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
        assert_eq!(first_line(&"é".repeat(LONGEST + 1)), "é".repeat(LONGEST) + "…");
        assert_eq!(first_line(&"é".repeat(LONGEST)), "é".repeat(LONGEST));
    }

    #[test]
    fn the_latest_thought_is_the_last_line_that_says_something() {
        let cases = [
            ("", ""),
            ("First I look.", "First I look."),
            ("First I look.\n\nThen I", "Then I"),
            ("First I look.\n\n", "First I look."),
            ("**Weighing the options**\n", "Weighing the options"),
            ("- one\n- ", "one"),
        ];
        for (thinking, latest) in cases {
            assert_eq!(latest_thought(thinking), latest, "{thinking:?}");
        }
        let long = "word ".repeat(100);
        let latest = latest_thought(&long);
        assert!(
            latest.starts_with("word") && latest.len() <= LONGEST,
            "{latest:?}"
        );
    }
}
