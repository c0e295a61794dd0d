//! The conversion of `pulldown-latex`'s events into the tree.
//!
//! The events are a prefix notation: a script or a fraction announces how many elements follow as its parts.

use pulldown_latex::event::{
    ColorTarget, Content, DelimiterSize, DelimiterType, Event, Font, Grouping, ScriptPosition, ScriptType,
    StateChange, Style, Visual,
};
use pulldown_latex::{Parser, Storage};

use super::colour;
use super::leaf::{self, Atom};
use super::node::{MathAttribute, MathContent, MathElement, MathNode};
use super::space::{length, push_space, space};
use super::table;

/// The maximum number of events, so that macros cannot make a formula endless.
const MAX_EVENTS: usize = 10_000;

/// The maximum nesting of groups, scripts, fractions and changes of style.
const MAX_DEPTH: usize = 64;

/// The space around the name of a function.
const THIN_SPACE: &str = "0.1667em";

/// Parses a prepared formula.
pub(super) fn build(latex: &str, is_display: bool) -> Option<Vec<MathNode>> {
    let storage = Storage::new();
    let mut events = Vec::new();
    for event in Parser::new(latex, &storage) {
        if events.len() == MAX_EVENTS {
            return None;
        }
        events.push(event.ok()?);
    }
    let mut builder = MathBuilder {
        events: &events,
        at: 0,
        depth: 0,
    };
    let style = RowStyle {
        font: None,
        is_display,
        is_enclosed: false,
    };
    let children = builder.row(style, None)?;
    (builder.at == events.len()).then_some(children)
}

/// The state that a row passes to its elements.
#[derive(Clone, Copy)]
pub(super) struct RowStyle {
    pub font: Option<Font>,
    pub is_display: bool,
    /// True between `\left` and `\right`, where `\middle` is as high as they are.
    pub is_enclosed: bool,
}

/// An element with its role in the row.
struct RowElement {
    node: MathNode,
    atom: Atom,
    /// True for the name of a function, with or without scripts.
    is_function: bool,
}

pub(super) struct MathBuilder<'a> {
    events: &'a [Event<'a>],
    at: usize,
    depth: usize,
}

impl<'a> MathBuilder<'a> {
    fn peek(&self) -> Option<&'a Event<'a>> {
        self.events.get(self.at)
    }

    pub fn next(&mut self) -> Option<&'a Event<'a>> {
        let event = self.events.get(self.at)?;
        self.at += 1;
        Some(event)
    }

    /// Builds elements up to the end of the group or the cell. `previous` is what stands before the first one.
    pub fn row(&mut self, mut style: RowStyle, mut previous: Option<Atom>) -> Option<Vec<MathNode>> {
        self.descend()?;
        let mut row = Vec::new();
        while let Some(event) = self.peek() {
            match event {
                Event::End | Event::EnvironmentFlow(_) => break,
                Event::StateChange(change) => {
                    self.at += 1;
                    match change {
                        StateChange::Font(font) => style.font = *font,
                        StateChange::Color(change) => {
                            let class = match change.target {
                                ColorTarget::Text => colour::text_class(change.color),
                                ColorTarget::Background => colour::background_class(change.color),
                                ColorTarget::Border => Some("math-boxed"),
                            };
                            let rest = self.row(style, previous)?;
                            match class {
                                Some(class) => row.push(
                                    MathNode::row(MathElement::Row, rest).with(MathAttribute::Class, class),
                                ),
                                None => row.extend(rest),
                            }
                            break;
                        }
                        StateChange::Style(change) => {
                            let rest = self.row(
                                RowStyle {
                                    is_display: matches!(change, Style::Display),
                                    ..style
                                },
                                previous,
                            )?;
                            row.push(styled(*change, rest));
                            break;
                        }
                    }
                }
                Event::Space { width, height, depth } => {
                    self.at += 1;
                    push_space(*width, *height, *depth, &mut row);
                }
                _ => {
                    let element = self.element(style, previous)?;
                    let is_after_letter = matches!(previous, Some(Atom::Ord | Atom::Close | Atom::Inner));
                    if element.is_function && is_after_letter {
                        row.push(space(THIN_SPACE));
                    }
                    previous = Some(element.atom);
                    push_merged(&mut row, element.node);
                    if element.is_function
                        && let Some(next) = self.next_atom()
                    {
                        row.push(MathNode::leaf(MathElement::Operator, "\u{2061}"));
                        if !matches!(next, Atom::Open | Atom::Close | Atom::Punct | Atom::Rel) {
                            row.push(space(THIN_SPACE));
                        }
                    }
                }
            }
        }
        self.depth -= 1;
        Some(row)
    }

