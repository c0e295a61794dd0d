//! The bytes of a growing text that may become elements of formulas.

use parlor_markup::math::{AtomReader, MAX_FORMULA_BYTES};

/// The beginning of an environment.
const BEGIN: &[u8] = b"\\begin{";

/// Finds the characters and commands that may stand in a formula, byte by byte.
///
/// Only parsing shows which dollars delimit formulas. The count is therefore an upper limit: everything between two dollars
/// that may be a formula, everything after `$$`, after an opening bracket, and after `\begin{`, each up to a blank line at most.
#[derive(Debug, Default)]
pub struct FormulaMeter {
    atoms: AtomReader,
    /// True after a backslash that escapes the next character.
    is_escape: bool,
    last: u8,
    /// The length of the present run of dollars.
    dollars: usize,
    in_parentheses: bool,
    in_brackets: bool,
    in_environment: bool,
    /// The number of bytes of [`BEGIN`] before the next one.
    begun: usize,
    /// True after `$$`.
    in_double: bool,
    /// The number of characters and commands since the last dollar; `None` if they can't be a formula.
    pending: Option<usize>,
    /// True if a digit follows the last dollar: it is more likely a price.
    is_price: bool,
    /// The number of bytes since the last delimiter.
    length: usize,
    is_blank_line: bool,
}

impl FormulaMeter {
    /// Returns the number of characters and commands that are known to count with the next byte.
    pub fn measure(&mut self, byte: u8) -> usize {
        let is_atom = self.atoms.is_atom(byte);
        let is_escaped = self.is_escape;
        self.is_escape = byte == b'\\' && !is_escaped;
        let mut counted = 0;
        match byte {
            b'\n' if self.is_blank_line => self.end(),
            b'$' if !is_escaped => counted = self.dollar(),
            b'(' if is_escaped => (self.in_parentheses, self.length) = (true, 0),
            b')' if is_escaped => self.in_parentheses = false,
            b'[' if is_escaped => (self.in_brackets, self.length) = (true, 0),
            b']' if is_escaped => self.in_brackets = false,
            _ => {}
        }
        if byte != b'$' {
            self.dollars = 0;
        }
        let is_next = BEGIN.get(self.begun) == Some(&byte);
        self.begun = if is_next {
            self.begun + 1
        } else {
            usize::from(byte == b'\\')
        };
        if self.begun == BEGIN.len() {
            (self.in_environment, self.begun, self.length) = (true, 0, 0);
        }
        if byte == b'\n' {
            self.is_blank_line = true;
        } else if byte != b' ' && byte != b'\t' {
            self.is_blank_line = false;
        }
        self.length += 1;
        if self.length > MAX_FORMULA_BYTES {
            self.end();
        }
        if self.last == b'$' && self.dollars == 0 {
            self.is_price = byte.is_ascii_digit();
            if byte.is_ascii_whitespace() {
                self.pending = None;
            }
        }
        self.last = byte;
        if self.is_inside() {
            counted += usize::from(is_atom);
        } else if let Some(pending) = &mut self.pending {
            *pending += usize::from(is_atom);
        }
        counted
    }

    /// Returns true if the text may be inside a formula.
    pub fn may_be_inside(&self) -> bool {
        let after_dollar = self.pending.is_some() && self.dollars == 0 && !self.is_price;
        self.is_inside() || after_dollar
    }

    fn is_inside(&self) -> bool {
        self.in_parentheses || self.in_brackets || self.in_environment || self.in_double
    }

    fn dollar(&mut self) -> usize {
        self.dollars += 1;
        self.length = 0;
        if self.dollars > 1 {
            self.in_double = true;
            self.pending = None;
            return 0;
        }
        let ended = self
            .pending
            .replace(0)
            .filter(|_| !self.last.is_ascii_whitespace());
        ended.unwrap_or(0)
    }

    fn end(&mut self) {
        self.in_parentheses = false;
        self.in_brackets = false;
        self.in_environment = false;
        self.in_double = false;
        self.pending = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(text: &str) -> usize {
        let mut meter = FormulaMeter::default();
        text.bytes().map(|byte| meter.measure(byte)).sum()
    }

    #[test]
    fn counts_formulas() {
        let letters = "x".repeat(100);
        for (open, close) in [
            ("$", "$"),
            ("$$", "$$"),
            ("$$\n", "\n$$"),
            ("\\(", "\\)"),
            ("\\[", "\\]"),
            ("$a$ and $", "$"),
            ("$5 and $", "$"),
            ("$a$$b$", "$"),
            ("`$` $$", "$$"),
            ("`$$ a` $$", "$$"),
            ("$$\\text{$ ", " $}$$"),
            ("\\( \\) \\(", "\\)"),
            ("\\\\\\(", "\\)"),
            ("\\begin{align}", "\\end{align}"),
        ] {
            let text = [open, &letters, close].concat();
            assert!(measure(&text) >= 100, "{open}: {}", measure(&text));
        }
    }

    #[test]
    fn expects_formulas_but_not_in_prices() {
        let may_be_inside = |text: &str| {
            let mut meter = FormulaMeter::default();
            for byte in text.bytes() {
                meter.measure(byte);
            }
            meter.may_be_inside()
        };
        for text in ["a $E", "a $E = m", "\\(", "\\[ x", "$$", "$$\n1", "costs $5, $x"] {
            assert!(may_be_inside(text), "{text}");
        }
        for text in [
            "",
            "a",
            "a $",
            "costs $5",
            "costs $5 and",
            "some $ or",
            "\\( x \\) and",
            "$E\n\n",
        ] {
            assert!(!may_be_inside(text), "{text}");
        }
    }

    #[test]
    fn counts_little_of_prose() {
        let prose = "some words ".repeat(10);
        for text in [
            prose.clone(),
            ["It costs $5. ", &prose].concat(),
            ["It costs $5 and $6. ", &prose, "$7"].concat(),
            ["$x$ ", &prose, " $y$"].concat(),
            ["\\(x\\) ", &prose, "\\[y\\]"].concat(),
            ["$$x$$\n\n", &prose, " $y$"].concat(),
            ["\\\\( ", &prose].concat(),
            ["\\$$ ", &prose].concat(),
        ] {
            assert!(measure(&text) < 10, "{text}: {}", measure(&text));
        }
        assert!(measure(&["$$", &"x".repeat(5 * MAX_FORMULA_BYTES)].concat()) <= MAX_FORMULA_BYTES);
    }
}
