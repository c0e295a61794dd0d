//! The rules by which `$` and escaped brackets are a formula's: those of Pandoc, and some more against prices, shell
//! variables and brackets that were only escaped.

use super::formula::FormulaDelimiters;

/// Characters that hardly occur outside of LaTeX between two dollars.
const TEX_CHARACTERS: [char; 4] = ['\\', '^', '_', '{'];

/// Endings of a word that begins with a formula: `$n$th`, `$x$s`.
const SUFFIXES: [&str; 5] = ["th", "st", "nd", "rd", "s"];

/// Returns true if `latex` between these delimiters is a formula. `before` and `after` are the texts around it.
pub(super) fn is_formula(delimiters: FormulaDelimiters, latex: &str, before: &str, after: &str) -> bool {
    if !latex.contains(|c: char| c.is_alphanumeric() || c == '?') {
        // `\(\)` and the like are escaped punctuation. An operator alone is written in dollars.
        return delimiters == FormulaDelimiters::Dollar && is_dollar_formula(latex, before, after);
    }
    match delimiters {
        FormulaDelimiters::Dollar if latex.starts_with(' ') => is_spaced_formula(latex, before, after),
        FormulaDelimiters::Dollar => is_dollar_formula(latex, before, after),
        // `$$` may also mean a price level.
        FormulaDelimiters::DoubleDollar => {
            latex.contains(TEX_CHARACTERS) || !has_prose_word(latex) || is_alone_in_line(before, after)
        }
        FormulaDelimiters::Parentheses => !is_prose(latex),
        FormulaDelimiters::Environment(_) => true,
        FormulaDelimiters::Brackets => {
            let is_words = latex.chars().all(|c| c.is_alphanumeric() || " ,".contains(c));
            let is_letter = latex.trim().chars().count() == 1 && latex.contains(char::is_alphabetic);
            !is_prose(latex) && (!is_words || is_letter || is_alone_in_line(before, after))
        }
    }
}

/// Returns true if `$` at this position may open a formula.
pub(super) fn can_open_dollar(after: &str) -> bool {
    let text = after.strip_prefix(' ').unwrap_or(after);
    !text.starts_with(char::is_whitespace) && !text.is_empty()
}

/// Returns true if a formula that has a blank line continues with this line after it.
pub(super) fn continues_formula(line: &str, delimiters: FormulaDelimiters) -> bool {
    line.contains(TEX_CHARACTERS) || line.contains(['=', '&']) || line.contains(delimiters.closing())
}

/// Returns true if an unfinished text after `$` looks like a formula, and not like a price or a variable.
pub(super) fn looks_like_formula(latex: &str) -> bool {
    latex.contains(['\\', '^'])
}

/// Returns true if `$ x $` is a formula, which no rule of Pandoc's accepts.
fn is_spaced_formula(latex: &str, before: &str, after: &str) -> bool {
    // `US$ 5 or A$ 6`, `$ 5 to $ 10`
    if before.ends_with(char::is_alphanumeric) || after.trim_start_matches(' ').starts_with(char::is_numeric)
    {
        return false;
    }
    let is_tex = latex.contains(['\\', '^', '=']);
    !latex.contains('\n') && (is_tex || latex.contains(char::is_alphabetic) && !has_prose_word(latex))
}

/// Returns true if a text has a word of several letters.
fn has_prose_word(text: &str) -> bool {
    text.split_whitespace().any(is_prose_word)
}

/// Returns true if a text consists of words, most of them of several letters.
fn is_prose(text: &str) -> bool {
    let (mut words, mut letters) = (0, 0);
    for word in text.split_whitespace() {
        match word.chars().count() {
            _ if is_prose_word(word) => words += 1,
            1 => letters += 1,
            _ => return false,
        }
    }
    words > letters && words + letters > 1
}

/// True for a word of several letters, also with punctuation around.
fn is_prose_word(word: &str) -> bool {
    let word = word.trim_matches(|c: char| ",;:.!?()\"'".contains(c));
    word.chars().count() > 1 && word.chars().all(|c| c.is_alphabetic() || ".-'’".contains(c))
}

fn is_dollar_formula(latex: &str, before: &str, after: &str) -> bool {
    let first = latex.chars().next().unwrap_or(' ');
    let next = after.chars().next().unwrap_or(' ');
    // `"$" + x + "$"`, `"$@"`
    if "\"'@".contains(first) {
        return false;
    }
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
    // `_$x$_` is emphasis.
    let is_emphasized = before.ends_with('_') && next == '_';
    if begins_variable && is_variable(next) && !is_emphasized && !SUFFIXES.contains(&&after[..word_end]) {
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
    latex.ends_with(['-', '–', '/', '(', ',']) || latex.split_whitespace().skip(1).any(is_prose_word)
}

fn is_alone_in_line(before: &str, after: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let rest = after.split('\n').next().unwrap_or_default();
    let is_marker = |c: char| c.is_whitespace() || ">-*+".contains(c);
    line.chars().all(is_marker) && rest.trim().is_empty()
}
