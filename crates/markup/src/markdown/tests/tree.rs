//! The trees of texts.

use super::super::{Alignment, Block, Inline, ListItem, parse, plain_text};

fn text(text: &str) -> Inline {
    Inline::Text(text.to_owned())
}

fn paragraph(words: &str) -> Block {
    Block::Paragraph(vec![text(words)])
}

#[test]
fn parses_list_start_tasks_and_tightness() {
    let item = |task, words| ListItem {
        task,
        blocks: vec![paragraph(words)],
    };
    assert_eq!(
        parse("3. a\n4. [x] b\n5. [ ] c"),
        [Block::List {
            start: Some(3),
            tight: true,
            items: vec![item(None, "a"), item(Some(true), "b"), item(Some(false), "c")],
        }]
    );
    let loose = Block::List {
        start: None,
        tight: false,
        items: vec![item(None, "a"), item(None, "b")],
    };
    assert_eq!(parse("- a\n\n- b"), [loose]);
}

/// Returns for each list if it is tight, in the order in which they begin.
fn tightness(blocks: &[Block]) -> Vec<bool> {
    let mut all = Vec::new();
    for block in blocks {
        if let Block::List { tight, items, .. } = block {
            all.push(*tight);
            all.extend(items.iter().flat_map(|item| tightness(&item.blocks)));
        }
        all.extend(block.children().into_iter().flat_map(|blocks| tightness(blocks)));
    }
    all
}

#[test]
fn blank_lines_make_lists_loose() {
    for content in [
        "a",
        "<br>",
        "# a",
        "***",
        "<p>",
        "```\na\n```",
        "    a",
        "> a",
        "+ a",
        "| a |\n|---|",
        "",
    ] {
        let item = content.replace('\n', "\n  ");
        for (text, count, tight) in [
            (format!("- {item}\n-\n"), 1, true),
            (format!("-\n- {item}\n"), 1, true),
            (format!("- {item}\n\n-\n"), 1, false),
            (format!("-\n\n- {item}\n"), 1, false),
            (format!("- {item}\n\nb\n"), 1, true),
            (format!("* # b\n- {item}\n\n* # c\n"), 3, true),
        ] {
            let blocks = parse(&text);
            let lists = blocks.iter().filter_map(|block| match block {
                Block::List { tight, .. } => Some(*tight),
                _ => None,
            });
            assert!(lists.eq(vec![tight; count]), "{text:?}");
        }
    }
}

#[test]
fn each_blank_line_belongs_to_one_list() {
    for (text, tight) in [
        // Between blocks of an item, of which one may be a link definition.
        ("- # a\n\n  # b\n", &[false][..]),
        ("- # a\n\n  [a]: /u\n", &[false]),
        ("- # a\n\n  [a]: /u", &[false]),
        ("- # a\n\n[a]: /u\n", &[true]),
        ("- [a]: /u\n- <br>\n", &[true]),
        // Nested lists.
        ("- - # a\n\n- # b\n", &[false, true]),
        ("- - # a\n\n  - # b\n- # c\n", &[true, false]),
        ("- # a\n\n\t- # b\n", &[false, true]),
        ("- # a\n\t- # b\n\n\t- # c\n", &[true, false]),
        ("- - # a\n\n    [a]: /u\n- # b\n", &[true, false]),
        ("- - # a\n\n  [a]: /u\n- # b\n", &[false, true]),
        // Quotes: a line with their marker is a part of them.
        ("- > # a\n  >\n- # b\n", &[true]),
        ("- > # a\n\n- # b\n", &[false]),
        ("- > - # a\n  >\n- # b\n", &[true, true]),
        ("> - # a\n>\n> - # b\n", &[false]),
        ("> - > # a\n>   >\n> - # b\n", &[true]),
        ("> - > # a\n>\n> - # b\n", &[false]),
        // Code in fences and HTML have blank lines of their own.
        ("- ```\n\n- a\n", &[true]),
        ("- <!--\n\n  -->\n- <br>\n", &[true]),
        ("-     a\n\n      b\n- # c\n", &[true]),
        ("- <br>\n  \n- <br>\n", &[false]),
        ("> - <br>\n>  \n> - <br>\n", &[false]),
        ("- <details>\n\n  a\n\n  </details>\n- <br>\n", &[false]),
    ] {
        assert_eq!(tightness(&parse(text)), tight, "{text:?}");
    }
}

