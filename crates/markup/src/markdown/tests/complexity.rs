//! Complexity: the work of a push does not depend on the length of the text before it.

use super::super::{MarkdownDocument, Patch, parse};

/// Pushes `text` in small fragments. Returns the most bytes parsed for a push in the first and in the last
/// fifth.
fn measure_work(text: &str) -> (u64, u64) {
    let fragments: Vec<&str> = text
        .as_bytes()
        .chunks(8)
        .filter_map(|fragment| std::str::from_utf8(fragment).ok())
        .collect();
    assert_eq!(fragments.concat(), text);
    let mut document = MarkdownDocument::new();
    let mut work = Vec::with_capacity(fragments.len());
    for fragment in &fragments {
        let before = document.parsed_bytes();
        document.push(fragment);
        work.push(document.parsed_bytes() - before);
    }
    document.finish();
    assert_eq!(document.blocks(), parse(text));
    let fifth = fragments.len() / 5;
    let most = |work: &[u64]| work.iter().copied().max().unwrap_or(0);
    (most(&work[..fifth]), most(&work[fragments.len() - fifth..]))
}

fn repeated(head: &str, part: &str) -> String {
    let mut text = head.to_owned();
    while text.len() < 200_000 {
        text.push_str(part);
    }
    text
}

fn assert_bounded(name: &str, text: &str, most: u64) {
    let (first, last) = measure_work(text);
    assert!(
        first <= most && last <= most,
        "{name}: {first} bytes for a push at first, {last} in the end"
    );
}

#[test]
fn a_long_fence_costs_a_line_per_push() {
    assert_bounded(
        "fence",
        &repeated("```rust\n", "    let line = \"forty bytes of code\";\n"),
        250,
    );
}

#[test]
fn a_long_list_costs_an_item_per_push() {
    assert_bounded(
        "list",
        &repeated("", "- an item with **bold** and `code`\n  in two lines\n"),
        500,
    );
    assert_bounded(
        "numbers",
        &repeated(
            "",
            "1. a [link](http://a.b) and so on\n\n   ```\n   code\n   ```\n\n",
        ),
        700,
    );
}

#[test]
fn a_long_table_costs_a_row_per_push() {
    assert_bounded(
        "table",
        &repeated("| a | b |\n|---|---|\n", "| **cell** | another `cell` |\n"),
        500,
    );
}

#[test]
fn many_paragraphs_cost_one_per_push() {
    assert_bounded(
        "paragraphs",
        &repeated("", "A paragraph with *text* and\na second line.\n\n"),
        500,
    );
    assert_bounded(
        "sections",
        &repeated("", "## Title\n\nText.\n\n- a\n- b\n\n> q\n\n```\nx\n```\n\n---\n"),
        500,
    );
    assert_bounded("quotes", &repeated("", "> a\n> b\n\nc\n"), 300);
    assert_bounded(
        "definitions",
        &repeated("[1] [2]\n\n", "[1]: http://a.b/c\n\n"),
        500,
    );
}

#[test]
fn a_growing_fence_only_appends() {
    let mut document = MarkdownDocument::new();
    document.push("```rust\nfn a() {}\n");
    assert_eq!(
        document.push("let b"),
        [Patch::Append {
            path: vec![0],
            text: "let b".to_owned()
        }]
    );
    assert_eq!(
        document.push(" = 1;\n"),
        [Patch::Append {
            path: vec![0],
            text: " = 1;\n".to_owned()
        }]
    );
}

#[test]
fn a_growing_paragraph_appends_to_its_last_text() {
    let mut document = MarkdownDocument::new();
    document.push("- a\n- b **c** d");
    assert_eq!(
        document.push("e f"),
        [Patch::Append {
            path: vec![0, 1, 0],
            text: "e f".to_owned()
        }]
    );
}

#[test]
fn pathological_texts_are_fast() {
    let long = 20_000;
    let texts = [
        "[".repeat(long),
        "]".repeat(long),
        "*a **a ".repeat(long / 7),
        "_a __a* ".repeat(long / 8),
        "`".repeat(long),
        (1..200)
            .map(|length| format!("{} ", "`".repeat(length)))
            .collect(),
        "![](".repeat(long / 4),
        "[a](<b".repeat(long / 6),
        "[^".repeat(long / 2),
        "<a".repeat(long / 2),
        "&a".repeat(long / 2),
        "\\".repeat(long),
        "| ".repeat(long / 2),
        "> ".repeat(long / 2),
        "- ".repeat(long / 2),
        "*".repeat(long),
        "a\n".repeat(long / 2),
        "[a]: /u\n".repeat(long / 8),
        "[a](".repeat(long / 4) + &")".repeat(long / 4),
    ];
    for text in texts {
        let mut document = MarkdownDocument::new();
        for fragment in text.as_bytes().chunks(text.len() / 20 + 1) {
            document.push(std::str::from_utf8(fragment).unwrap_or_default());
        }
        document.finish();
        assert_eq!(document.blocks(), parse(&text));
    }
}
