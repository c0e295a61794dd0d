//! The few HTML tags with a meaning, and alerts.

use super::super::{AlertKind, Block, Inline, MarkdownDocument, Markup, parse};

fn text(text: &str) -> Inline {
    Inline::Text(text.to_owned())
}

fn paragraph(inlines: &[Inline]) -> Block {
    Block::Paragraph(inlines.to_vec())
}

fn markup(markup: Markup, children: &[Inline]) -> Inline {
    Inline::Markup {
        markup,
        children: children.to_vec(),
    }
}

#[test]
fn tags_become_elements() {
    assert_eq!(
        parse("H<sub>2</sub>O <KBD class=\"x\" onclick=y>A</kbd> <mark>*b*</mark>x<sup>2</sup>"),
        [paragraph(&[
            text("H"),
            markup(Markup::Subscript, &[text("2")]),
            text("O "),
            markup(Markup::Keyboard, &[text("A")]),
            text(" "),
            markup(Markup::Highlight, &[Inline::Emphasis(vec![text("b")])]),
            text("x"),
            markup(Markup::Superscript, &[text("2")]),
        ])]
    );
}

#[test]
fn breaks_stand_in_cells_and_lines() {
    let broken = vec![text("a"), Inline::HardBreak, text("b")];
    assert_eq!(parse("a<br>b"), [Block::Paragraph(broken.clone())]);
    assert_eq!(parse("a<br />b"), [Block::Paragraph(broken.clone())]);
    let [Block::Table { rows, .. }] = &parse("| x |\n|---|\n| a<br/>b |")[..] else {
        panic!("no table")
    };
    assert_eq!(rows[..], [vec![broken]]);
    assert_eq!(parse("<br>\n"), [paragraph(&[Inline::HardBreak])]);
}

#[test]
fn unpaired_tags_are_text() {
    assert_eq!(parse("a <sub>b"), [paragraph(&[text("a <sub>b")])]);
    assert_eq!(parse("a </sub>b"), [paragraph(&[text("a </sub>b")])]);
    assert_eq!(
        parse("**a <sub>b** c</sub> d\n\ne"),
        [
            paragraph(&[Inline::Strong(vec![text("a <sub>b")]), text(" c</sub> d")]),
            paragraph(&[text("e")]),
        ]
    );
    let [Block::List { items, .. }] = &parse("- a <kbd>b\n  - c")[..] else {
        panic!("no list")
    };
    let [first, Block::List { items: nested, .. }] = &items[0].blocks[..] else {
        panic!("{:?}", items[0].blocks)
    };
    assert_eq!(*first, paragraph(&[text("a <kbd>b")]));
    assert_eq!(nested[0].blocks, [paragraph(&[text("c")])]);
    assert_eq!(
        parse("<details>\n<summary>a</summary>\n\nb"),
        [
            Block::Html("<details>\n<summary>a</summary>\n".into()),
            paragraph(&[text("b")]),
        ]
    );
}

#[test]
fn an_open_tag_is_shown_closed() {
    let mut document = MarkdownDocument::new();
    document.push("a<sub>2");
    assert_eq!(
        document.blocks(),
        [paragraph(&[text("a"), markup(Markup::Subscript, &[text("2")])])]
    );
    document.push("\n\nb");
    document.finish();
    assert_eq!(document.blocks(), parse("a<sub>2\n\nb"));
}

#[test]
fn details_enclose_blocks() {
    let details = |summary: &str, blocks: Vec<Block>| Block::Details {
        summary: if summary.is_empty() {
            Vec::new()
        } else {
            vec![text(summary)]
        },
        blocks,
    };
    assert_eq!(
        parse("<details open>\n<summary><b>a</b></summary>\n\nb\n\n</details>\n<details>c</details>\n\nd"),
        [
            details("a", vec![paragraph(&[text("b")])]),
            details("", vec![paragraph(&[text("c")])]),
            paragraph(&[text("d")]),
        ]
    );
    let nested =
        "> <details>\n> <summary>a</summary>\n>\n> <details>\n>\n> b\n>\n> </details>\n>\n> </details>\n";
    assert_eq!(
        parse(nested),
        [Block::Quote(vec![details(
            "a",
            vec![details("", vec![paragraph(&[text("b")])])]
        )])]
    );
}

#[test]
fn open_details_show_their_content() {
    let mut document = MarkdownDocument::new();
    document.push("<details>\n<summary>a</summary>\n\nb");
    assert_eq!(
        document.blocks(),
        [Block::Details {
            summary: vec![text("a")],
            blocks: vec![paragraph(&[text("b")])],
        }]
    );
}

#[test]
fn alerts_have_a_kind() {
    for (name, kind) in [
        ("NOTE", AlertKind::Note),
        ("TIP", AlertKind::Tip),
        ("IMPORTANT", AlertKind::Important),
        ("WARNING", AlertKind::Warning),
        ("CAUTION", AlertKind::Caution),
    ] {
        let source = ["> [!", name, "]\n> a\n"].concat();
        let blocks = vec![paragraph(&[text("a")])];
        assert_eq!(parse(&source), [Block::Alert { kind, blocks }]);
    }
    assert!(matches!(parse("> [!OTHER]\n> a")[..], [Block::Quote(_)]));
}
