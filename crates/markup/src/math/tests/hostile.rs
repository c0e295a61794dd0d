//! Formulas that must neither exhaust the stack nor the page.

use super::super::{MAX_ELEMENTS, MAX_FORMULA_BYTES, MathNode, parse};

/// The stack of a thread in which no nesting may overflow: half of what the browser has.
const SMALL_STACK: usize = 512 << 10;

/// The stack of the server's threads. The parser's frames for chains of commands take 20 KiB in a debug build, and 1 KiB
/// in a release.
const THREAD_STACK: usize = 2 << 20;

fn parse_within(stack: usize, latex: String) -> Option<MathNode> {
    let thread = std::thread::Builder::new().stack_size(stack);
    let parsed = thread
        .spawn(move || parse(&latex, true))
        .map(|thread| thread.join());
    parsed
        .expect("threads can be started")
        .expect("it does not panic")
}

#[test]
fn deep_formulas_fit_a_small_stack() {
    for (open, close) in [
        ("{", "}"),
        ("\\ket{", "}"),
        ("\\bra{", "}"),
        ("\\braket{", "}"),
        ("\\left(", "\\right)"),
        ("x^{", "}"),
        ("\\frac{1}{", "}"),
        ("\\sqrt{", "}"),
        ("\\text{$", "$}"),
        ("\\mbox{$", "$}"),
        ("\\boxed{", "}"),
        ("\\textcolor{red}{", "}"),
        ("\\begin{matrix}", "\\end{matrix}"),
        ("{\\color{red}", "}"),
        ("\\displaystyle ", ""),
        ("\\color{red} ", ""),
        ("\\hat", ""),
        ("\\not", ""),
        ("'", ""),
        ("x'^", ""),
    ] {
        let most = MAX_FORMULA_BYTES / (open.len() + close.len()) - 1;
        for depth in [30, 60, 300, most] {
            let deep = [&open.repeat(depth), "x", &close.repeat(depth)].concat();
            let tree = parse_within(SMALL_STACK, deep);
            assert!(
                tree.is_none() || depth < 100 || close.is_empty(),
                "{depth} {open}"
            );
        }
    }
}

#[test]
fn nested_chemistry_is_shown_to_a_depth() {
    let scripts = |depth: usize| ["\\ce{A", &"^{B".repeat(depth), &"}".repeat(depth), "}"].concat();
    assert!(parse_within(THREAD_STACK, scripts(8)).is_some());
    assert_eq!(parse_within(THREAD_STACK, scripts(9)), None);

    for (open, close, depth) in [
        ("^{", "}", 2_700),
        ("_{", "}", 2_700),
        ("->[^{", "}]", 1_100),
        ("^{->[", "]}", 1_100),
    ] {
        let deep = ["\\ce{", &open.repeat(depth), "X", &close.repeat(depth), "}"].concat();
        assert!(deep.len() <= MAX_FORMULA_BYTES, "{open}");
        assert_eq!(parse_within(SMALL_STACK, deep), None, "{open}");
    }
}

#[test]
fn nested_kets_are_shown_to_a_depth() {
    let kets = |depth: usize| [&"\\ket{".repeat(depth), "x", &"}".repeat(depth)].concat();
    assert!(parse(&kets(3), false).is_some());
    assert_eq!(parse(&kets(100), false), None);
}

