//! The commands that the preparation of LaTeX replaces: those that the parser lacks or reads in another form.

use super::chemistry;
use super::colour;
use super::source::{SourceWriter, split_name};
use super::synonyms;
use super::units;

impl<'a> SourceWriter<'a> {
    /// Writes the named command before `rest`, with the arguments that it changes.
    pub(super) fn write_named(&mut self, name: &str) -> Option<()> {
        match name {
            "label" | "require" | "vphantom" => {
                self.argument()?;
            }
            "nonumber" | "notag" | "displaylimits" | "tiny" | "scriptsize" | "footnotesize" | "small"
            | "normalsize" | "large" | "Large" | "LARGE" | "huge" | "Huge" | "allowbreak" => {}
            "tag" => {
                let is_bare = self.rest.starts_with('*');
                self.rest = self.rest.strip_prefix('*').unwrap_or(self.rest);
                let tag = self.argument()?;
                let (open, close) = if is_bare { ("", "") } else { ("(", ")") };
                self.out
                    .push_str(&["\\qquad\\text{", open, tag, close, "}"].concat());
            }
            "operatorname" if self.rest.starts_with('*') => {
                self.rest = &self.rest[1..];
                self.push_name("mathop");
            }
            "DeclareMathOperator" => {
                let (rest, kind) = match self.rest.strip_prefix('*') {
                    Some(rest) => (rest, "mathop"),
                    None => (self.rest, "operatorname"),
                };
                self.rest = rest;
                let (command, operator) = (self.defined_name()?, self.argument()?);
                let operator = self.prepare_argument(operator)?;
                self.out
                    .push_str(&["\\newcommand{", command, "}[0]{\\", kind, "{", &operator, "}}"].concat());
            }
            "fbox" | "framebox" => {
                let text = self.argument()?;
                self.push_coloured(colour::BOXED);
                self.out.push_str(&["{\\text{", text, "}}"].concat());
            }
            "intertext" | "shortintertext" => {
                let text = self.argument()?;
                self.out.push_str(&["\\text{", text, "}\\\\"].concat());
            }
            "boxed" => self.push_coloured(colour::BOXED),
            "phantom" | "hphantom" => self.push_coloured(colour::HIDDEN),
            "ce" => {
                let formula = chemistry::latex(self.argument()?)?;
                self.write_prepared(&formula)?;
            }
            "pu" => {
                let quantity = units::physical_unit(self.argument()?)?;
                self.write_prepared(&quantity)?;
            }
            "SI" | "qty" if self.skip_options().rest.starts_with('{') => {
                let number = units::number(self.argument()?);
                let unit = units::units(self.argument()?)?;
                self.write_prepared(&[&number, "\\,", &unit].concat())?;
            }
            "si" | "unit" => {
                let unit = units::units(self.skip_options().argument()?)?;
                self.write_prepared(&unit)?;
            }
            "SIrange" | "qtyrange" | "numrange" => {
                let first = self.skip_options().argument()?;
                let last = self.argument()?;
                let unit = if name == "numrange" { "" } else { self.argument()? };
                let range = units::several(&[first, last], "\\text{ to }", unit)?;
                self.write_prepared(&range)?;
            }
            "SIlist" | "qtylist" | "numlist" => {
                let numbers: Vec<&str> = self.skip_options().argument()?.split(';').collect();
                let unit = if name == "numlist" { "" } else { self.argument()? };
                let list = units::several(&numbers, ",\\ ", unit)?;
                self.write_prepared(&list)?;
            }
            "ang" => {
                let angle = units::angle(self.skip_options().argument()?);
                self.write_prepared(&angle)?;
            }
            "num" => {
                let number = units::number(self.skip_options().argument()?);
                self.write_prepared(&number)?;
            }
            "qty" => {
                let inner = self.rest.strip_prefix('(')?;
                let (inner, rest) = inner.split_once(')')?;
                self.rest = rest;
                let inner = self.prepare_argument(inner)?;
                self.out.push_str(&["\\left(", &inner, "\\right)"].concat());
            }
            "dv" | "derivative" => self.write_derivative("d")?,
            "pdv" | "partialderivative" => self.write_derivative("\\partial ")?,
            "href" => {
                // Its text alone is shown.
                self.argument().filter(|url| url.starts_with("http"))?;
                let shown = self.argument()?;
                let shown = self.prepare_argument(shown)?;
                self.out.push_str(&["{", &shown, "}"].concat());
            }
            "mathchoice" => {
                let shown = self.argument()?;
                for _ in 0..3 {
                    self.argument()?;
                }
                let shown = self.prepare_argument(shown)?;
                self.out.push_str(&["{", &shown, "}"].concat());
            }
            "ket" | "Ket" => self.write_between("\\left|", "\\right\\rangle ")?,
            "bra" | "Bra" => self.write_between("\\left\\langle ", "\\right|")?,
            "abs" => self.write_between("\\left|", "\\right|")?,
            "norm" => self.write_between("\\left\\|", "\\right\\|")?,
            "braket" | "Braket" => self.write_between("\\left\\langle ", "\\right\\rangle ")?,
            "over" => self.split_group("\\frac{"),
            "choose" => self.split_group("\\binom{"),
            "newcommand" | "renewcommand" | "providecommand" => {
                let macro_name = self.defined_name()?;
                self.push_name(name);
                self.out.push_str(&["{", macro_name, "}"].concat());
                if !self.rest.trim_start().starts_with('[') {
                    self.out.push_str("[0]");
                }
            }
            "text" | "textrm" | "textbf" | "textit" | "textsf" | "texttt" | "textnormal" | "mbox" => {
                let text = self.argument()?;
                let name = if matches!(name, "mbox" | "textnormal") {
                    "text"
                } else {
                    name
                };
                self.push_name(name);
                self.out.push_str(&["{", text, "}"].concat());
            }
            "begin" | "left" => {
                self.push_name(name);
                self.begin_group()?;
                if name == "begin" {
                    self.write_environment();
                }
            }
            "end" | "right" => {
                self.end_group();
                self.push_name(name);
                if let Some(rest) = synonyms::strip_eqnarray(self.rest) {
                    self.rest = rest;
                    self.out.push_str("{array}");
                }
            }
            name => match synonyms::known(name) {
                Some(known) => self.out.push_str(known),
                None => self.push_name(name),
            },
        }
        Some(())
    }

