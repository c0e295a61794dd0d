//! Formulas: LaTeX between `$…$`, `$$…$$`, `\(…\)`, `\[…\]`, or in an environment for equations.

/// A formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    pub delimiters: FormulaDelimiters,
    /// The text between the delimiters.
    pub latex: String,
    /// True if its end has not arrived yet.
    pub is_open: bool,
}

/// The delimiters around a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormulaDelimiters {
    Dollar,
    DoubleDollar,
    Parentheses,
    Brackets,
    Environment(Environment),
}

/// A LaTeX environment that is a formula without dollars around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Environment(usize);

/// The beginnings and ends of the environments.
const ENVIRONMENTS: [(&str, &str); 13] = [
    ("\\begin{equation}", "\\end{equation}"),
    ("\\begin{equation*}", "\\end{equation*}"),
    ("\\begin{align}", "\\end{align}"),
    ("\\begin{align*}", "\\end{align*}"),
    ("\\begin{gather}", "\\end{gather}"),
    ("\\begin{gather*}", "\\end{gather*}"),
    ("\\begin{multline}", "\\end{multline}"),
    ("\\begin{multline*}", "\\end{multline*}"),
    ("\\begin{flalign}", "\\end{flalign}"),
    ("\\begin{flalign*}", "\\end{flalign*}"),
    ("\\begin{eqnarray}", "\\end{eqnarray}"),
    ("\\begin{eqnarray*}", "\\end{eqnarray*}"),
    ("\\begin{displaymath}", "\\end{displaymath}"),
];

impl Environment {
    fn at_start(text: &str) -> Option<Self> {
        let index = ENVIRONMENTS.iter().position(|(begin, _)| text.starts_with(begin));
        index.map(Self)
    }
}

impl FormulaDelimiters {
    /// The number of kinds that begin with a backslash.
    pub(super) const COMMANDS: usize = 2 + ENVIRONMENTS.len();

    /// The index of a kind that begins with a backslash.
    pub(super) fn command_index(self) -> Option<usize> {
        match self {
            Self::Dollar | Self::DoubleDollar => None,
            Self::Parentheses => Some(0),
            Self::Brackets => Some(1),
            Self::Environment(Environment(index)) => Some(2 + index),
        }
    }

    /// Returns true if a text is the beginning of an environment's beginning.
    pub(super) fn is_cut_off(text: &str) -> bool {
        ENVIRONMENTS.iter().any(|(begin, _)| begin.starts_with(text))
    }

    /// The delimiters that begin a text.
    pub(super) fn at_start(text: &str) -> Option<Self> {
        let dollars = text.bytes().take_while(|byte| *byte == b'$').count();
        match dollars {
            1 => Some(Self::Dollar),
            2 => Some(Self::DoubleDollar),
            0 if text.starts_with("\\(") => Some(Self::Parentheses),
            0 if text.starts_with("\\[") => Some(Self::Brackets),
            0 if text.starts_with('\\') => Environment::at_start(text).map(Self::Environment),
            _ => None,
        }
    }

    pub(super) fn opening(self) -> &'static str {
        match self {
            Self::Dollar => "$",
            Self::DoubleDollar => "$$",
            Self::Parentheses => "\\(",
            Self::Brackets => "\\[",
            Self::Environment(Environment(index)) => ENVIRONMENTS[index].0,
        }
    }

    pub(super) fn closing(self) -> &'static str {
        match self {
            Self::Dollar => "$",
            Self::DoubleDollar => "$$",
            Self::Parentheses => "\\)",
            Self::Brackets => "\\]",
            Self::Environment(Environment(index)) => ENVIRONMENTS[index].1,
        }
    }

    /// True for formulas in a line of their own.
    pub fn is_display(self) -> bool {
        !matches!(self, Self::Dollar | Self::Parentheses)
    }

    /// The byte position after the formula that begins `text` with these delimiters. The search begins at `searched`, which
    /// is set to its end.
    pub(super) fn end_after(self, text: &str, searched: &mut usize) -> Option<usize> {
        let bytes = text.as_bytes();
        let closing = self.closing();
        let at = searched;
        *at = self.opening().len().max(*at);
        // A delimiter that is cut off is searched again when the rest is here.
        while *at + closing.len() <= bytes.len() {
            if text.is_char_boundary(*at) && text[*at..].starts_with(closing) {
                return Some(*at + closing.len());
            }
            // A backslash escapes the next character, also another backslash.
            *at += if bytes[*at] == b'\\' { 2 } else { 1 };
        }
        None
    }
}

impl Formula {
    /// Reads a formula from its source, which may lack its end.
    pub(super) fn from_source(source: &str) -> Option<Self> {
        let delimiters = FormulaDelimiters::at_start(source)?;
        let body = &source[delimiters.opening().len()..];
        let end = delimiters
            .end_after(source, &mut 0)
            .filter(|end| *end == source.len());
        let latex = end.map_or(Some(body), |_| body.strip_suffix(delimiters.closing()))?;
        Some(Formula {
            delimiters,
            latex: latex.to_owned(),
            is_open: end.is_none(),
        })
    }

    /// The formula as it was written.
    pub fn source(&self) -> String {
        let closing = if self.is_open {
            ""
        } else {
            self.delimiters.closing()
        };
        [self.delimiters.opening(), &self.latex, closing].concat()
    }
}
