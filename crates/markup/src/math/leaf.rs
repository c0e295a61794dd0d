//! Elements without parts: letters, numbers, operators, text.

use pulldown_latex::event::{Content, DelimiterSize, DelimiterType, Font};

use super::font;
use super::node::{MathAttribute, MathElement, MathNode};

/// The role of an element in its row, which determines the space around operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Atom {
    Ord,
    Op,
    Bin,
    Rel,
    Open,
    Close,
    Punct,
    Inner,
}

pub(super) fn atom(content: &Content<'_>) -> Atom {
    match content {
        Content::Text(_) | Content::Number(_) | Content::Ordinary { .. } => Atom::Ord,
        Content::Function(_) | Content::LargeOp { .. } => Atom::Op,
        Content::BinaryOp { .. } => Atom::Bin,
        Content::Relation { .. } => Atom::Rel,
        Content::Delimiter { ty, .. } => match ty {
            DelimiterType::Open => Atom::Open,
            DelimiterType::Close => Atom::Close,
            DelimiterType::Fence => Atom::Punct,
        },
        Content::Punctuation(_) => Atom::Punct,
    }
}

/// The element of a content; `None` if its text has commands that are unknown there.
pub(super) fn content(
    content: &Content<'_>,
    font: Option<Font>,
    previous: Option<Atom>,
    next: Option<Atom>,
) -> Option<MathNode> {
    Some(match *content {
        Content::Text(text) => self::text(text, font)?,
        Content::Number(number) => {
            let digits = number
                .chars()
                .map(|c| font.map_or(c, |font| font::styled(c, font)));
            MathNode::leaf(MathElement::Number, digits.collect::<String>())
        }
        Content::Function(name) => {
            let name = plain(name)?;
            let is_single = name.chars().count() == 1;
            let node = MathNode::leaf(MathElement::Identifier, name);
            if is_single {
                node.with(MathAttribute::Variant, "normal")
            } else {
                node
            }
        }
        Content::Ordinary {
            content,
            stretchy: true,
        } => stretched(content),
        Content::Ordinary { content, .. } => letter(content, font),
        Content::LargeOp { content, small } => {
            let node = operator(content.to_string(), small).with(MathAttribute::MovableLimits, "false");
            if small {
                node.with(MathAttribute::LargeOperator, "false")
            } else {
                node
            }
        }
        Content::BinaryOp { content, small } => {
            let node = operator(content.to_string(), small);
            let has_left = matches!(previous, Some(Atom::Ord | Atom::Close | Atom::Inner));
            let has_right = matches!(
                next,
                Some(Atom::Ord | Atom::Open | Atom::Inner | Atom::Op | Atom::Bin)
            );
            if has_left && has_right {
                node.with(MathAttribute::Form, "infix")
            } else {
                unspaced(node.with(MathAttribute::Form, "prefix"))
            }
        }
        Content::Relation { content, small } => {
            let mut buffer = [0; 8];
            let text = String::from_utf8_lossy(content.encode_utf8_to_buf(&mut buffer)).into_owned();
            operator(text, small)
        }
        Content::Delimiter { content, size, ty } => {
            let node = operator(content.to_string(), false);
            let stretchy = if size.is_some() { "true" } else { "false" };
            let node = node.with(MathAttribute::Stretchy, stretchy);
            match size {
                Some(size) => {
                    let node = node
                        .with(MathAttribute::Symmetric, "true")
                        .with(MathAttribute::MinSize, height(size))
                        .with(MathAttribute::MaxSize, height(size));
                    if ty == DelimiterType::Fence {
                        node
                    } else {
                        unspaced(node)
                    }
                }
                None => node,
            }
        }
        Content::Punctuation(content) => operator(content.to_string(), false),
    })
}

/// A delimiter or an accent that grows with what it encloses.
pub(super) fn stretched(content: char) -> MathNode {
    operator(content.to_string(), false).with(MathAttribute::Stretchy, "true")
}

/// The element of an accent, if this character is one.
pub(super) fn accent(content: char, is_stretchy: bool) -> Option<MathNode> {
    let is_accent = is_stretchy || "^~‾¯_→←↔⃗˙¨˚´`˘ˇ\u{20db}\u{20dc}⏞⏟⎴⎵".contains(content);
    is_accent.then(|| {
        let stretchy = if is_stretchy || "‾_".contains(content) {
            "true"
        } else {
            "false"
        };
        operator(content.to_string(), false).with(MathAttribute::Stretchy, stretchy)
    })
}

fn operator(text: String, is_small: bool) -> MathNode {
    let node = MathNode::leaf(MathElement::Operator, text);
    if is_small {
        node.with(MathAttribute::Class, "math-small")
    } else {
        node
    }
}

fn unspaced(node: MathNode) -> MathNode {
    node.with(MathAttribute::LeftSpace, "0em")
        .with(MathAttribute::RightSpace, "0em")
}

