//! The preparation of LaTeX for the parser: what is common in answers and unknown to the parser is written in its
//! terms, and what it cannot bear is rejected.

use super::MAX_FORMULA_BYTES;

/// The maximum nesting of braces and environments. The parser scans each level again.
const MAX_NESTING: usize = 40;

/// The maximum number of commands that could each be the argument of the one before: the parser is recursive there,
/// and an overflow of the stack would end the page.
const MAX_CHAIN: usize = 48;

/// The number of letters or groups after which a command is no longer an argument of the one before.
const MAX_ARGUMENTS: usize = 4;

/// Parts of the names of the commands that define macros with parameters.
const DEFINITIONS: [&str; 2] = ["def", "command"];

/// The commands that define another command.
const DEFINING_COMMANDS: [&str; 6] = [
    "def",
    "let",
    "newcommand",
    "renewcommand",
    "providecommand",
    "DeclareMathOperator",
];

/// The maximum number of parameters in all macros: they multiply each other, and so the chains that they stand in.
const MAX_PARAMETERS: usize = 8;

/// Returns the formula for the parser; `None` if it cannot be parsed safely.
pub(super) fn prepare(latex: &str) -> Option<String> {
    let has_macros = DEFINITIONS.iter().any(|name| latex.contains(name));
    let has_many_parameters = has_macros && latex.matches('#').count() > MAX_PARAMETERS;
    if latex.len() > MAX_FORMULA_BYTES || has_many_parameters {
        return None;
    }
    let prepared = prepare_nested(latex, 0, &defined_commands(latex))?;
    (!has_char_command(&prepared)).then_some(prepared)
}

/// Returns true for a formula with `\char`: the parser panics at one before a letter that is not ASCII.
fn has_char_command(latex: &str) -> bool {
    latex.match_indices("\\char").any(|(at, command)| {
        let backslashes_before = latex[..at]
            .bytes()
            .rev()
            .take_while(|byte| *byte == b'\\')
            .count();
        let after = latex[at + command.len()..].chars().next();
        backslashes_before % 2 == 0 && !after.is_some_and(|c| c.is_ascii_alphabetic())
    })
}

/// Returns the names of the commands that the formula defines itself.
fn defined_commands(latex: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for (at, _) in latex.match_indices('\\') {
        let (name, rest) = split_name(&latex[at + 1..]);
        if DEFINING_COMMANDS.contains(&name) {
            let target = rest.trim_start_matches(['*', '{', ' ']);
            names.extend(target.strip_prefix('\\').map(|target| split_name(target).0));
        }
    }
    names
}

/// Splits off the letters at the beginning.
pub(super) fn split_name(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_alphabetic());
    text.split_at(end.unwrap_or(text.len()))
}

/// Prepares a part of a formula that stands in `nesting` braces and environments. The commands in `defined` are left as
/// they are.
fn prepare_nested<'a>(latex: &'a str, nesting: usize, defined: &'a [&'a str]) -> Option<String> {
    let mut writer = SourceWriter {
        rest: latex,
        nesting,
        defined,
        out: String::with_capacity(latex.len()),
        groups: vec![Group::default()],
        has_rows: false,
        has_columns: false,
        chain: 0,
        units: 0,
    };
    writer.write_all()?;
    // A formula of several lines needs an environment.
    let environment = match (writer.has_columns, writer.has_rows) {
        (true, _) => "aligned",
        (false, true) => "gathered",
        (false, false) => return Some(writer.out),
    };
    Some(
        [
            "\\begin{",
            environment,
            "}",
            &writer.out,
            "\\end{",
            environment,
            "}",
        ]
        .concat(),
    )
}

#[derive(Default)]
pub(super) struct Group {
    /// The position of its content in the output.
    pub(super) start: usize,
    /// True after `\over` or `\choose`: its end must close the second argument.
    pub(super) is_fraction: bool,
    /// The chain and the units before it: the group may be an argument, and counts as one unit.
    chain: usize,
    units: usize,
}

pub(super) struct SourceWriter<'a> {
    pub(super) rest: &'a str,
    /// The number of groups around the text.
    nesting: usize,
    /// The commands that the formula defines itself.
    defined: &'a [&'a str],
    pub(super) out: String,
    /// The open groups, the formula itself first.
    pub(super) groups: Vec<Group>,
    /// True if the formula has line breaks outside of all environments.
    has_rows: bool,
    /// True if it has alignment marks outside of all environments.
    has_columns: bool,
    chain: usize,
    /// The letters and groups since the last command.
    units: usize,
}