    /// Writes the name of an environment that the parser lacks, and columns without what it cannot read.
    fn write_environment(&mut self) {
        if let Some(rest) = synonyms::strip_eqnarray(self.rest) {
            self.rest = rest;
            self.out.push_str("{array}{rcl}");
        } else if let Some(rest) = self.rest.strip_prefix("{array}") {
            self.rest = rest;
            self.out.push_str("{array}");
            if let Some(columns) = self.argument() {
                let columns = synonyms::plain_columns(columns);
                self.out.push_str(&["{", &columns, "}"].concat());
            }
        }
    }

    pub(super) fn push_name(&mut self, name: &str) {
        self.out.push('\\');
        self.out.push_str(name);
    }

    fn push_coloured(&mut self, colour: &str) {
        self.out.push_str(&["\\textcolor{", colour, "}"].concat());
    }

    /// Writes a formula that was made here, in a group.
    fn write_prepared(&mut self, latex: &str) -> Option<()> {
        let prepared = self.prepare_made(latex)?;
        self.out.push_str(&["{", &prepared, "}"].concat());
        Some(())
    }

    /// Leaves out options in brackets.
    fn skip_options(&mut self) -> &mut Self {
        if let Some((_, rest)) = self.rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            self.rest = rest;
        }
        self
    }

    /// Writes `\dv[n]{f}{x}` or `\dv{x}` as a fraction.
    fn write_derivative(&mut self, sign: &str) -> Option<()> {
        let mut order = "";
        if let Some((number, rest)) = self.rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            order = number;
            self.rest = rest;
        }
        let first = self.argument()?;
        let second = self.rest.starts_with('{').then(|| self.argument()).flatten();
        let (function, variable) = match second {
            Some(variable) => (self.prepare_argument(first)?, variable),
            None => (String::new(), first),
        };
        let variable = self.prepare_argument(variable)?;
        let power = match order {
            "" => String::new(),
            order => ["^{", order, "}"].concat(),
        };
        self.out.push_str(
            &[
                "\\frac{", sign, &power, &function, "}{", sign, "{", &variable, "}", &power, "}",
            ]
            .concat(),
        );
        Some(())
    }

    /// Writes the argument between two delimiters.
    fn write_between(&mut self, open: &str, close: &str) -> Option<()> {
        let argument = self.argument()?;
        let inner = self.prepare_argument(argument)?;
        self.out.push_str(&[open, &inner, close].concat());
        Some(())
    }

    /// Makes a command with two arguments of the open group: the part before this point, and the part after it.
    /// Does nothing if the group is one already.
    fn split_group(&mut self, command: &str) {
        if let Some(group) = self.groups.last_mut().filter(|group| !group.is_fraction) {
            group.is_fraction = true;
            self.out.insert_str(group.start, command);
            self.out.push_str("}{");
        }
    }

    /// Takes the name of a new command, in braces or bare.
    fn defined_name(&mut self) -> Option<&'a str> {
        if let Some(name) = self.argument() {
            return Some(name);
        }
        let text = self.rest.trim_start();
        let (name, rest) = split_name(text.strip_prefix('\\')?);
        self.rest = rest;
        Some(&text[..name.len() + 1])
    }
}
