//! Formulas of office documents (OMML) as LaTeX, which models read.

/// The element of a formula.
pub const FORMULA: &str = "m:oMath";

/// An element that is open.
#[derive(Debug, Default)]
struct Open {
    name: String,
    /// The sign of an operator or of an accent.
    sign: Option<String>,
    /// The brackets, and what separates the parts between them.
    opening: Option<String>,
    closing: Option<String>,
    separator: Option<String>,
    /// The number of its parts so far.
    parts: usize,
    /// `true` once an operator was written.
    is_written: bool,
}

/// Writes formulas while the elements of a document are read.
#[derive(Debug, Default)]
pub struct FormulaWriter {
    open: Vec<Open>,
}

impl FormulaWriter {
    /// Writes the beginning of an element. `value` is its attribute `m:val`.
    pub fn start(&mut self, name: &str, value: Option<&str>, text: &mut String) {
        if self.open.is_empty() && name != FORMULA {
            return;
        }
        match (name, value) {
            ("m:chr", value) => {
                self.set_property(|owner| owner.sign = Some(value.unwrap_or_default().into()))
            }
            ("m:begChr", value) => {
                self.set_property(|owner| owner.opening = Some(value.unwrap_or_default().into()));
            }
            ("m:endChr", value) => {
                self.set_property(|owner| owner.closing = Some(value.unwrap_or_default().into()));
            }
            ("m:sepChr", value) => {
                self.set_property(|owner| owner.separator = Some(value.unwrap_or_default().into()));
            }
            ("m:pos", Some("top")) => self.set_property(|owner| owner.sign = Some("top".into())),
            _ => {}
        }
        match name {
            FORMULA if self.open.is_empty() => text.push('$'),
            "m:f" => text.push_str("\\frac"),
            "m:rad" => text.push_str("\\sqrt"),
            "m:num" | "m:den" => text.push('{'),
            "m:deg" => text.push('['),
            "m:sub" | "m:sup" => {
                self.write_operator(text);
                text.push_str(if name == "m:sub" { "_{" } else { "^{" });
            }
            "m:lim" => text.push_str(match self.parent() {
                Some(parent) if parent.name == "m:limUpp" => "^{",
                _ => "_{",
            }),
            "m:m" => text.push_str("\\begin{matrix}"),
            "m:mr" => self.separate(" \\\\ ", text),
            "m:e" => self.start_part(text),
            _ => {}
        }
        self.open.push(Open {
            name: name.to_owned(),
            ..Open::default()
        });
    }

    /// Writes the end of an element.
    pub fn end(&mut self, name: &str, text: &mut String) {
        if self.open.is_empty() {
            return;
        }
        let Some(ended) = self.open.pop() else { return };
        match name {
            FORMULA if self.open.is_empty() => match text.ends_with('$') {
                true => drop(text.pop()),
                false => text.push('$'),
            },
            "m:num" | "m:den" => text.push('}'),
            "m:deg" if text.ends_with('[') => drop(text.pop()),
            "m:deg" => text.push(']'),
            "m:sub" | "m:sup" | "m:lim" => match text.ends_with("_{") || text.ends_with("^{") {
                true => text.truncate(text.len() - 2),
                false => text.push('}'),
            },
            "m:fName" => text.push(' '),
            "m:naryPr" => self.write_operator(text),
            "m:m" => text.push_str("\\end{matrix}"),
            "m:d" => {
                if ended.parts == 0 {
                    text.push_str(ended.opening.as_deref().unwrap_or("("));
                }
                text.push_str(ended.closing.as_deref().unwrap_or(")"));
            }
            "m:e" if self.parent().is_some_and(has_braces) => text.push('}'),
            _ => {}
        }
    }

    fn parent(&self) -> Option<&Open> {
        self.open.last()
    }

    /// Sets a property of the element whose properties are open.
    fn set_property(&mut self, set: impl FnOnce(&mut Open)) {
        let Some(owner) = self.open.len().checked_sub(2) else {
            return;
        };
        set(&mut self.open[owner]);
    }

    /// Writes the sign of an operator before its first part.
    fn write_operator(&mut self, text: &mut String) {
        let Some(operator) = self
            .open
            .last_mut()
            .filter(|open| open.name == "m:nary" && !open.is_written)
        else {
            return;
        };
        operator.is_written = true;
        text.push_str(operator.sign.as_deref().unwrap_or("∫"));
    }

    /// Writes what separates a part from the one before it.
    fn separate(&mut self, separator: &str, text: &mut String) {
        let Some(owner) = self.open.last_mut() else { return };
        if owner.parts > 0 {
            text.push_str(separator);
        }
        owner.parts += 1;
    }

    fn start_part(&mut self, text: &mut String) {
        self.write_operator(text);
        let Some(owner) = self.open.last_mut() else { return };
        match &*owner.name {
            "m:d" => {
                let before = match owner.parts {
                    0 => owner.opening.as_deref().unwrap_or("("),
                    _ => owner.separator.as_deref().unwrap_or("|"),
                };
                text.push_str(before);
                owner.parts += 1;
            }
            "m:mr" => self.separate(" & ", text),
            "m:eqArr" => self.separate(" \\\\ ", text),
            "m:nary" => text.push(' '),
            "m:acc" => text.push_str(match owner.sign.as_deref() {
                Some("\u{303}" | "~") => "\\tilde{",
                Some("\u{304}" | "\u{305}" | "¯") => "\\bar{",
                Some("\u{307}") => "\\dot{",
                Some("\u{308}") => "\\ddot{",
                Some("\u{20d7}" | "→") => "\\vec{",
                _ => "\\hat{",
            }),
            "m:bar" => text.push_str(match owner.sign.as_deref() {
                Some("top") => "\\overline{",
                _ => "\\underline{",
            }),
            _ if has_braces(owner) => text.push('{'),
            _ => {}
        }
    }
}

/// Returns `true` if the part of an element is one in LaTeX.
fn has_braces(owner: &Open) -> bool {
    matches!(
        &*owner.name,
        "m:sSup" | "m:sSub" | "m:sSubSup" | "m:sPre" | "m:rad" | "m:acc" | "m:bar" | "m:limLow" | "m:limUpp"
    )
}
