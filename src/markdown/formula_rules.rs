//! The rules by which `$` and escaped brackets are a formula's: those of Pandoc, and some more against prices, shell
//! variables and brackets that were only escaped.

use super::formula::FormulaDelimiters;

/// Characters that hardly occur outside of LaTeX between two dollars.
const TEX_CHARACTERS: [char; 4] = ['\\', '^', '_', '{'];

/// Endings of a word that begins with a formula: `$n$th`, `$x$s`.
const SUFFIXES: [&str; 5] = ["th", "st", "nd", "rd", "s"];

/// True if `latex` between these delimiters is a formula. `before` and `after` are the texts around it.
pub(super) fn is_formula(delimiters: FormulaDelimiters, latex: &str, before: &str, after: &str) -> bool {
    if !latex.contains(|c: char| c.is_alphanumeric() || c == '?') {
        // `\(\)` and the like are escaped punctuation. An operator alone is written in dollars.
        return delimiters == FormulaDelimiters::Dollar && is_dollar_formula(latex, before, after);
    }
    match delimiters {
        FormulaDelimiters::Dollar => is_dollar_formula(latex, before, after),
        FormulaDelimiters::DoubleDollar | FormulaDelimiters::Parentheses => true,
        FormulaDelimiters::Brackets => {
            let is_words = latex.chars().all(|c| c.is_alphanumeric() || c == ' ');
            !is_words || latex.trim().chars().count() == 1 || is_alone_in_line(before, after)
        }
    }
}

/// True if `$` at this position may open a formula.
pub(super) fn can_open_dollar(after: &str) -> bool {
    !after.is_empty() && !after.starts_with(char::is_whitespace)
}

/// True if an unfinished text after `$` looks like a formula, and not like a price or a variable.
pub(super) fn looks_like_formula(latex: &str) -> bool {
    latex.contains(['\\', '^'])
}

fn is_dollar_formula(latex: &str, before: &str, after: &str) -> bool {
    let first = latex.chars().next().unwrap_or(' ');
    let next = after.chars().next().unwrap_or(' ');
    // Pandoc's rules.
    if first.is_whitespace() || latex.ends_with(char::is_whitespace) || next.is_ascii_digit() {
        return false;
    }
    // `$HOME/$USER`, `${a}/${b}`, `$(a)/$(b)`: what follows is a variable as well.
    let is_variable = |c: char| c.is_ascii_alphabetic() || c == '_';
    if next == first && "{(".contains(next) {
        return false;
    }
    let word_end = after
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(after.len());
    // `H$_2$O` is none.
    let begins_variable =
        is_variable(first) && !latex[1..].starts_with(|c: char| first == '_' && c.is_ascii_digit());
    if begins_variable && is_variable(next) && !SUFFIXES.contains(&&after[..word_end]) {
        return false;
    }
    if latex.contains(TEX_CHARACTERS) {
        return true;
    }
    // `US$5 or A$6`, `a$b$c`.
    let is_word = |c: char| c.is_ascii_alphanumeric();
    let is_suffix = SUFFIXES.contains(&&after[..word_end]);
    if before.ends_with(is_word) || (next.is_ascii_alphabetic() && !is_suffix) {
        return false;
    }
    !is_price(latex)
}

/// True for an amount of money with words after it, and for an amount before a dash.
fn is_price(latex: &str) -> bool {
    if !latex.starts_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let is_word = |word: &str| word.chars().count() > 1 && word.chars().all(char::is_alphabetic);
    latex.ends_with(['-', '–', '/', '(', ',']) || latex.split_whitespace().skip(1).any(is_word)
}

fn is_alone_in_line(before: &str, after: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let rest = after.split('\n').next().unwrap_or_default();
    let is_marker = |c: char| c.is_whitespace() || ">-*+".contains(c);
    line.chars().all(is_marker) && rest.trim().is_empty()
}
