//! Formulas: what is one, and what only looks like one.

use super::super::shows_as_code;
use super::super::{Block, Formula, FormulaDelimiters, Inline, MarkdownDocument, parse, plain_text};

fn inlines(text: &str) -> Vec<Inline> {
    match parse(text).into_iter().next() {
        Some(Block::Paragraph(inlines)) => inlines,
        other => panic!("{text:?} is {other:?}"),
    }
}

fn formulas(text: &str) -> Vec<String> {
    let formula = |inline: &Inline| match inline {
        Inline::Formula(formula) => Some(formula.latex.clone()),
        _ => None,
    };
    inlines(text).iter().filter_map(formula).collect()
}

#[test]
fn reads_all_delimiters() {
    for (text, delimiters, latex) in [
        ("$x$", FormulaDelimiters::Dollar, "x"),
        ("$$ x $$", FormulaDelimiters::DoubleDollar, " x "),
        ("\\(x\\)", FormulaDelimiters::Parentheses, "x"),
        ("\\[ x \\]", FormulaDelimiters::Brackets, " x "),
        ("$$\na\n= b\n$$", FormulaDelimiters::DoubleDollar, "\na\n= b\n"),
    ] {
        let formula = Formula {
            delimiters,
            latex: latex.to_owned(),
            is_open: false,
        };
        assert_eq!(formula.source(), text);
        assert_eq!(inlines(text), [Inline::Formula(formula)], "{text:?}");
    }
}

#[test]
fn environments_need_no_dollars() {
    for (text, latex) in [
        ("\\begin{equation}\nE = mc^2\n\\end{equation}", "\nE = mc^2\n"),
        (
            "\\begin{align*}\na &= b \\\\\nc &= d\n\\end{align*}",
            "\na &= b \\\\\nc &= d\n",
        ),
        ("so \\begin{gather} a_1*b_1*c \\end{gather} is", " a_1*b_1*c "),
        (
            "\\begin{align}\n+ a \\\\\n\n- b &= c\n\\end{align}",
            "\n+ a \\\\\n\n- b &= c\n",
        ),
    ] {
        assert_eq!(formulas(text), [latex], "{text}");
    }
    for text in [
        "\\begin{equation} without an end",
        "\\begin{equation} … \\end{equation}",
        "`\\begin{align}` x `\\end{align}`",
        "\\begin{itemize} x \\end{itemize}",
        "\\begin{align} x \\end{align*}",
    ] {
        assert_eq!(formulas(text), [""; 0], "{text}");
    }
    let mut document = MarkdownDocument::new();
    document.push("so \\begin{equa");
    assert_eq!(
        document.blocks(),
        [Block::Paragraph(vec![Inline::Text("so".into())])]
    );
}

#[test]
fn keeps_what_markdown_would_take() {
    for latex in [
        "1.22\\,\\lambda",
        "a_1 + b_1",
        "a*b*c",
        "\\{x\\}",
        "a \\\\ b",
        "x < y > z",
        "[a](b)",
        "&amp;",
        "`a",
        "\\text{a~~b~~c}",
        "|x|",
    ] {
        assert_eq!(
            formulas(&["so \\(", latex, "\\) is"].concat()),
            [latex],
            "{latex}"
        );
    }
    for line in [
        "+ c",
        "- d",
        "= e",
        "# f",
        "> g",
        "1. h",
        "* i",
        "--- j",
        "| k | l |",
        "\\\\[2pt] m",
        "    n",
    ] {
        let latex = ["a\n", line, "\nb"].concat();
        let text = ["\\[", &latex, "\\]"].concat();
        let found = formulas(&text);
        assert_eq!(found.concat().replace(' ', ""), latex.replace(' ', ""), "{line}");
    }
}

#[test]
fn stands_in_every_block() {
    let everywhere = "# $a^2$\n\n- $b^2$\n  $$\n  + c\n  $$\n\n> \\[\n> - d\n> \\]\n\n| $e^2$ |\n|---|\n| **$f^2$** |\n\n[$g^2$](https://a.b)\n";
    let tree = format!("{:?}", parse(everywhere));
    for latex in ["a^2", "b^2", "\\n+ c\\n", "\\n- d\\n", "e^2", "f^2", "g^2"] {
        assert!(
            tree.contains(&format!("latex: \"{latex}\"")),
            "{latex:?} in {tree}"
        );
    }
}

#[test]
fn prices_and_variables_stay() {
    for text in [
        "$5 and $10",
        "It costs $5, or $10/month.",
        "from $5-$10",
        "from US$5 to A$6",
        "a $5 bill and a 10$ bill",
        "($5)/($6)",
        "$20M–$30M",
        "Set $HOME and $PATH",
        "$HOME/$USER",
        "${a}/${b} and $(c)/$(d)",
        "$A_B/$C_D",
        "$ 5 $ and $ 6",
        "\\$x\\$",
        "a $ b",
        "$$$x$$$",
        "\\(\\) and \\[\\]",
        "\\[sic\\] and \\[a b\\]",
    ] {
        assert_eq!(formulas(text), Vec::<String>::new(), "{text}");
    }
    assert_eq!(plain_text(&inlines("\\(a")), "(a");
}

