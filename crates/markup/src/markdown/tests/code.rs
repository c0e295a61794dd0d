//! The code tracker: the end of a text suffices to decide whether it ends in code, and the result agrees with
//! the parser's for the whole text.

use fuzzing::properties;
use proptest::prelude::*;

use super::super::{CodeTracker, formula_mask, last_leaf::LastLeaf, parse, shows_as_code};
use super::{corpus, examples};

/// A word that stands nowhere else.
const UNIQUE_WORD: &str = "qqqq";

fn ends_in_code(text: &str, limit: usize) -> bool {
    let mut tracker = CodeTracker::new(limit);
    for c in text.chars() {
        tracker.push(c.encode_utf8(&mut [0; 4]));
    }
    tracker.is_code("", UNIQUE_WORD)
}

/// Returns true if a word between the two is in code when the whole is parsed.
fn is_word_in_code(before: &str, after: &str) -> bool {
    shows_as_code(&parse(&format!("{before}{UNIQUE_WORD}{after}")), UNIQUE_WORD)
}

/// Returns true if the word after `before` is in a block that begins earlier than it would without masked formulas: the
/// blank line or the list marker of one is masked.
fn is_in_block_joined_by_formula(before: &str, after: &str) -> bool {
    let text = [before, UNIQUE_WORD, after].concat();
    let end = before.len() + UNIQUE_WORD.len();
    let start = |text: &str| LastLeaf::find(&text[..end]).span.start;
    start(&formula_mask::mask("", &text, false).text) < start(&text)
}

#[test]
fn knows_places_in_code() {
    for (text, expected) in [
        ("", false),
        ("text ", false),
        ("```\n", true),
        ("```\ncode\n```\n", false),
        ("~~~\n```\n", true),
        ("```js", true),
        ("````\n```\n", true),
        ("1. one\n\n   ```\n   ", true),
        ("1. one\n\n   ```\n", false),
        ("> ```\n> ", true),
        ("> ```\n", false),
        ("    ", true),
        ("text\n    ", false),
        ("- a\n\n      ", true),
        ("- a\n\n    ", false),
        ("`a` b ", false),
        ("`a", true),
        ("``a` ", true),
        ("\\`a ", false),
        ("\\\\`a ", true),
        ("a\n`b\n", true),
        ("`a\n\n", false),
        ("# `a\n", false),
        ("<a href=\"`\">`", true),
        ("<div>\n", false),
        ("<div>\n```\n", false),
        ("<details>\n", false),
        ("<details>\n```\n", true),
        ("<details>\n```\na\n```\n", false),
        ("<details>\n```\na\n\n", false),
        ("<details>\n`a ", true),
        ("> <details>\n> ```\n> ", true),
        ("<details>\n<summary>`a ", true),
        ("<details>\n<summary>`a`</summary>\n", false),
        ("<details>\n```\na</details>\n", false),
        ("<!--\n```\n-->\n", false),
        ("| a | b |\n|---|---|\n| `b | c ", false),
    ] {
        assert_eq!(ends_in_code(text, 1 << 20), expected, "{text:?}");
    }
}

#[test]
fn treats_overlong_blocks_as_code() {
    let item = format!("- {}", "item ".repeat(100));
    let words = "words ".repeat(100);
    for (text, expected) in [
        (words.clone(), true),
        (format!("{words}\n"), true),
        (format!("{words}\n\n"), false),
        (format!("{words}\n```\n"), true),
        (format!("{words}\n```\n```\n"), false),
        (format!("{words}\n\n`a` "), false),
        (format!("{words}\n\n`a "), true),
        (format!("{item}\n\n"), true),
        (format!("```\n{}", "x\n".repeat(500)), true),
        (format!("```\n{}```\n", "x\n".repeat(500)), false),
        (format!("| a |\n|---|\n{}", "| b |\n".repeat(500)), false),
        (format!("{}  ", "- item\n".repeat(500)), false),
        (format!("{}  ```\n  ", "- item\n".repeat(500)), true),
        ("A paragraph.\n\n".repeat(500), false),
    ] {
        assert_eq!(ends_in_code(&text, 100), expected, "{text:?}");
    }
}

#[test]
fn agrees_with_the_parser_on_examples() {
    for (number, text) in examples() {
        for (at, _) in text.char_indices() {
            let (before, after) = text.split_at(at);
            let known = ends_in_code(before, 1 << 20);
            assert!(
                known || !is_word_in_code(before, after),
                "example {number} at {at}: {text:?}"
            );
        }
    }
}

#[test]
fn possible_table_head_is_uncertain() {
    let (before, after) = ("`a | ` ", " `\n|---|---|\n");
    assert!(!is_word_in_code(before, ""));
    assert!(is_word_in_code(before, after));
    assert!(ends_in_code(before, 1 << 20));
}

#[test]
fn keeps_possible_definition_ends() {
    let before = "[a]: /u\n\"a ` b\nc\"\nd ` ";
    assert!(is_word_in_code(before, "`"));
    assert!(ends_in_code(before, 16));
}

#[test]
fn next_text_decides_whether_a_table_continues() {
    let mut tracker = CodeTracker::new(1 << 20);
    tracker.push("| a |\n|---|\n    ");
    assert!(!tracker.is_code("", "word"));
    assert!(tracker.is_code("", "<!-- comment"));
    assert!(!tracker.is_code("\n", "```json\n{"));
}

/// Asserts that the end of a text suffices to decide whether it ends in code.
fn assert_known_at_end(text: &str, limit: usize) {
    let mut tracker = CodeTracker::new(limit);
    tracker.push(text);
    let (near, far) = (tracker.is_code("", UNIQUE_WORD), ends_in_code(text, 1 << 20));
    assert!(
        near == far || near && tracker.is_uncertain(),
        "{text:?}: {near} {far} {tracker:?}"
    );
}

#[test]
fn long_paragraph_line_starts_no_table() {
    // Found with random fragments.
    assert_known_at_end(
        "``| a | b |\n2. - - [a]: /u\n`## \u{6f22}\u{5b57}- 1. </b>- text https://a.b/c&amp;## - - - - a | b\n--|--\n",
        40,
    );
    let long = "word ".repeat(20);
    assert_known_at_end(&format!("`a\n{long}| b\n--|--\n"), 40);
    assert_known_at_end(&format!("{long}\\| b\n--|--\n`"), 40);
    assert_known_at_end(&format!("{long}| b\n--|--\n"), 40);
    assert_known_at_end(&format!("{}abc", "\n".repeat(100)), 40);
}

properties! {
    1000;

    #[test]
    fn code_is_never_taken_for_text(
        before in prop::collection::vec(prop::sample::select(corpus::SNIPPETS), 0..14),
        after in prop::collection::vec(prop::sample::select(corpus::SNIPPETS), 0..6),
    ) {
        let (before, after) = (before.concat(), after.concat());
        let known = ends_in_code(&before, 1 << 20);
        prop_assume!(!is_in_block_joined_by_formula(&before, &after));
        prop_assert!(known || !is_word_in_code(&before, &after));
        // Where nothing could be a code span, the result is exact. Text after a fence's opening is not in the
        // code itself, and a `<details>` element without its end is text.
        let line = before.rsplit('\n').next().unwrap_or_default();
        if !before.contains('`') && !line.contains("~~~") && !before.contains("<details") {
            prop_assert_eq!(known, is_word_in_code(&before, ""));
        }
    }

    #[test]
    fn the_end_of_the_text_is_enough(
        text in prop::collection::vec(prop::sample::select(corpus::SNIPPETS), 0..80),
    ) {
        assert_known_at_end(&text.concat(), 40);
    }
}
