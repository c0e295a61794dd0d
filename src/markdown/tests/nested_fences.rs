//! Fences in an example of Markdown.

use super::super::{Block, parse};

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