/// Texts of documents and answers, below each the formulas in it.
#[test]
fn texts_have_the_expected_formulas() {
    let cases = include_str!("../../../../../tests/fixtures/math/texts.txt");
    let mut count = 0;
    for case in cases.split("\n====\n") {
        let (text, expected) = case.split_once("\n----").unwrap_or((case, ""));
        let mut sources = Vec::new();
        collect_sources(&parse(text), &mut sources);
        let sources: Vec<_> = sources.iter().map(|source| source.replace('\n', "⏎")).collect();
        assert_eq!(
            sources,
            expected.split_terminator('\n').skip(1).collect::<Vec<_>>(),
            "{text}"
        );
        count += 1;
    }
    assert!(count > 210, "{count}");
}

/// Collects the formulas of headings, paragraphs, lists, tables and containers.
fn collect_sources(blocks: &[Block], sources: &mut Vec<String>) {
    for block in blocks {
        match block {
            Block::Paragraph(inlines) | Block::Heading { inlines, .. } => {
                collect_inline_sources(inlines, sources)
            }
            Block::List { items, .. } => items
                .iter()
                .for_each(|item| collect_sources(&item.blocks, sources)),
            Block::Table { header, rows, .. } => {
                let cells = header.iter().chain(rows.iter().flatten());
                cells.for_each(|cell| collect_inline_sources(cell, sources));
            }
            block => collect_sources(block.children().map_or(&[], |blocks| blocks), sources),
        }
    }
}

fn collect_inline_sources(inlines: &[Inline], sources: &mut Vec<String>) {
    for inline in inlines {
        match inline {
            Inline::Formula(formula) => sources.push(formula.source()),
            Inline::Emphasis(children)
            | Inline::Strong(children)
            | Inline::Strikethrough(children)
            | Inline::Markup { children, .. }
            | Inline::Link { children, .. } => collect_inline_sources(children, sources),
            _ => {}
        }
    }
}

#[test]
fn words_may_touch_a_formula() {
    for (text, latex) in [
        ("the $n$th", "n"),
        ("$k$-means", "k"),
        ("($x$)", "x"),
        ("H$_2$O", "_2"),
        ("2$\\pi$", "\\pi"),
        ("10$^{-3}$", "^{-3}"),
        ("设$x$为", "x"),
        ("$+$", "+"),
        ("$5$", "5"),
        ("costs $5 but $x^2$", "x^2"),
    ] {
        assert_eq!(formulas(text), [latex], "{text}");
    }
}

#[test]
fn code_and_urls_stay() {
    assert_eq!(formulas("`$a$` and `$b` or `c$`"), Vec::<String>::new());
    assert_eq!(plain_text(&inlines("`\\(a\\)`")), "\\(a\\)");
    assert_eq!(
        parse("```sh\necho $$\n$$\n```"),
        [Block::Code {
            info: Some("sh".into()),
            text: "echo $$\n$$\n".into()
        }]
    );
    assert_eq!(
        parse("    \\[ a \\]"),
        [Block::Code {
            info: None,
            text: "\\[ a \\]".into()
        }]
    );
    let url = "https://a.b/$x_1$/c";
    assert!(format!("{:?}", parse(&["[d](", url, ")"].concat())).contains(url));
}

#[test]
fn masked_backticks_open_no_fence() {
    for (text, is_code) in [
        ("```$$`$$\nafter", false),
        ("> - ````$a$ $$*em* `$$\n>   after", false),
        ("``$$`$$\nafter", false),
        ("```$a$\nafter", true),
    ] {
        assert_eq!(shows_as_code(&parse(text), "after"), is_code, "{text:?}");
    }
}

#[test]
fn a_blank_line_ends_an_open_formula() {
    let tree = parse("\\[ a\n- b\n\nand so on\n\n\\]");
    assert!(
        matches!(&tree[..], [Block::Paragraph(_), Block::List { .. }, ..]),
        "{tree:?}"
    );
}

fn shown(text: &str) -> Vec<Inline> {
    let mut document = MarkdownDocument::new();
    document.push(text);
    match document.blocks() {
        [Block::Paragraph(inlines)] => inlines.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn shows_an_open_formula_as_source() {
    for (text, latex) in [
        ("so $$\\frac{a*b", "\\frac{a*b"),
        ("so \\(a_", "a_"),
        ("so $x^2_", "x^2_"),
    ] {
        match &shown(text)[..] {
            [Inline::Text(before), Inline::Formula(formula)] => {
                assert_eq!((before.as_str(), formula.latex.as_str()), ("so ", latex));
                assert!(formula.is_open);
            }
            other => panic!("{text}: {other:?}"),
        }
    }
    assert_eq!(shown("so $"), [Inline::Text("so".into())]);
    assert_eq!(shown("so $5 an"), [Inline::Text("so $5 an".into())]);
}
