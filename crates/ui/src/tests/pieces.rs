//! The size of what the server renders of a very long answer: its first piece.

use leptos::prelude::*;

use super::run_as_server;
use crate::markdown::{MarkdownLoader, MarkdownView, Prose};

/// The length of each text, in bytes: more than one piece of any shape.
const LENGTH: usize = 2 << 20;

fn render(text: &str) -> String {
    run_as_server(|| {
        provide_context(MarkdownLoader::start());
        view! { <MarkdownView prose=Prose::finished(text) prefix="m"/> }.to_html()
    })
}

/// Returns the number of elements in HTML without scripts.
fn elements(html: &str) -> usize {
    let bytes = html.as_bytes();
    bytes
        .windows(2)
        .filter(|pair| pair[0] == b'<' && pair[1].is_ascii_lowercase())
        .count()
}

#[test]
fn very_long_texts_are_rendered_in_pieces() {
    let long_formula = format!("\\({}\\)\n", "x".repeat(8000));
    let formula = format!("\\({}\\)\n", "x".repeat(1000));
    // The shapes with the maximum number of elements of a piece.
    for (name, begins, shape, limit) in [
        ("prose", "", "word ", 5_000),
        ("code", "```\n", "let a = 1;\n", 5_000),
        ("long formulas", "", &*long_formula, 5_000),
        ("formulas", "", &*formula, 12_000),
        (
            "tags",
            "",
            "H<sub>2</sub>O, <kbd>C</kbd> and <mark>more</mark>.\n",
            40_000,
        ),
        ("alerts", "", "> [!NOTE]\n> Worth knowing.\n\n", 40_000),
        (
            "details",
            "",
            "<details>\n<summary>More</summary>\n\nHidden.\n\n</details>\n\n",
            40_000,
        ),
    ] {
        let html = render(&[begins, &shape.repeat(LENGTH / shape.len())].concat());
        let (bytes, elements) = (html.len(), elements(&html));
        assert!(html.contains("Show more"), "{name}");
        assert!(elements < limit, "{name}: {elements} elements");
        let max_bytes = if limit > 5_000 { 4_000_000 } else { 2_000_000 };
        assert!(bytes < max_bytes, "{name}: {bytes} bytes");
    }
}
