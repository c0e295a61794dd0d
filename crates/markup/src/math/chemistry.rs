//! Chemical formulas in the notation of the LaTeX package *mhchem*: `\ce{2H2 + O2 -> 2H2O}` in terms that the parser knows.

/// The arrows, the longest first, with what draws them.
const ARROWS: [(&str, &str); 8] = [
    ("<=>>", "\\rightleftharpoons "),
    ("<<=>", "\\rightleftharpoons "),
    ("<-->", "\\rightleftarrows "),
    ("<=>", "\\rightleftharpoons "),
    ("<->", "\\longleftrightarrow "),
    ("->", "\\longrightarrow "),
    ("<-", "\\longleftarrow "),
    ("=>", "\\Longrightarrow "),
];

/// The maximum nesting of scripts and labels: each level is written by recursion.
const MAX_NESTING: usize = 8;

/// Returns the formula as LaTeX; `None` if something in it has no meaning, or is nested too deeply.
pub(super) fn latex(source: &str) -> Option<String> {
    nested_latex(source, 0)
}

/// Returns a formula that stands in `nesting` scripts and labels as LaTeX.
fn nested_latex(source: &str, nesting: usize) -> Option<String> {
    if nesting > MAX_NESTING {
        return None;
    }
    let mut writer = FormulaWriter {
        rest: source.trim(),
        nesting,
        out: String::with_capacity(4 * source.len()),
        is_after_atom: false,
        has_subscript: false,
        has_superscript: false,
    };
    while !writer.rest.is_empty() {
        writer.write_next()?;
    }
    Some(writer.out)
}

struct FormulaWriter<'a> {
    rest: &'a str,
    /// The number of scripts and labels around the formula.
    nesting: usize,
    out: String,
    /// True after what can have a subscript or a charge.
    is_after_atom: bool,
    has_subscript: bool,
    has_superscript: bool,
}

impl<'a> FormulaWriter<'a> {
    fn write_next(&mut self) -> Option<()> {
        if let Some((arrow, drawn)) = ARROWS.iter().find(|(arrow, _)| self.rest.starts_with(arrow)) {
            self.rest = &self.rest[arrow.len()..];
            return self.write_arrow(drawn);
        }
        let c = self.rest.chars().next()?;
        let after = &self.rest[c.len_utf8()..];
        match c {
            c if c.is_whitespace() => {
                self.rest = after.trim_start();
                self.end_atom();
                if let Some(gas) = self.lone_sign() {
                    self.out.push_str(gas);
                }
            }
            '$' => {
                let (formula, rest) = after.split_once('$')?;
                self.rest = rest;
                self.write_atom(&["{", formula, "}"].concat());
            }
            '\\' => self.write_command()?,
            '{' => {
                let group = self.take_group()?;
                self.write_atom(&["\\mathrm{", group, "}"].concat());
            }
            '^' | '_' => {
                self.rest = after;
                let script = self.take_script()?;
                self.write_script(c, &script);
            }
            '0'..='9' if self.is_after_atom => {
                let digits = self.take_while(|c| c.is_ascii_digit());
                self.write_script('_', digits);
            }
            '0'..='9' => {
                let number = self.take_while(|c| c.is_ascii_digit() || c == '.');
                match self
                    .rest
                    .strip_prefix('/')
                    .filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
                {
                    Some(rest) => {
                        self.rest = rest;
                        let divisor = self.take_while(|c| c.is_ascii_digit());
                        self.out
                            .push_str(&["\\frac{", number, "}{", divisor, "}"].concat());
                    }
                    None => self.out.push_str(number),
                }
                self.out.push_str("\\,");
            }
            '+' | '-' if self.is_after_atom && is_charge(after) => {
                let charge = self.take_while(|c| c == '+' || c == '-');
                self.write_script('^', charge);
            }
            c if c.is_alphabetic() => {
                let letters = self.take_while(char::is_alphabetic);
                self.write_atom(&["\\mathrm{", letters, "}"].concat());
            }
            ')' | ']' => {
                self.rest = after;
                self.write_atom(if c == ')' { ")" } else { "]" });
            }
            _ => {
                self.rest = after;
                let is_bond = self.is_after_atom && c == '-';
                self.end_atom();
                match c {
                    '(' | '[' | ',' | ';' | ':' | '/' | '|' | '+' | '\'' => self.out.push(c),
                    '-' if is_bond => self.out.push_str("{-}"),
                    '-' => self.out.push('-'),
                    '=' => self.out.push_str("{=}"),
                    '#' => self.out.push_str("{\\equiv}"),
                    '*' | '.' | '·' | '•' => self.out.push_str("\\cdot "),
                    '~' => self.out.push_str("\\,"),
                    '→' => self.out.push_str("\\longrightarrow "),
                    '⇌' => self.out.push_str("\\rightleftharpoons "),
                    '↑' => self.out.push_str("\\uparrow "),
                    '↓' => self.out.push_str("\\downarrow "),
                    '−' | '–' => self.out.push('-'),
                    _ => return None,
                }
            }
        }
        Some(())
    }

