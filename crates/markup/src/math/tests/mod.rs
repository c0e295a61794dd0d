//! Formulas of papers and answers with their MathML, and formulas that must not do any harm.
//!
//! After an intended change, `UPDATE_GOLDEN=1 make test-rust ARGS="math"` rewrites the expected MathML.

mod font;
mod hostile;

use std::fs;
use std::path::PathBuf;

use fuzzing::properties;
use proptest::prelude::*;

use super::{MAX_ELEMENTS, MAX_FORMULA_BYTES, MathContent, MathElement, MathNode, parse};

/// The expected text of a formula that is shown as its source.
const SOURCE: &str = "source";

fn golden_file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/math/formulas.txt")
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
        "\\ce{H2O & x}",
        "\\ce{",
        "\\SI{1}{\\unknownunit}",
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
fn middle_is_as_high_as_its_delimiters() {
    let sized = |latex: &str| format!("{:?}", parse(latex, true)).matches("MaxSize").count();
    assert_eq!(sized(r"\left\langle \frac{a}{b} \middle| g \right\rangle"), 0);
    assert_eq!(sized(r"a \big| b"), 1);
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

#[test]
fn chemistry_and_units_have_a_tree() {
    let text = |latex: &str| {
        fn write(node: &MathNode, out: &mut String) {
            let script = match node.element {
                MathElement::Subscript => "_",
                MathElement::Superscript => "^",
                MathElement::SubSuperscript => "_^",
                MathElement::Fraction => "/",
                _ => "",
            };
            out.push_str(script);
            match &node.content {
                MathContent::Text(text) => out.push_str(text),
                MathContent::Children(children) => children.iter().for_each(|child| write(child, out)),
            }
        }
        let mut out = String::new();
        write(
            &parse(latex, false).unwrap_or_else(|| panic!("{latex} has no tree")),
            &mut out,
        );
        out.replace('\u{a0}', " ")
    };
    for (latex, expected) in [
        ("\\ce{2H2 + O2 -> 2H2O}", "2_H2+_O2⟶2_H2O"),
        ("\\ce{CO2}", "_CO2"),
        ("\\ce{SO4^2-}", "_^SO42-"),
        ("\\ce{NH4+}", "_^NH4+"),
        ("\\ce{Na+ + Cl- -> NaCl v}", "^Na++^Cl-⟶NaCl↓"),
        ("\\ce{[AgCl2]-}", "[_AgCl2^]-"),
        ("\\ce{^{227}_{90}Th}", "_^90227Th"),
        ("\\ce{N2 + 3H2 <=>[Fe][\\Delta T] 2NH3}", "_N2+3_H2⇌FeΔT2_NH3"),
        ("\\ce{CuSO4 * 5H2O}", "_CuSO4⋅5_H2O"),
        ("\\ce{CH3-CH=CH2}", "_CH3-CH=_CH2"),
        ("\\ce{HC#CH}", "HC≡CH"),
        ("\\ce{1/2 O2 (g)}", "/12_O2(g)"),
        ("\\ce{Ca(OH)2 (aq)}", "Ca(OH_)2(aq)"),
        ("\\ce{A ->[catalyst] B}", "A⟶catalystB"),
        ("\\ce{Fe^{III}}", "^FeIII"),
        ("\\ce{$n$ H2O}", "n_H2O"),
        ("\\pu{5 mol}", "5mol"),
        ("\\pu{1.2e3 kJ/mol}", "1.2×^103kJ/mol"),
        ("\\pu{20 kJ*mol-1}", "20kJ⋅^mol-1"),
        ("\\SI{1}{\\kilo\\gram}", "1kg"),
        ("\\SI{9.81}{\\metre\\per\\second\\squared}", "9.81m^s-2"),
        ("\\qty{5}{km/h}", "5km/h"),
        ("\\si{\\micro\\ohm}", "µΩ"),
        ("\\num{1.5e-3}", "1.5×^10-3"),
        ("\\SI[per-mode=fraction]{20}{\\percent}", "20%"),
        ("\\unit{\\square\\metre}", "^m2"),
        ("\\qty(x)", "(x)"),
        ("\\dv{x}", "/ddx"),
        ("\\pdv[2]{f}{x}", "/^∂2f∂^x2"),
        ("\\href{https://example.org}{x}", "x"),
        ("\\mathchoice{a}{b}{c}{d}", "a"),
    ] {
        assert_eq!(text(latex).replace('−', "-"), expected, "{latex}");
    }
}

/// Fragments of LaTeX in every order.
fn latex_soup() -> impl Strategy<Value = String> {
    const FRAGMENTS: &[&str] = &[
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
        "\\ce{",
        "\\pu{",
        "\\SI{",
        "\\kilo",
        "\\per",
        "->",
        "<=>[",
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
    let fragment = prop_oneof![
        12 => proptest::sample::select(FRAGMENTS).prop_map(str::to_owned),
        1 => "\\PC{1,3}".prop_map(|any| any),
    ];
    proptest::collection::vec(fragment, 0..30).prop_map(|fragments| fragments.concat())
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
