use std::time::{Duration, Instant};

use fuzzing::properties;
use proptest::prelude::*;

use super::{MAX_EXPRESSION_BYTES, calculate};

fn value(expression: &str) -> String {
    match calculate(expression) {
        Ok(text) => text
            .strip_prefix(expression)
            .expect("the expression stands first")
            .trim()
            .to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn exact_results_stay_exact() {
    for (expression, expected) in [
        ("0.1 + 0.2", "= 0.3"),
        ("1/3*3", "= 1"),
        ("2^100", "= 1267650600228229401496703205376"),
        ("1.10 * 3", "= 3.3"),
        (".5 - 1", "= -0.5"),
        ("1e3 + 2.5e-3", "= 1000.0025"),
        ("2^-2", "= 0.25"),
        ("sqrt(0.25) + 16^0.5", "= 4.5"),
        ("round(2.5) + round(-2.5)", "= 0"),
        ("round(2.675, 2)", "= 2.68"),
        ("round(1234, -2)", "= 1200"),
        ("round(pi, 4)", "≈ 3.1416"),
        ("floor(64^(1/3))", "≈ 4"),
        ("floor(ln(1000)/ln(10))", "≈ 3"),
        ("ceil(1000^(1/3))", "≈ 10"),
        ("floor(-1.5) + ceil(-1.5)", "= -3"),
        ("min(3, 1, 2) + max(1/3, 0.3)*3", "= 2"),
        ("abs(-7)", "= 7"),
        ("1^1000000", "= 1"),
        ("0e999999999", "= 0"),
    ] {
        assert_eq!(value(expression), expected, "{expression}");
    }
}

#[test]
fn marks_rounded_results() {
    for (expression, expected) in [
        ("1/3", "≈ 0.333333333333333"),
        ("sqrt(2)", "≈ 1.4142135623731"),
        ("sqrt(2)^2", "≈ 2"),
        ("ln(e)", "≈ 1"),
        ("log10(1000)", "≈ 3"),
        ("exp(1)", "≈ 2.71828182845905"),
        ("sin(pi)", "≈ 0"),
        ("tan(pi/4)", "≈ 1"),
        ("10^400 / 3 / 10^390", "≈ 3333333333.33333"),
        ("1.5 * 10^300 * pi", "≈ 4.71238898038469e300"),
        ("exp(-30)", "≈ 9.35762296884017e-14"),
    ] {
        assert_eq!(value(expression), expected, "{expression}");
    }
}

#[test]
fn follows_operator_precedence() {
    for (expression, expected) in [
        ("1 + 2 * 3", "= 7"),
        ("(1 + 2) * 3", "= 9"),
        ("2 ^ 3 ^ 2", "= 512"),
        ("2 ** 3", "= 8"),
        ("-2^2", "= -4"),
        ("2 - 3 - 4", "= -5"),
        ("8 / 4 / 2", "= 1"),
        ("2 * -3", "= -6"),
        ("6 × 2 ÷ 3 − 1 · 4", "= 0"),
        ("7 % 3", "= 1"),
        ("-7 % 3", "= 2"),
        ("7.5 % (2)", "= 1.5"),
    ] {
        assert_eq!(value(expression), expected, "{expression}");
    }
}

#[test]
fn percentages_work_as_on_pocket_calculators() {
    for (expression, expected) in [
        ("15%", "= 0.15"),
        ("15% of 80", "= 12"),
        ("200 * 15%", "= 30"),
        ("200 + 15%", "= 230"),
        ("200 - 15%", "= 170"),
        ("200 + 15% + 10", "= 240"),
        ("10% + 5", "= 5.1"),
        ("(15%) + 1", "= 1.15"),
    ] {
        assert_eq!(value(expression), expected, "{expression}");
    }
}

#[test]
fn explains_invalid_expressions() {
    for (expression, part) in [
        ("", "ends where a number should follow"),
        ("1 +", "ends where a number should follow"),
        ("1,000 + 1", "without a separator"),
        ("max(1,200)", "without a separator"),
        ("3,14", "with a point"),
        ("1'000", "without a separator"),
        ("1 000", "without a separator"),
        ("1_000", "without a separator"),
        ("1.000.000", "without a separator"),
        ("5 km + 3 km", "not expected"),
        ("km", "no units"),
        ("2(3)", "between two numbers"),
        ("(1", "“)” is missing"),
        ("1)", "without its “(”"),
        ("log(10)", "ln(x)"),
        ("sinh(1)", "There is no function “sinh”"),
        ("sqrt(1, 2)", "wrong number of arguments"),
        ("1/0", "divides by zero"),
        ("5 % 0", "divides by zero"),
        ("0^-1", "divides by zero"),
        ("tan(pi/2)", "divides by zero"),
        ("sqrt(-1)", "not a real number"),
        ("(-8)^(1/3)", "not a real number"),
        ("ln(0)", "above zero"),
        ("round(1, 0.5)", "whole number of decimals"),
        ("1e999999999", "too large"),
        ("x = 3", "no units and no variables"),
        ("🦀", "not expected"),
    ] {
        let said = value(expression);
        assert!(said.contains(part), "{expression}: {said}");
    }
}

#[test]
fn evaluation_time_is_bounded() {
    let started = Instant::now();
    let brackets = "(".repeat(MAX_EXPRESSION_BYTES);
    let signs = "-".repeat(MAX_EXPRESSION_BYTES);
    let products = format!("9{}", "*9^300".repeat(160));
    let fractions = format!("1{}", "+1/7^11".repeat(140));
    for expression in [
        "9^9^9^9",
        "9^-9^9^9",
        "(1/3)^-1000000000",
        "2^2^2^2^2^2^2^2",
        "1e400 * 1e400",
        "9^999999999999999999",
        "round(9^9^9, 3)",
        &brackets,
        &signs,
        &products,
        &"9".repeat(2 * MAX_EXPRESSION_BYTES),
    ] {
        assert!(calculate(expression).is_err(), "{expression}");
    }
    assert!(calculate(&fractions).is_ok());
    // Far more than necessary, for a slow and busy machine.
    assert!(
        started.elapsed() < Duration::from_secs(5),
        "{:?}",
        started.elapsed()
    );
}

properties! {
    256;

    #[test]
    fn never_panics_on_any_text(expression in ".{0,60}") {
        let _ = calculate(&expression);
    }

    /// Mostly valid expressions.
    #[test]
    fn never_panics_on_random_expressions(
        tokens in prop::collection::vec(
            prop::sample::select(vec![
                "1", "0", "9", "2.5", "1e200", "1e-200", ".", ",", "+", "-", "*", "/", "%", "^", "(", ")", "pi", "e", "of", "sqrt(",
                "round(", "max(", "tan(", "ln(", "exp(", "floor(", " ",
            ]),
            0..40,
        )
    ) {
        let _ = calculate(&tokens.concat());
    }

    #[test]
    fn sums_of_cents_are_exact(a in -1_000_000_i64..1_000_000, b in -1_000_000_i64..1_000_000) {
        let cents = |n: i64| format!("({}{}.{:02})", if n < 0 { "-" } else { "" }, n.abs() / 100, n.abs() % 100);
        let sum = value(&format!("({} + {}) * 100", cents(a), cents(b)));
        prop_assert_eq!(sum, format!("= {}", a + b));
    }
}
