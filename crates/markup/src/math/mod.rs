//! Mathematics: LaTeX formulas as a tree of typed MathML elements.
//!
//! `pulldown-latex` parses the LaTeX; this module prepares its input ([`source`], [`synonyms`], [`chemistry`], [`units`]), builds the tree from its events
//! ([`builder`], [`table`], [`leaf`], [`space`]) and maps fonts and colours to what MathML Core and the style sheet have
//! ([`font`], [`colour`]). The tree consists of elements and attributes of two enumerations only, so no formula can
//! produce any other markup. There is no `style` attribute, which the page's security policy forbids: classes stand in.
//!
//! A formula with something unknown or unbalanced has no tree. It is then shown as its source. Unknown are, of what papers
//! and answers have: `\cancelto`, `\dddot`, `\prescript`, extensible arrows but `\xleftarrow` and `\xrightarrow`, the
//! matrices and fractions of plain TeX (`\pmatrix{…}`, `\atop`, `\brace`), commutative diagrams, `\cline` and columns with
//! a width or a repetition, accents in `\text`, references, links and HTML.

mod atoms;
mod builder;
mod chemistry;
mod colour;
mod font;
mod leaf;
mod node;
mod source;
mod source_commands;
mod space;
mod synonyms;
mod table;
mod units;

#[cfg(test)]
mod tests;

pub use atoms::AtomReader;
pub use node::{MathAttribute, MathContent, MathElement, MathNode};

/// The maximum length of a formula, in bytes.
pub const MAX_FORMULA_BYTES: usize = 8 << 10;

/// The maximum number of elements of a formula, some fifty lines of mathematics: it is drawn at once, and the page waits.
pub const MAX_ELEMENTS: usize = 4_000;

/// The elements that an atom of the source may become, on average: macros make any number of them.
const MAX_ELEMENTS_PER_ATOM: usize = 4;

/// The elements that every formula may have.
const FREE_ELEMENTS: usize = 16;

/// Returns the MathML of a formula, given without its delimiters; `None` if it cannot be shown faithfully.
pub fn parse(latex: &str, is_display: bool) -> Option<MathNode> {
    let prepared = source::prepare(latex)?;
    let children = builder::build(&prepared, is_display)?;
    let math = MathNode::row(MathElement::Math, children);
    let max_elements = FREE_ELEMENTS + MAX_ELEMENTS_PER_ATOM * atoms::count(latex);
    if math.count() > max_elements.min(MAX_ELEMENTS) {
        return None;
    }
    Some(if is_display {
        math.with(MathAttribute::Display, "block")
    } else {
        math
    })
}