    /// Counts one more level of nesting; `None` beyond the limit.
    fn descend(&mut self) -> Option<()> {
        self.depth += 1;
        (self.depth <= MAX_DEPTH).then_some(())
    }

    /// The role of the next element in its row; `None` at the row's end.
    fn next_atom(&self) -> Option<Atom> {
        let mut rest = self.events[self.at..]
            .iter()
            .skip_while(|event| matches!(event, Event::Script { .. } | Event::StateChange(_)));
        Some(match rest.next()? {
            Event::End | Event::EnvironmentFlow(_) => return None,
            Event::Begin(Grouping::LeftRight(..)) | Event::Space { .. } => Atom::Open,
            Event::Content(content) => leaf::atom(content),
            _ => Atom::Ord,
        })
    }

    /// Builds the next element.
    fn element(&mut self, style: RowStyle, previous: Option<Atom>) -> Option<RowElement> {
        self.descend()?;
        let mut is_function = false;
        let (node, atom) = match self.next()? {
            Event::Content(Content::Text(text)) => (leaf::text(text, style.font)?, Atom::Ord),
            // The parser gives `\middle` the size of `\big`.
            Event::Content(Content::Delimiter {
                content,
                size: Some(DelimiterSize::Big),
                ty: DelimiterType::Fence,
            }) if style.is_enclosed => (leaf::stretched(*content), Atom::Punct),
            Event::Content(content) => {
                is_function = matches!(content, Content::Function(_));
                let node = leaf::content(content, style.font, previous, self.next_atom())?;
                (node, leaf::atom(content))
            }
            Event::Begin(Grouping::Normal) => (self.group(style)?, Atom::Ord),
            Event::Begin(Grouping::LeftRight(open, close)) => {
                let mut children = Vec::new();
                children.extend(open.map(leaf::stretched));
                let inner = RowStyle {
                    is_enclosed: true,
                    ..style
                };
                children.extend(self.row(inner, Some(Atom::Open))?);
                self.end()?;
                children.extend(close.map(leaf::stretched));
                (MathNode::row(MathElement::Row, children), Atom::Inner)
            }
            Event::Begin(grouping) => (table::environment(self, grouping, style)?, Atom::Inner),
            Event::Visual(visual) => (self.visual(*visual, style)?, Atom::Ord),
            Event::Script { ty, position } => {
                let base = self.script(*ty, *position, style, previous)?;
                is_function = base.is_function;
                (base.node, base.atom)
            }
            Event::Space { width, height, depth } => {
                let mut space = Vec::new();
                push_space(*width, *height, *depth, &mut space);
                (MathNode::group(space), Atom::Ord)
            }
            Event::StateChange(_) => (MathNode::row(MathElement::Row, Vec::new()), Atom::Ord),
            Event::End | Event::EnvironmentFlow(_) => return None,
        };
        self.depth -= 1;
        Some(RowElement {
            node,
            atom,
            is_function,
        })
    }

    fn group(&mut self, style: RowStyle) -> Option<MathNode> {
        let children = self.row(style, None)?;
        self.end()?;
        Some(MathNode::group(children))
    }

    fn end(&mut self) -> Option<()> {
        matches!(self.next()?, Event::End).then_some(())
    }

    fn part(&mut self, style: RowStyle) -> Option<MathNode> {
        Some(self.element(style, None)?.node)
    }