fn letter(c: char, font: Option<Font>) -> MathNode {
    // The parser has the micro sign in place of mu, which would stand upright.
    let c = if c == '\u{b5}' { 'μ' } else { c };
    let is_upright = match font {
        Some(font) => font == Font::UpRight,
        None => font::is_upright(c),
    };
    let shown = font.map_or(c, |font| font::styled(c, font));
    let node = MathNode::leaf(MathElement::Identifier, shown);
    // Only letters would be shown in italics.
    if is_upright && c.is_alphabetic() || (font.is_some() && shown == c && font != Some(Font::Italic)) {
        node.with(MathAttribute::Variant, "normal")
    } else {
        node
    }
}

/// The heights of `\big`, `\Big`, `\bigg` and `\Bigg`.
fn height(size: DelimiterSize) -> &'static str {
    match size {
        DelimiterSize::Big => "1.2em",
        DelimiterSize::BIG => "1.8em",
        DelimiterSize::Bigg => "2.4em",
        DelimiterSize::BIGG => "3em",
    }
}

/// The element of `\text{…}`; formulas in it are parsed as such.
pub(super) fn text(source: &str, font: Option<Font>) -> Option<MathNode> {
    let mut children = Vec::new();
    for (index, part) in split_formulas(source).into_iter().enumerate() {
        if index % 2 == 1 {
            // A formula in a text in a formula has no further text.
            if part.contains("\\text") {
                return None;
            }
            children.extend(super::builder::build(&super::source::prepare(part)?, false)?);
        } else if !part.is_empty() {
            let words = plain(part)?;
            let styled = |c: char| font.map_or(c, |font| font::styled(c, font));
            // MathML drops spaces at the ends of a text.
            let trimmed = words.trim();
            let mut shown = String::new();
            if words.starts_with(' ') {
                shown.push('\u{a0}');
            }
            shown.extend(trimmed.chars().map(styled));
            if words.ends_with(' ') && !trimmed.is_empty() {
                shown.push('\u{a0}');
            }
            children.push(MathNode::leaf(MathElement::Text, shown));
        }
    }
    Some(MathNode::group(children))
}

/// Splits a text at its dollars that are not escaped: every second part is a formula.
fn split_formulas(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut is_escaped) = (0, false);
    for (at, c) in text.char_indices() {
        match c {
            '$' if !is_escaped => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    parts.push(&text[start..]);
    parts
}

/// Commands that are left out of a text: its letters are shown in the text's own font.
const FONT_COMMANDS: [&str; 17] = [
    "text",
    "textrm",
    "textbf",
    "textit",
    "textsf",
    "texttt",
    "textnormal",
    "mathrm",
    "mathbf",
    "mathsf",
    "mathit",
    "rm",
    "bf",
    "it",
    "sf",
    "emph",
    "mbox",
];

/// Returns a text of TeX's text mode as it is shown; `None` if it has an unknown command.
fn plain(source: &str) -> Option<String> {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '{' | '}' => {}
            '~' => out.push('\u{a0}'),
            '\n' | '\t' => out.push(' '),
            '-' if rest.starts_with("--") => {
                rest = &rest[2..];
                out.push('—');
            }
            '-' if rest.starts_with('-') => {
                rest = &rest[1..];
                out.push('–');
            }
            '`' if rest.starts_with('`') => {
                rest = &rest[1..];
                out.push('“');
            }
            '\'' if rest.starts_with('\'') => {
                rest = &rest[1..];
                out.push('”');
            }
            '\\' => {
                let length = rest
                    .find(|c: char| !c.is_ascii_alphabetic())
                    .unwrap_or(rest.len());
                let (name, after) = rest.split_at(length);
                if name.is_empty() {
                    let symbol = rest.chars().next()?;
                    rest = &rest[symbol.len_utf8()..];
                    match symbol {
                        ',' | ':' | ';' => out.push('\u{2009}'),
                        '!' | '/' | '-' => {}
                        ' ' => out.push(' '),
                        symbol if "%_&#${}".contains(symbol) => out.push(symbol),
                        _ => return None,
                    }
                } else {
                    rest = after.trim_start();
                    match name {
                        "quad" | "qquad" => out.push('\u{2003}'),
                        "ldots" | "dots" | "textellipsis" => out.push('…'),
                        "textbackslash" => out.push('\\'),
                        "textdegree" => out.push('°'),
                        "mathbb" | "mathcal" => {
                            let (letters, after) = rest.strip_prefix('{')?.split_once('}')?;
                            let font = if name == "mathbb" {
                                Font::DoubleStruck
                            } else {
                                Font::Script
                            };
                            out.extend(plain(letters)?.chars().map(|c| font::styled(c, font)));
                            rest = after;
                        }
                        name if FONT_COMMANDS.contains(&name) => {}
                        _ => return None,
                    }
                }
            }
            c => out.push(c),
        }
    }
    Some(out)
}
