//! The tree: MathML Core, as far as formulas need it.

use std::borrow::Cow;

/// An element of MathML Core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MathElement {
    Math,
    Row,
    Identifier,
    Number,
    Operator,
    Text,
    Space,
    Style,
    Fraction,
    SquareRoot,
    Root,
    Subscript,
    Superscript,
    SubSuperscript,
    Under,
    Over,
    UnderOver,
    Phantom,
    Table,
    TableRow,
    TableCell,
}

impl MathElement {
    /// Returns the name of the MathML element.
    pub fn name(self) -> &'static str {
        match self {
            Self::Math => "math",
            Self::Row => "mrow",
            Self::Identifier => "mi",
            Self::Number => "mn",
            Self::Operator => "mo",
            Self::Text => "mtext",
            Self::Space => "mspace",
            Self::Style => "mstyle",
            Self::Fraction => "mfrac",
            Self::SquareRoot => "msqrt",
            Self::Root => "mroot",
            Self::Subscript => "msub",
            Self::Superscript => "msup",
            Self::SubSuperscript => "msubsup",
            Self::Under => "munder",
            Self::Over => "mover",
            Self::UnderOver => "munderover",
            Self::Phantom => "mphantom",
            Self::Table => "mtable",
            Self::TableRow => "mtr",
            Self::TableCell => "mtd",
        }
    }
}

/// An attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MathAttribute {
    Accent,
    AccentUnder,
    /// The classes that the style sheet knows.
    Class,
    Display,
    DisplayStyle,
    Form,
    LargeOperator,
    LeftSpace,
    LineThickness,
    MaxSize,
    MinSize,
    MovableLimits,
    RightSpace,
    ScriptLevel,
    Stretchy,
    Symmetric,
    Variant,
    Width,
    Height,
    Depth,
}

impl MathAttribute {
    pub fn name(self) -> &'static str {
        match self {
            Self::Accent => "accent",
            Self::AccentUnder => "accentunder",
            Self::Class => "class",
            Self::Display => "display",
            Self::DisplayStyle => "displaystyle",
            Self::Form => "form",
            Self::LargeOperator => "largeop",
            Self::LeftSpace => "lspace",
            Self::LineThickness => "linethickness",
            Self::MaxSize => "maxsize",
            Self::MinSize => "minsize",
            Self::MovableLimits => "movablelimits",
            Self::RightSpace => "rspace",
            Self::ScriptLevel => "scriptlevel",
            Self::Stretchy => "stretchy",
            Self::Symmetric => "symmetric",
            Self::Variant => "mathvariant",
            Self::Width => "width",
            Self::Height => "height",
            Self::Depth => "depth",
        }
    }
}

/// An element with its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MathNode {
    pub element: MathElement,
    pub attributes: Vec<(MathAttribute, Cow<'static, str>)>,
    pub content: MathContent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MathContent {
    Text(String),
    Children(Vec<MathNode>),
}

impl MathNode {
    /// An element with children.
    pub fn row(element: MathElement, children: Vec<MathNode>) -> Self {
        MathNode {
            element,
            attributes: Vec::new(),
            content: MathContent::Children(children),
        }
    }

    /// An element with text.
    pub fn leaf(element: MathElement, text: impl Into<String>) -> Self {
        MathNode {
            element,
            attributes: Vec::new(),
            content: MathContent::Text(text.into()),
        }
    }

    /// Groups nodes into one.
    pub fn group(mut children: Vec<MathNode>) -> Self {
        match (children.pop(), children.is_empty()) {
            (Some(only), true) => only,
            (last, _) => {
                children.extend(last);
                Self::row(MathElement::Row, children)
            }
        }
    }

    /// The number of elements.
    pub fn count(&self) -> usize {
        match &self.content {
            MathContent::Text(_) => 1,
            MathContent::Children(children) => 1 + children.iter().map(MathNode::count).sum::<usize>(),
        }
    }

    pub fn with(mut self, attribute: MathAttribute, value: impl Into<Cow<'static, str>>) -> Self {
        self.attributes.push((attribute, value.into()));
        self
    }
}
