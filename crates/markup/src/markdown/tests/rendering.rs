//! While a text arrives, its markup does not flash on the screen.

use super::super::{Block, Inline, MarkdownDocument};
use super::corpus;

/// Characters that can be markup.
const MARKERS: &str = "*_`~#[]()!|>-=<&;\\:^";

/// All text that the blocks show, without whitespace.
fn visible_text(blocks: &[Block]) -> String {
    let mut text = String::new();
    collect_blocks(blocks, &mut text);
    text.retain(|c| !c.is_whitespace());
    text
}

fn collect_blocks(blocks: &[Block], out: &mut String) {
    for block in blocks {
        match block {
            Block::Paragraph(inlines) | Block::Heading { inlines, .. } => collect_inlines(inlines, out),
            Block::Code { text, .. } | Block::Html(text) => out.push_str(text),
            Block::Quote(blocks) | Block::Alert { blocks, .. } | Block::Footnote { blocks, .. } => {
                collect_blocks(blocks, out)
            }
            Block::Details { summary, blocks } => {
                collect_inlines(summary, out);
                collect_blocks(blocks, out);
            }
            Block::List { items, .. } => items.iter().for_each(|item| collect_blocks(&item.blocks, out)),
            Block::Table { header, rows, .. } => {
                std::iter::once(header)
                    .chain(rows)
                    .flatten()
                    .for_each(|cell| collect_inlines(cell, out));
            }
            Block::Rule => {}
        }
    }
}

fn collect_inlines(inlines: &[Inline], out: &mut String) {
    out.push_str(&super::super::plain_text(inlines));
}

fn visible_at_every_char(text: &str) -> Vec<(&str, String)> {
    let mut document = MarkdownDocument::new();
    let mut shown = Vec::new();
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        document.push(&text[at..end]);
        shown.push((&text[..end], visible_text(document.blocks())));
    }
    document.finish();
    shown.push((text, visible_text(document.blocks())));
    shown
}

#[test]
fn visible_text_is_a_prefix_of_later_text() {
    for (name, text) in corpus::ANSWERS {
        let shown = visible_at_every_char(text);
        let (_, last) = &shown[shown.len() - 1];
        for (so_far, shown) in &shown {
            assert!(
                last.starts_with(shown.as_str()),
                "{name}: after {so_far:?} it shows {shown:?}"
            );
        }
    }
}

#[test]
fn visible_text_stays() {
    for (name, text) in corpus::ANSWERS {
        for pair in visible_at_every_char(text).windows(2) {
            let [(_, before), (so_far, after)] = pair else {
                unreachable!()
            };
            assert!(
                after.starts_with(before.as_str()),
                "{name}: after {so_far:?}, {before:?} became {after:?}"
            );
        }
    }
}

#[test]
fn markers_do_not_flash() {
    for (name, text) in corpus::ANSWERS
        .iter()
        .chain(corpus::EDGE_CASES)
        .filter(|(name, _)| !name.contains("never"))
    {
        if name.contains("definition") {
            // A link whose URL comes later is shown as written until then.
            continue;
        }
        let shown = visible_at_every_char(text);
        let (_, last) = &shown[shown.len() - 1];
        for marker in MARKERS.chars() {
            let count = |text: &str| text.matches(marker).count();
            for (so_far, shown) in &shown {
                assert!(
                    count(shown) <= count(last),
                    "{name}: after {so_far:?} it shows {shown:?}"
                );
            }
        }
    }
}

#[test]
fn holds_back_little() {
    // What is known only at the end: a footnote's text, the end of an element.
    let known_late = ["footnotes", "details"];
    for (name, text) in corpus::ANSWERS
        .iter()
        .filter(|(name, _)| !known_late.contains(name))
    {
        let mut document = MarkdownDocument::new();
        for line in text.split_inclusive("\n\n") {
            document.push(line);
            let shown = visible_text(document.blocks());
            let mut ended = document.blocks().to_vec();
            for patch in document.finish() {
                super::apply(&mut ended, &patch);
            }
            assert_eq!(
                shown,
                visible_text(&ended),
                "{name}: at the blank line after {line:?}"
            );
        }
    }
}

