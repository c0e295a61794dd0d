//! Fences in an example of Markdown.

use super::super::{Block, MarkdownDocument, nested_fences, parse};

fn codes(text: &str) -> Vec<(Option<String>, String)> {
    fn collect(blocks: Vec<Block>, codes: &mut Vec<(Option<String>, String)>) {
        for block in blocks {
            match block {
                Block::Code { info, text } => codes.push((info, text)),
                Block::List { items, .. } => items.into_iter().for_each(|item| collect(item.blocks, codes)),
                Block::Quote(blocks) => collect(blocks, codes),
                _ => {}
            }
        }
    }
    let mut codes = Vec::new();
    collect(parse(text), &mut codes);
    codes
}

const EXAMPLE: &str =
    "```markdown\n# Title\n\n```python\nprint(1)\n```\n\nMore\n\n```sh\nls\n```\n```\n\nThe end.\n";

#[test]
fn example_of_markdown_keeps_its_fences() {
    let content = "# Title\n\n```python\nprint(1)\n```\n\nMore\n\n```sh\nls\n```\n";
    assert_eq!(codes(EXAMPLE), [(Some("markdown".into()), content.into())]);
    assert!(matches!(parse(EXAMPLE).last(), Some(Block::Paragraph(_))));

    let twice = [EXAMPLE, "\n", EXAMPLE].concat();
    assert_eq!(codes(&twice).len(), 2);
    let tildes = EXAMPLE.replace("```", "~~~").replace("markdown", "md");
    assert_eq!(
        codes(&tildes),
        [(Some("md".into()), content.replace("```", "~~~"))]
    );
    let item: String = EXAMPLE.lines().map(|line| ["   ", line, "\n"].concat()).collect();
    let item = ["1. So:\n\n", &item].concat();
    assert_eq!(codes(&item), [(Some("markdown".into()), content.into())]);
    let quote: String = EXAMPLE.lines().map(|line| ["> ", line, "\n"].concat()).collect();
    assert_eq!(codes(&quote), [(Some("markdown".into()), content.into())]);
}

#[test]
fn other_fences_end_as_in_commonmark() {
    for (text, expected) in [
        // A plain inner fence can't be told from the end.
        ("```markdown\na\n```\n\n```rust\nb\n```\n", 2),
        ("```text\n```python\nb\n```\n\nc\n", 1),
        ("````markdown\n```python\nb\n```\n````\n\nc\n", 1),
        ("```rust\n```\n", 1),
        ("```markdown\n```python\nb\n", 1),
        // The example ends with its item.
        ("- ```md\n  ```sh\n  a\n\nb\n\n```\nc\n```\n", 2),
    ] {
        assert_eq!(codes(text).len(), expected, "{text}");
    }
    let short = "````markdown\n```python\nb\n```\n````\n";
    assert_eq!(codes(short)[0].1, "```python\nb\n```\n");
}

#[test]
fn examples_without_inner_fences_are_found_by_one_parse() {
    for part in ["```md\nx\n```\n", "- ```md\n  x\n\n", "> ~~~mdx\n\n"] {
        let text = part.repeat(20_000);
        let masked = nested_fences::mask("", &text);
        assert_eq!(masked.text, text);
        assert_eq!(masked.parsed, text.len(), "{part}");
    }
    assert_eq!(codes(&"```md\nx\n```\n".repeat(20_000)).len(), 20_000);
}

#[test]
fn number_of_masked_examples_is_limited() {
    // The inner fences have an end, or none.
    for part in [EXAMPLE, "- ```md\n  ```sh\n  a\n\n"] {
        let text = part.repeat(500);
        let parsed = nested_fences::mask("", &text).parsed;
        assert!(parsed <= 100 * text.len(), "{part}: {parsed} bytes parsed");
    }
    let text = [&"```md\nx\n```\n".repeat(1_000), EXAMPLE].concat();
    assert_eq!(
        codes(&text).last().map(|(_, code)| code.lines().count()),
        Some(11)
    );
}

#[test]
fn bytes_parsed_for_examples_are_counted() {
    let work = |count: usize| {
        let mut document = MarkdownDocument::new();
        document.push(&"```md\nx\n```\n".repeat(count));
        document.finish();
        document.parsed_bytes()
    };
    let (few, many) = (work(500), work(4_000));
    assert!(many <= 9 * few, "{few} bytes for 500 examples, {many} for 4,000");
}
