//! Invariants for any answer.

use fuzzing::properties;
use proptest::prelude::*;

use super::*;
use parlor_markup::markdown;

/// Fragments of Markdown.
const MARKDOWN: &[&str] = &[
    "```",
    "```\n",
    "```json\n",
    "~~~\n",
    "````\n",
    "`",
    "``",
    "\\",
    "\n",
    "\n",
    "\n\n",
    "\r\n",
    " ",
    "  ",
    "    ",
    "\t",
    "- ",
    "1. ",
    "> ",
    "# ",
    "**",
    "__",
    "| a | b |\n|---|---|\n",
    "|",
    "|-|-|\n",
    "<div>\n",
    "<!-- ",
    "-->",
    "<a href=\"",
    "\">",
    "[a]: /u\n",
    "[^1]: ",
    "word",
    "é漢",
    "word.\n\n",
    "---\n",
];

/// Beginnings and fragments of control text.
const CONTROL: &[&str] = &[
    VALUES,
    VALUES,
    SCHEMA,
    SCHEMA,
    METADATA,
    ECHO,
    SOURCES,
    SOURCES,
    "SUGG",
    "SUGGESTED_VALUES:",
    "**SUGGESTED_ACTIONS:** []",
    "SCHEMA_PROPOSAL: ",
    "<!-- METADATA:",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\\"",
    ":",
    ",",
    "{\"sources\": [",
    "[]}",
    "{\"fields\":[",
    "null",
    "-->",
];

fn markdown_text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(MARKDOWN), 0..12).prop_map(|fragments| fragments.concat())
}

fn answer() -> impl Strategy<Value = String> {
    let fragment = prop_oneof![prop::sample::select(MARKDOWN), prop::sample::select(CONTROL)];
    prop::collection::vec(fragment, 0..16).prop_map(|fragments| fragments.concat())
}

properties! {
    500;

    #[test]
    fn passes_plain_text_unchanged(answer in markdown_text()) {
        let expected: Vec<_> = Some(answer.as_str()).filter(|answer| !answer.is_empty()).map(text).into_iter().collect();
        prop_assert_eq!(filtered(&answer), expected);
    }

    #[test]
    fn result_is_independent_of_chunking(
        answer in answer(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let characters: Vec<char> = answer.chars().collect();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(characters.len() + 1)).collect();
        cuts.extend([0, characters.len()]);
        cuts.sort_unstable();
        let fragments: Vec<String> =
            cuts.windows(2).map(|pair| characters[pair[0]..pair[1]].iter().collect()).collect();
        for limit in [DEFAULT_MAX_CONTROL_BYTES, 60] {
            let filter = || ControlFilter::new(vec![schema_marker()], limit);
            prop_assert_eq!(
                items(filter(), fragments.iter().map(String::as_str)),
                items(filter(), [answer.as_str()])
            );
        }
    }

    #[test]
    fn removes_only_space_and_control_text(answer in answer()) {
        let shown: String = filtered(&answer)
            .into_iter()
            .filter_map(|item| match item {
                Item::Text(text) => Some(text),
                _ => None,
            })
            .collect();
        // The visible text is a subsequence of the answer.
        let mut rest = answer.chars();
        for c in shown.chars() {
            prop_assert!(rest.any(|other| other == c), "{:?} in {:?}", shown, answer);
        }
        let controls = [VALUES, SCHEMA, "<!-- METADATA", ECHO, SOURCES, "SUGGESTED_VALUES:", "SUGGESTED_ACTIONS:", "SCHEMA_PROPOSAL:", "{\"sources\""];
        if !controls.iter().any(|control| answer.contains(control)) {
            prop_assert_eq!(shown, answer);
        }
    }

    #[test]
    fn never_reads_rendered_code_as_control_text(
        before in markdown_text(),
        control in prop::sample::select(&[VALUES, SCHEMA, ECHO][..]),
        after in markdown_text(),
    ) {
        let answer = format!("{before}{control}{after}");
        let is_taken = filtered(&answer) != [text(&answer)];
        let name = &control[control.find(char::is_alphabetic).unwrap_or(0)..][..8];
        let is_code = markdown::shows_as_code(&markdown::parse(&answer), name);
        prop_assert!(!(is_taken && is_code));
        // Nor is any left at the start of a line where no code is possible.
        let line = before.rsplit(['\n', '\r']).next().unwrap_or_default();
        if !is_code && !before.contains('`') && line.trim().is_empty() {
            prop_assert!(is_taken);
        }
    }
}
