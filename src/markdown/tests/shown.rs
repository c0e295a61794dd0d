//! While a text arrives, what is shown of it does not flash its markup.

use super::super::{Block, Document, Inline};
use super::corpus;

/// Characters that are markup in some place.
const MARKERS: &str = "*_`~#[]()!|>-=<&;\\:^";

/// All text that the blocks show, without white space.
fn visible(blocks: &[Block]) -> String {
    let mut text = String::new();
    collect(blocks, &mut text);
    text.retain(|c| !c.is_whitespace());
    text
}

fn collect(blocks: &[Block], out: &mut String) {
    for block in blocks {
        match block {
            Block::Paragraph(inlines) | Block::Heading { inlines, .. } => collect_inlines(inlines, out),
            Block::Code { text, .. } | Block::Html(text) => out.push_str(text),
            Block::Quote(blocks) | Block::Footnote { blocks, .. } => collect(blocks, out),
            Block::List { items, .. } => items.iter().for_each(|item| collect(&item.blocks, out)),
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

fn shown_at_every_char(text: &str) -> Vec<(&str, String)> {
    let mut document = Document::new();
    let mut shown = Vec::new();
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        document.push(&text[at..end]);
        shown.push((&text[..end], visible(document.blocks())));
    }
    document.finish();
    shown.push((text, visible(document.blocks())));
    shown
}

#[test]
fn what_is_shown_is_always_a_prefix_of_what_will_be() {
    for (name, text) in corpus::ANSWERS {
        let shown = shown_at_every_char(text);
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
fn what_was_shown_stays() {
    for (name, text) in corpus::ANSWERS {
        for pair in shown_at_every_char(text).windows(2) {
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
fn no_marker_is_shown_more_often_than_in_the_end() {
    for (name, text) in corpus::ANSWERS
        .iter()
        .chain(corpus::ODDITIES)
        .filter(|(name, _)| !name.contains("never"))
    {
        if name.contains("definition") {
            // A link whose address comes later stands there as written until then.
            continue;
        }
        let shown = shown_at_every_char(text);
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
fn little_is_held_back() {
    for (name, text) in corpus::ANSWERS.iter().filter(|(name, _)| *name != "footnotes") {
        let mut document = Document::new();
        for line in text.split_inclusive("\n\n") {
            document.push(line);
            let shown = visible(document.blocks());
            let mut ended = document.blocks().to_vec();
            for patch in document.finish() {
                super::apply(&mut ended, &patch);
            }
            assert_eq!(shown, visible(&ended), "{name}: at the blank line after {line:?}");
        }
    }
}

fn shown(text: &str) -> Vec<Block> {
    let mut document = Document::new();
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
fn open_emphasis_is_emphasis() {
    assert_eq!(
        shown("a **bol"),
        paragraph(&[text("a "), Inline::Strong(vec![text("bol")])])
    );
    assert_eq!(shown("a **bol*"), shown("a **bol"));
    assert_eq!(
        shown("a *b **c"),
        paragraph(&[
            text("a "),
            Inline::Emphasis(vec![text("b "), Inline::Strong(vec![text("c")])])
        ])
    );
    assert_eq!(shown("~~a"), paragraph(&[Inline::Strikethrough(vec![text("a")])]));
    assert_eq!(
        shown("**a `b"),
        paragraph(&[Inline::Strong(vec![text("a "), Inline::Code("b".into())])])
    );
    assert_eq!(shown("**a `b"), shown("**a `b`"));
}

#[test]
fn an_open_link_is_its_text() {
    assert_eq!(
        shown("a [b *c*](http://d"),
        paragraph(&[text("a b "), Inline::Emphasis(vec![text("c")])])
    );
    assert_eq!(shown("a [b"), paragraph(&[text("a")]));
    assert_eq!(shown("a ![b](c"), paragraph(&[text("a b")]));
    assert_eq!(shown("a[^1"), paragraph(&[text("a")]));
}

#[test]
fn an_open_fence_is_code_at_once() {
    let code = |info: &str, text: &str| {
        vec![Block::Code {
            info: Some(info.to_owned()),
            text: text.to_owned(),
        }]
    };
    assert_eq!(shown("``"), []);
    assert_eq!(shown("```"), code("", ""));
    assert_eq!(shown("```ru"), code("", ""));
    assert_eq!(shown("```rust\n"), code("rust", ""));
    assert_eq!(shown("```rust\nlet"), code("rust", "let"));
    assert_eq!(shown("```rust\nlet\n``"), code("rust", "let\n"));
    assert_eq!(shown("```rust\nlet\n```"), code("rust", "let\n"));
}

#[test]
fn half_a_table_is_held_back() {
    for half in ["|", "| a", "| a | b |", "| a | b |\n", "| a | b |\n|--"] {
        assert_eq!(
            shown(&format!("text\n\n{half}")),
            paragraph(&[text("text")]),
            "{half:?}"
        );
    }
    let [_, Block::Table { header, rows, .. }] = &shown("text\n\n| a | b |\n|---|---|\n| c | **d")[..] else {
        panic!("no table");
    };
    assert_eq!(header.len(), 2);
    assert_eq!(
        rows[..],
        [vec![vec![text("c")], vec![Inline::Strong(vec![text("d")])]]]
    );
}

#[test]
fn a_footnote_counts_as_defined_until_the_end() {
    let mut document = Document::new();
    document.push("a[^1]\n\nb\n");
    assert_eq!(
        document.blocks()[0],
        Block::Paragraph(vec![text("a"), Inline::FootnoteReference("1".into())])
    );
    document.finish();
    assert_eq!(document.blocks()[0], Block::Paragraph(vec![text("a[^1]")]));
}

#[test]
fn the_end_shows_the_plain_truth() {
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
        let mut document = Document::new();
        document.push(open);
        document.finish();
        assert_eq!(document.blocks(), super::super::parse(open), "{open:?}");
    }
}