impl<'a> SourceWriter<'a> {
    fn write_all(&mut self) -> Option<()> {
        while let Some(c) = self.rest.chars().next() {
            let after = &self.rest[c.len_utf8()..];
            match c {
                '\\' => {
                    self.rest = after;
                    self.write_command()?;
                    continue;
                }
                '\'' => {
                    self.write_primes()?;
                    continue;
                }
                '{' => {
                    self.out.push('{');
                    self.begin_group()?;
                }
                '}' => {
                    self.end_group();
                    self.out.push('}');
                }
                '&' | '^' | '_' => {
                    self.has_columns |= c == '&' && self.groups.len() == 1;
                    self.chain = 0;
                    self.out.push(c);
                }
                c => {
                    self.units += usize::from(!c.is_whitespace());
                    self.out.push(c);
                }
            }
            self.rest = after;
        }
        if self.groups.len() == 1 {
            self.end_group();
        }
        Some(())
    }

    pub(super) fn begin_group(&mut self) -> Option<()> {
        self.groups.push(Group {
            start: self.out.len(),
            is_fraction: false,
            chain: self.chain,
            units: self.units,
        });
        (self.chain, self.units) = (0, 0);
        (self.nesting + self.groups.len() <= MAX_NESTING).then_some(())
    }

    pub(super) fn end_group(&mut self) {
        let Some(group) = self.groups.pop() else { return };
        if group.is_fraction {
            self.out.push('}');
        }
        (self.chain, self.units) = (group.chain, group.units + 1);
    }

    /// Writes the command after a backslash.
    fn write_command(&mut self) -> Option<()> {
        let (name, after) = split_name(self.rest);
        if name.is_empty() {
            let symbol = self.rest.chars().next()?;
            let (command, after) = self.rest.split_at(symbol.len_utf8());
            self.rest = after;
            self.has_rows |= symbol == '\\' && self.groups.len() == 1;
            self.out.push('\\');
            self.out.push_str(command);
            self.units += 1;
            return Some(());
        }
        self.rest = after;
        if std::mem::take(&mut self.units) >= MAX_ARGUMENTS {
            self.chain = 0;
        }
        self.chain += 1;
        if self.chain > MAX_CHAIN {
            return None;
        }
        if self.defined.contains(&name) {
            self.push_name(name);
            return Some(());
        }
        self.write_named(name)
    }

    /// Prepares an argument that was taken as a whole.
    pub(super) fn prepare_argument(&self, argument: &'a str) -> Option<String> {
        let nesting = self.nesting + self.groups.len();
        let has_room = nesting < MAX_NESTING;
        has_room.then(|| prepare_nested(argument, nesting, self.defined))?
    }

    /// Prepares a formula that was made of an argument.
    pub(super) fn prepare_made(&self, latex: &str) -> Option<String> {
        let nesting = self.nesting + self.groups.len();
        let has_room = nesting < MAX_NESTING && latex.len() <= MAX_FORMULA_BYTES;
        has_room.then(|| prepare_nested(latex, nesting, &[]))?
    }

    /// Takes an argument in braces and returns it without them.
    pub(super) fn argument(&mut self) -> Option<&'a str> {
        let text = self.rest.trim_start().strip_prefix('{')?;
        let (mut depth, mut is_escaped) = (0_usize, false);
        for (at, c) in text.char_indices() {
            match c {
                _ if is_escaped => {}
                '{' => depth += 1,
                '}' if depth == 0 => {
                    self.rest = &text[at + 1..];
                    return Some(&text[..at]);
                }
                '}' => depth -= 1,
                _ => {}
            }
            is_escaped = c == '\\' && !is_escaped;
        }
        None
    }

    /// Writes primes as a superscript, together with the one that follows them.
    fn write_primes(&mut self) -> Option<()> {
        let after = self.rest.trim_start_matches('\'');
        let count = self.rest.len() - after.len();
        self.rest = after;
        self.chain = 0;
        self.out.push_str("^{");
        self.out.push_str(&"\\prime".repeat(count));
        if let Some(script) = after.trim_start().strip_prefix('^') {
            self.rest = script;
            if let Some(group) = self.argument() {
                let group = self.prepare_argument(group)?;
                self.out.push_str(&["{", &group, "}"].concat());
            } else if let Some(c) = script
                .trim_start()
                .chars()
                .next()
                .filter(|c| c.is_alphanumeric() || *c == '*')
            {
                self.rest = &script.trim_start()[c.len_utf8()..];
                self.out.push(' ');
                self.out.push(c);
            }
        }
        self.out.push('}');
        Some(())
    }
}
