//! Formulas of papers and answers with their MathML, and formulas that must not do any harm.
//!
//! After an intended change, `UPDATE_GOLDEN=1 make test-rust ARGS="math"` rewrites the expected MathML.

mod hostile;

use std::fs;
use std::path::PathBuf;

use fuzzing::properties;
use proptest::prelude::*;

use super::{MAX_ELEMENTS, MAX_FORMULA_BYTES, MathContent, MathElement, MathNode, parse};

/// The expected text of a formula that is shown as its source.
const SOURCE: &str = "source";

fn golden_file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/math/formulas.txt")
}

fn write(node: &MathNode, out: &mut String) {
    let name = node.element.name();
    out.push_str(&["<", name].concat());
    for (attribute, value) in &node.attributes {
        out.push_str(&format!(" {}=\"{value}\"", attribute.name()));
    }
    out.push('>');
    match &node.content {
        MathContent::Text(text) => out.push_str(&text.replace('&', "&amp;").replace('<', "&lt;")),
        MathContent::Children(children) => children.iter().for_each(|child| write(child, out)),
    }
    out.push_str(&["</", name, ">"].concat());
}

fn mathml(latex: &str, is_display: bool) -> String {
    match parse(latex, is_display) {
        Some(node) => {
            let mut out = String::new();
            write(&node, &mut out);
            out
        }
        None => SOURCE.to_owned(),
    }
}

/// Each formula has a line that begins with `$` or, for display, `$$`; its MathML stands in the next line.
#[test]
fn formulas_match_the_golden_file() {
    let golden = fs::read_to_string(golden_file()).expect("the fixture can be read");
    let formulas: Vec<&str> = golden.lines().filter(|line| line.starts_with('$')).collect();
    assert!(formulas.len() >= 200, "{}", formulas.len());
    let mut now = String::new();
    for line in &formulas {
        let (latex, is_display) = match line.strip_prefix("$$ ") {
            Some(latex) => (latex, true),
            None => (line.trim_start_matches("$ "), false),
        };
        now.push_str(&[line, "\n  ", &mathml(latex, is_display), "\n"].concat());
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(golden_file(), now).expect("the fixture can be written");
        return;
    }
    for (expected, now) in golden.lines().zip(now.lines()) {
        assert_eq!(now, expected, "UPDATE_GOLDEN=1 writes it anew");
    }
    assert_eq!(golden.lines().count(), now.lines().count());
}

#[test]
fn unknown_and_broken_formulas_have_no_tree() {
    for latex in [
        "\\unknowncommand{x}",
        "\\ce{H2O}",
        "\\frac{1}{",
        "x^2^3",
        "}",
        "{",
        "\\left( x",
        "\\begin{matrix} a",
        "\\href{javascript:alert(1)}{x}",
        "\\text{\\unknown}",
    ] {
        assert_eq!(parse(latex, false), None, "{latex}");
    }
}

#[test]
fn rejects_what_the_parser_cannot_bear() {
    // An index within a character.
    for index in [
        "\\charé",
        "\\char",
        "\\charé\\def\\char{x}",
        "\\DeclareMathOperator*{\\a}{\\charé}\\a",
        "f'^{\\charé}",
        "\\text{\\charé}",
    ] {
        assert_eq!(parse(index, false), None, "{index}");
    }
    for unit in [
        "\\frac",
        "\\frac1",
        "\\sqrt",
        "\\hat",
        "\\binom{a}",
        "\\overset a",
        "\\textcolor{red}",
        "\\not",
    ] {
        let chain = [&unit.repeat(400), "x"].concat();
        for formula in [
            chain.clone(),
            ["f'^{", &chain, "}"].concat(),
            ["\\DeclareMathOperator*{\\a}{", &chain, "}\\a"].concat(),
        ] {
            assert_eq!(parse(&formula, false), None, "{unit}");
        }
    }
    for (open, close) in [
        ("{", "}"),
        ("\\left(", "\\right)"),
        ("x^{", "}"),
        ("\\frac{1}{", "}"),
    ] {
        let deep = [&open.repeat(300), "x", &close.repeat(300)].concat();
        assert_eq!(parse(&deep, false), None, "{open}");
    }
    assert_eq!(parse("\\def\\a{\\a\\a}\\a", false), None);
    assert_eq!(parse(&"x".repeat(MAX_FORMULA_BYTES + 1), false), None);
}

#[test]
fn parses_a_long_formula() {
    let sum: Vec<String> = (0..150)
        .map(|index| format!("\\alpha_{{{index}}} x^{index}"))
        .collect();
    assert!(parse(&sum.join(" + "), true).is_some());
}

#[test]
fn lines_without_environment_are_aligned() {
    let first = |latex: &str| match parse(latex, true).expect("it is a formula").content {
        MathContent::Children(children) => children[0].element,
        MathContent::Text(_) => MathElement::Text,
    };
    assert_eq!(first("a &= b \\\\ c &= d"), MathElement::Table);
    assert_eq!(first("a = b \\\\ c = d"), MathElement::Table);
    assert_eq!(first("a = b"), MathElement::Identifier);
}

/// Pieces of LaTeX in every order.
fn latex_soup() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "\\frac",
        "\\sqrt",
        "\\left",
        "\\right",
        "\\middle",
        "\\begin",
        "\\end",
        "{matrix}",
        "{array}{c|c}",
        "{cases}",
        "{aligned}",
        "\\text{",
        "\\mathbb",
        "\\mathrm",
        "\\operatorname",
        "*",
        "\\hat",
        "\\overline",
        "\\sum",
        "\\int",
        "\\limits",
        "\\not",
        "\\color{red}",
        "\\textcolor{#00f}",
        "\\def\\a",
        "\\a",
        "#1",
        "\\newcommand{\\b}",
        "\\b",
        "\\hspace{1em}",
        "\\kern-3pt",
        "\\char",
        "\\def\\char",
        "\\DeclareMathOperator*{\\a}",
        "\\tag{1}",
        "\\label{a}",
        "\\phantom",
        "\\boxed",
        "\\ket",
        "\\over",
        "\\choose",
        "\\displaystyle",
        "\\substack",
        "\\hline",
        "\\big",
        "\\bigl(",
        "\\prime",
        "\\\\",
        "\\\\[2pt]",
        "\\{",
        "\\|",
        "\\,",
        "\\!",
        "\\",
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        "|",
        "&",
        "^",
        "_",
        "'",
        "''",
        "$",
        "%",
        "~",
        "<",
        ">",
        "x",
        "12",
        ".",
        "é",
        "漢",
        "\u{0}",
        " ",
        "\n",
    ];
    let piece = prop_oneof![
        12 => proptest::sample::select(PIECES).prop_map(str::to_owned),
        1 => "\\PC{1,3}".prop_map(|any| any),
    ];
    proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

properties! {
    2_000;

    #[test]
    fn never_panics(latex in latex_soup(), is_display in any::<bool>()) {
        if let Some(tree) = parse(&latex, is_display) {
            prop_assert!(tree.count() <= MAX_ELEMENTS);
        }
    }
}