#[test]
fn parses_table_alignments_and_fills_rows() {
    assert_eq!(
        parse("| a | b |\n|:-:|--:|\n| c |"),
        [Block::Table {
            alignments: vec![Alignment::Center, Alignment::Right],
            header: vec![vec![text("a")], vec![text("b")]],
            rows: vec![vec![vec![text("c")], vec![]]],
        }]
    );
}

#[test]
fn raw_html_is_text() {
    assert_eq!(parse("a <b>c</b>"), [paragraph("a <b>c</b>")]);
    assert_eq!(
        parse("<div>\n*a*\n</div>\n"),
        [Block::Html("<div>\n*a*\n</div>\n".into())]
    );
}

#[test]
fn bracketed_numbers_are_citations() {
    assert_eq!(
        parse("a[1], **b[12]** [1][2]"),
        [Block::Paragraph(vec![
            text("a"),
            Inline::Citation(1),
            text(", "),
            Inline::Strong(vec![text("b"), Inline::Citation(12)]),
            text(" "),
            Inline::Citation(1),
            Inline::Citation(2),
        ])]
    );
    for other in ["[01] [0] [123] [a] [1 ] [1", "[[x]]"] {
        assert_eq!(parse(other), [paragraph(other)]);
    }
    assert_eq!(
        parse("`[1]`"),
        [Block::Paragraph(vec![Inline::Code("[1]".into())])]
    );
    let link = |children: &[Block]| matches!(children, [Block::Paragraph(inlines)] if matches!(inlines[..], [Inline::Link { .. }]));
    assert!(link(&parse("[1](https://example.org)")));
    assert!(
        link(&parse("[a [1] b](https://example.org)")),
        "no link in a link"
    );
    assert_eq!(plain_text(&[text("a"), Inline::Citation(1)]), "a[1]");
}

#[test]
fn parses_footnotes() {
    assert_eq!(
        parse("a[^x]\n\n[^x]: b"),
        [
            Block::Paragraph(vec![text("a"), Inline::FootnoteReference("x".into())]),
            Block::Footnote {
                label: "x".into(),
                blocks: vec![paragraph("b")]
            },
        ]
    );
    assert_eq!(parse("a[^x]"), [paragraph("a[^x]")]);
}

#[test]
fn limits_nesting_depth() {
    fn depth(blocks: &[Block]) -> usize {
        let below = |block: &Block| match block {
            Block::Quote(blocks) | Block::Footnote { blocks, .. } => depth(blocks),
            Block::List { items, .. } => items.iter().map(|item| depth(&item.blocks)).max().unwrap_or(0),
            _ => 0,
        };
        1 + blocks.iter().map(below).max().unwrap_or(0)
    }
    for deep in [
        "> ".repeat(5_000) + "a",
        "- ".repeat(5_000) + "a",
        "> - ".repeat(5_000) + "a\n\nb",
    ] {
        let blocks = parse(&deep);
        assert!(depth(&blocks) <= 33);
        assert!(
            format!("{blocks:?}").contains("Text(\"a\")"),
            "the text is still there"
        );
    }
    let emphasis = "*a _b ".repeat(2_000) + &"_ *".repeat(2_000);
    assert!(!parse(&emphasis).is_empty());
}

#[test]
fn normalizes_line_ends_and_nul() {
    assert_eq!(
        parse("```\r\na\rb\r\n```"),
        [Block::Code {
            info: Some(String::new()),
            text: "a\nb\n".into()
        }]
    );
    assert_eq!(parse("a\0b"), [paragraph("a\u{fffd}b")]);
}