#[test]
fn macros_fit_a_small_stack() {
    let hats = "\\hat".repeat(40);
    let many = |name: &str, times: usize| ["\\", name].concat().repeat(times);
    for (definitions, use_of) in [
        (vec![("a", hats.clone())], many("a", 40)),
        (vec![("a", hats.clone()), ("b", many("a", 40))], many("b", 40)),
        (
            vec![("a", "\\frac1".repeat(40)), ("b", many("a", 40))],
            many("b", 40),
        ),
        (vec![("a", "{{{{{{{{{{".to_owned())], many("a", 40)),
        (vec![("a", "\\sqrt{x".to_owned())], many("a", 40)),
        (vec![("a", "\\a".to_owned())], many("a", 1)),
        (vec![("a", "\\hat\\a".to_owned())], many("a", 1)),
        (vec![("a", "x\\a".to_owned())], many("a", 1)),
        (
            vec![("a", "\\b\\b".to_owned()), ("b", "\\a\\a".to_owned())],
            many("a", 1),
        ),
    ] {
        let mut latex = String::new();
        for (name, body) in definitions {
            latex.push_str(&["\\def\\", name, "{", &body, "}"].concat());
        }
        latex.push_str(&[&use_of, " x"].concat());
        parse_within(THREAD_STACK, latex);
    }
    for latex in [
        ["\\def\\a#1{", &"#1".repeat(4_000), "}\\a\\hat x"].concat(),
        [
            "\\def\\a#1{",
            &"#1".repeat(40),
            "}\\def\\b#1{\\a{",
            &"#1".repeat(40),
            "}}\\b\\hat x",
        ]
        .concat(),
        [
            "\\def\\a#1{#1#1#1}\\def\\b#1{\\a{#1#1}}\\b{",
            &"\\hat".repeat(40),
            "}x",
        ]
        .concat(),
        ["\\def\\a{}".repeat(1_000), "x".to_owned()].concat(),
        ["\\let\\a\\b ".repeat(900), "x".to_owned()].concat(),
        ["\\newcommand{\\a}{}".repeat(400), "x".to_owned()].concat(),
        ["\\relax".repeat(1_000), "x".to_owned()].concat(),
        "{}".repeat(4_000),
        "x%\n".repeat(2_000),
        " ".repeat(8_000),
        "~".repeat(8_000),
        "\\,".repeat(4_000),
        "&".repeat(8_000),
        "\\\\".repeat(4_000),
        "x_y^z".repeat(1_600),
        "_".repeat(8_000),
        "\\over ".repeat(1_300),
        "{a\\over b}".repeat(700),
    ] {
        parse_within(THREAD_STACK, latex);
    }
}

#[test]
fn macros_with_parameters_are_expanded() {
    for (latex, expanded) in [
        (
            "\\newcommand{\\norm}[1]{\\lVert #1\\rVert_2}\\norm{x}+\\norm{y}",
            "\\lVert x\\rVert_2+\\lVert y\\rVert_2",
        ),
        (
            "\\def\\ip#1#2{\\langle #1,#2\\rangle}\\ip{u}{v}",
            "\\langle u,v\\rangle",
        ),
    ] {
        assert!(parse(latex, false).is_some(), "{latex}");
        assert_eq!(parse(latex, false), parse(expanded, false), "{latex}");
    }
}

#[test]
fn own_definitions_replace_the_known_commands() {
    for (latex, expanded) in [
        (
            "\\def\\norm#1{\\lVert #1\\rVert_2}\\norm{x}",
            "\\lVert x\\rVert_2",
        ),
        ("\\newcommand\\abs[1]{(#1)}\\abs{x}", "(x)"),
        ("\\newcommand{\\bm}[1]{\\mathbf{#1}}\\bm{x}", "\\mathbf{x}"),
        ("\\def\\strut{y}\\strut", "y"),
        (
            "\\DeclareMathOperator{\\argmax}{argmax}\\argmax_x",
            "\\operatorname{argmax}_x",
        ),
        (
            "\\DeclareMathOperator*{\\argmin}{arg\\,min}\\argmin_x",
            "\\mathop{arg\\,min}_x",
        ),
    ] {
        assert!(parse(latex, false).is_some(), "{latex}");
        assert_eq!(parse(latex, false), parse(expanded, false), "{latex}");
    }
}

#[test]
fn very_large_formulas_have_no_tree() {
    assert!(parse(&"x".repeat(MAX_ELEMENTS / 2), false).is_some());
    assert_eq!(parse(&"x".repeat(MAX_ELEMENTS + 1), false), None);
}

#[test]
fn elements_are_bounded_by_the_source() {
    let macros = |name: &str, padding: &str| {
        let uses = ["\\", name, "^1"].concat().repeat(50);
        ["\\def\\", name, "{", &"x".repeat(50), "}", &uses, padding].concat()
    };
    assert_eq!(parse(&macros("a", ""), false), None);
    assert_eq!(parse(&macros(&"a".repeat(100), &" ".repeat(2_000)), false), None);
    for latex in [
        "a'",
        "\\binom nk",
        "a \\pmod n",
        "\\R",
        "x \\iff y",
        "\\cfrac1{1+\\cfrac1x}",
        "\\,",
        "\\hspace{-2em}x",
    ] {
        let latex = ["\\def\\R{\\mathbb{R}}", latex].concat();
        assert!(parse(&latex, false).is_some(), "{latex}");
    }
}