    /// Takes `v` or `^` that stands alone: what falls out or escapes.
    fn lone_sign(&mut self) -> Option<&'static str> {
        let (sign, drawn) = [("v", "\\downarrow "), ("^", "\\uparrow ")]
            .into_iter()
            .find(|(sign, _)| self.rest.starts_with(sign))?;
        let after = &self.rest[sign.len()..];
        (after.is_empty() || after.starts_with(char::is_whitespace)).then(|| {
            self.rest = after;
            drawn
        })
    }

    fn end_atom(&mut self) {
        self.is_after_atom = false;
        self.has_subscript = false;
        self.has_superscript = false;
    }

    fn write_atom(&mut self, atom: &str) {
        self.end_atom();
        self.out.push_str(atom);
        self.is_after_atom = true;
    }

    fn write_script(&mut self, sign: char, script: &str) {
        let has_one = match sign {
            '_' => std::mem::replace(&mut self.has_subscript, true),
            _ => std::mem::replace(&mut self.has_superscript, true),
        };
        // A script before an atom, as the numbers of an isotope, belongs to nothing.
        let is_first = !(self.is_after_atom || self.has_subscript && self.has_superscript);
        if has_one || is_first {
            self.out.push_str("{}");
        }
        self.out.push(sign);
        self.out.push_str(&["{", script, "}"].concat());
    }

    fn write_arrow(&mut self, drawn: &str) -> Option<()> {
        self.end_atom();
        let above = self.take_brackets()?;
        let below = self.take_brackets()?;
        let mut arrow = drawn.to_owned();
        if let Some(above) = above {
            arrow = ["\\overset{", &self.label(above)?, "}{", &arrow, "}"].concat();
        }
        if let Some(below) = below {
            arrow = ["\\underset{", &self.label(below)?, "}{", &arrow, "}"].concat();
        }
        self.out.push_str(&["\\;", &arrow, "\\;"].concat());
        Some(())
    }

    /// Takes the label of an arrow; `None` if its end is missing.
    fn take_brackets(&mut self) -> Option<Option<&'a str>> {
        let Some(rest) = self.rest.strip_prefix('[') else {
            return Some(None);
        };
        let (label, rest) = rest.split_once(']')?;
        self.rest = rest;
        Some(Some(label).filter(|label| !label.trim().is_empty()))
    }

    fn write_command(&mut self) -> Option<()> {
        let length = self.rest[1..]
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(self.rest.len() - 1);
        let symbol = self.rest[1..].chars().next()?.len_utf8();
        let (command, rest) = self.rest.split_at(1 + length.max(symbol));
        self.rest = rest;
        let mut atom = command.to_owned();
        while self.rest.starts_with('{') {
            atom.push_str(&["{", self.take_group()?, "}"].concat());
        }
        if length > 0 && !atom.ends_with('}') {
            atom.push(' ');
        }
        self.write_atom(&atom);
        Some(())
    }

    /// Takes a superscript or subscript.
    fn take_script(&mut self) -> Option<String> {
        if self.rest.starts_with('{') {
            let group = self.take_group()?;
            return self.label(group);
        }
        if let Some(rest) = self.rest.strip_prefix('$') {
            let (formula, rest) = rest.split_once('$')?;
            self.rest = rest;
            return Some(formula.to_owned());
        }
        let digits = self.take_while(|c| c.is_ascii_digit());
        let letters = match digits {
            "" => self.take_while(char::is_alphabetic),
            _ => "",
        };
        let signs = self.take_while(|c| "+-.*•".contains(c));
        let script = [digits, letters, &signs.replace(['.', '*', '•'], "\\bullet ")].concat();
        (!script.is_empty()).then_some(script)
    }

    /// Returns the text at an arrow or in a script as LaTeX: a formula, if it is not a word.
    fn label(&self, text: &str) -> Option<String> {
        let is_latex = text.contains(['\\', '$']);
        let is_charge = text.chars().all(|c| c.is_ascii_digit() || "+-".contains(c));
        let is_word = text.chars().filter(|c| c.is_lowercase()).count() * 2 > text.chars().count();
        Some(match () {
            () if is_charge => text.to_owned(),
            () if is_latex => text.replace('$', ""),
            () if is_word => ["\\text{", text, "}"].concat(),
            () => nested_latex(text, self.nesting + 1)?,
        })
    }

    fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    /// Takes a group in braces and returns its content.
    fn take_group(&mut self) -> Option<&'a str> {
        let mut depth = 0_usize;
        for (at, c) in self.rest.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        let group = &self.rest[1..at];
                        self.rest = &self.rest[at + 1..];
                        return Some(group);
                    }
                }
                _ => {}
            }
        }
        None
    }
}

/// Returns true if `+` or `-` before this text is a charge and neither a bond nor an operator.
fn is_charge(after: &str) -> bool {
    !after.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '(' | '[' | '{' | '\\' | '$' | '>'))
}