    fn visual(&mut self, visual: Visual, style: RowStyle) -> Option<MathNode> {
        let inner = RowStyle {
            is_display: false,
            ..style
        };
        Some(match visual {
            Visual::SquareRoot => MathNode::row(MathElement::SquareRoot, vec![self.part(inner)?]),
            Visual::Root => MathNode::row(MathElement::Root, vec![self.part(inner)?, self.part(inner)?]),
            Visual::Fraction(line) => {
                let fraction =
                    MathNode::row(MathElement::Fraction, vec![self.part(inner)?, self.part(inner)?]);
                match line {
                    Some(line) => fraction.with(MathAttribute::LineThickness, length(line)),
                    None => fraction,
                }
            }
            Visual::Negation => negated(self.part(style)?),
        })
    }

    /// Builds a base with its scripts.
    fn script(
        &mut self,
        ty: ScriptType,
        position: ScriptPosition,
        style: RowStyle,
        previous: Option<Atom>,
    ) -> Option<RowElement> {
        let mut base = self.element(style, previous)?;
        let is_above_below = match position {
            ScriptPosition::Right => false,
            ScriptPosition::AboveBelow => true,
            ScriptPosition::Movable => style.is_display,
        };
        let inner = RowStyle {
            is_display: false,
            ..style
        };
        let accent = match self.peek()? {
            Event::Content(Content::Ordinary { content, stretchy }) if is_above_below => {
                leaf::accent(*content, *stretchy)
            }
            _ => None,
        };
        let (element, attribute) = match (ty, is_above_below) {
            (ScriptType::Subscript, false) => (MathElement::Subscript, None),
            (ScriptType::Superscript, false) => (MathElement::Superscript, None),
            (ScriptType::SubSuperscript, false) => (MathElement::SubSuperscript, None),
            (ScriptType::Subscript, true) => (MathElement::Under, Some(MathAttribute::AccentUnder)),
            (ScriptType::Superscript, true) => (MathElement::Over, Some(MathAttribute::Accent)),
            (ScriptType::SubSuperscript, true) => (MathElement::UnderOver, None),
        };
        let mut parts = vec![base.node];
        let (accent, attribute) = (accent.filter(|_| attribute.is_some()), attribute);
        if let Some(accent) = accent.clone() {
            self.at += 1;
            parts.push(accent);
        } else {
            parts.push(self.part(inner)?);
        }
        if ty == ScriptType::SubSuperscript {
            parts.push(self.part(inner)?);
        }
        base.node = MathNode::row(element, parts);
        if let (Some(attribute), Some(_)) = (attribute, accent) {
            base.node = base.node.with(attribute, "true");
        }
        Some(base)
    }
}

/// Appends an element. Upright letters in sequence become one identifier, as in `\mathrm{max}`.
fn push_merged(row: &mut Vec<MathNode>, node: MathNode) {
    let is_upright = |node: &MathNode| {
        node.element == MathElement::Identifier
            && node.attributes.first().map(|(attribute, _)| *attribute) == Some(MathAttribute::Variant)
            && matches!(&node.content, MathContent::Text(text) if text.chars().all(|c| c.is_ascii_alphabetic()))
    };
    match (row.last_mut(), &node.content) {
        (Some(last), MathContent::Text(more)) if is_upright(last) && is_upright(&node) => {
            if let MathContent::Text(text) = &mut last.content {
                text.push_str(more);
            }
        }
        _ => row.push(node),
    }
}

fn styled(style: Style, children: Vec<MathNode>) -> MathNode {
    let (display, level) = match style {
        Style::Display => ("true", "0"),
        Style::Text => ("false", "0"),
        Style::Script => ("false", "1"),
        Style::ScriptScript => ("false", "2"),
    };
    MathNode::row(MathElement::Style, children)
        .with(MathAttribute::DisplayStyle, display)
        .with(MathAttribute::ScriptLevel, level)
}

/// A line through an element: for an operator the character that means its negation.
fn negated(mut node: MathNode) -> MathNode {
    match &mut node.content {
        MathContent::Text(text) if node.element == MathElement::Operator && text.chars().count() == 1 => {
            text.push('\u{338}');
            node
        }
        _ => MathNode::row(MathElement::Row, vec![node]).with(MathAttribute::Class, "math-cancelled"),
    }
}