fn rendered_blocks(text: &str) -> Vec<Block> {
    let mut document = MarkdownDocument::new();
    document.push(text);
    document.blocks().to_vec()
}

fn text(text: &str) -> Inline {
    Inline::Text(text.to_owned())
}

fn paragraph(inlines: &[Inline]) -> Vec<Block> {
    vec![Block::Paragraph(inlines.to_vec())]
}

#[test]
fn renders_open_emphasis() {
    assert_eq!(
        rendered_blocks("a **bol"),
        paragraph(&[text("a "), Inline::Strong(vec![text("bol")])])
    );
    assert_eq!(rendered_blocks("a **bol*"), rendered_blocks("a **bol"));
    assert_eq!(
        rendered_blocks("a *b **c"),
        paragraph(&[
            text("a "),
            Inline::Emphasis(vec![text("b "), Inline::Strong(vec![text("c")])])
        ])
    );
    assert_eq!(
        rendered_blocks("~~a"),
        paragraph(&[Inline::Strikethrough(vec![text("a")])])
    );
    assert_eq!(
        rendered_blocks("**a `b"),
        paragraph(&[Inline::Strong(vec![text("a "), Inline::Code("b".into())])])
    );
    assert_eq!(rendered_blocks("**a `b"), rendered_blocks("**a `b`"));
}

#[test]
fn renders_an_open_link_as_text() {
    assert_eq!(
        rendered_blocks("a [b *c*](http://d"),
        paragraph(&[text("a b "), Inline::Emphasis(vec![text("c")])])
    );
    assert_eq!(rendered_blocks("a [b"), paragraph(&[text("a")]));
    assert_eq!(rendered_blocks("a ![b](c"), paragraph(&[text("a b")]));
    assert_eq!(rendered_blocks("a[^1"), paragraph(&[text("a")]));
}

#[test]
fn renders_an_open_fence_as_code() {
    let code = |info: &str, text: &str| {
        vec![Block::Code {
            info: Some(info.to_owned()),
            text: text.to_owned(),
        }]
    };
    assert_eq!(rendered_blocks("``"), []);
    assert_eq!(rendered_blocks("```"), code("", ""));
    assert_eq!(rendered_blocks("```ru"), code("", ""));
    assert_eq!(rendered_blocks("```rust\n"), code("rust", ""));
    assert_eq!(rendered_blocks("```rust\nlet"), code("rust", "let"));
    assert_eq!(rendered_blocks("```rust\nlet\n``"), code("rust", "let\n"));
    assert_eq!(rendered_blocks("```rust\nlet\n```"), code("rust", "let\n"));
}

#[test]
fn holds_back_an_incomplete_table() {
    for half in ["|", "| a", "| a | b |", "| a | b |\n", "| a | b |\n|--"] {
        assert_eq!(
            rendered_blocks(&format!("text\n\n{half}")),
            paragraph(&[text("text")]),
            "{half:?}"
        );
    }
    let [_, Block::Table { header, rows, .. }] =
        &rendered_blocks("text\n\n| a | b |\n|---|---|\n| c | **d** |\n| e | f")[..]
    else {
        panic!("no table");
    };
    assert_eq!(header.len(), 2);
    assert_eq!(
        rows[..],
        [vec![vec![text("c")], vec![Inline::Strong(vec![text("d")])]]]
    );
}

#[test]
fn assumes_footnotes_until_the_end() {
    let mut document = MarkdownDocument::new();
    document.push("a[^1]\n\nb\n");
    assert_eq!(
        document.blocks()[0],
        Block::Paragraph(vec![text("a"), Inline::FootnoteReference("1".into())])
    );
    document.finish();
    assert_eq!(document.blocks()[0], Block::Paragraph(vec![text("a[^1]")]));
}

#[test]
fn finish_renders_the_final_reading() {
    for open in [
        "**a",
        "a `b",
        "[a](b",
        "| a | b |",
        "a\n--",
        "&am",
        "1.",
        "a [",
        "a\\",
        "<http://a",
    ] {
        let mut document = MarkdownDocument::new();
        document.push(open);
        document.finish();
        assert_eq!(document.blocks(), super::super::parse(open), "{open:?}");
    }
}
