//! Formulas: MathML in one view, which never changes.
//!
//! The server draws a formula as MathML. The browser takes that over as it is, without its code; only formulas that it
//! shows itself have to be drawn, by code that is loaded when the first one may begin. Until then, while a formula is unfinished,
//! and if it cannot be parsed, its source is shown.

use std::sync::Arc;

use leptos::{
    tachys::{
        html::attribute::{Attribute, any_attribute::AnyAttribute},
        hydration::Cursor,
        renderer::{
            CastFrom, Rndr,
            types::{Element, Node},
        },
        view::{Mountable, Position, PositionState, Render, RenderHtml, add_attr::AddAnyAttr},
    },
    wasm_split::wasm_split,
};

use crate::{
    browser,
    runtime::lazy::{LoadError, when_loaded},
};
use parlor_markup::{
    markdown::Formula,
    math::{self, MathContent, MathNode},
};

const MATHML_NAMESPACE: &str = "http://www.w3.org/1998/Math/MathML";

/// A formula.
pub struct FormulaView(pub Arc<Formula>);

/// The element of a formula.
pub struct FormulaState {
    element: Element,
    formula: Arc<Formula>,
}

/// The class of an element that shows MathML, or the source.
fn class(formula: &Formula, is_drawn: bool) -> &'static str {
    match (is_drawn, formula.delimiters.is_display()) {
        (true, false) => "md-formula",
        (true, true) => "md-formula md-formula-display",
        (false, false) => "md-formula-raw",
        (false, true) => "md-formula-raw md-formula-display",
    }
}

/// Loads the code that draws formulas. Loaded before a formula is complete, it draws it at once, and nothing moves.
pub fn preload() {
    when_loaded(Box::pin(async { Ok(load_math().await?) }), drop);
}

fn show(element: &Element, formula: &Arc<Formula>) {
    Rndr::clear_children(element);
    Rndr::set_attribute(element, "class", class(formula, false));
    let source = Rndr::create_text_node(&formula.source());
    Rndr::insert_node(element, source.as_ref(), None);
    if formula.is_open {
        preload();
    } else {
        // If it cannot be loaded, the source stays.
        when_loaded(Box::pin(draw(element.clone(), formula.clone())), drop);
    }
}

/// Draws a formula in place of its source.
#[wasm_split(math, wasm_split_path = leptos::wasm_split, fallible, preload(load_math))]
fn draw(element: Element, formula: Arc<Formula>) -> Result<(), LoadError> {
    if let Some(tree) = math::parse(&formula.latex, formula.delimiters.is_display()) {
        browser::load_math_font();
        let source = Rndr::create_element("span", None);
        Rndr::set_attribute(&source, "class", "md-formula-source");
        Rndr::set_attribute(&source, "aria-hidden", "true");
        let text = Rndr::create_text_node(&formula.source());
        Rndr::insert_node(&source, text.as_ref(), None);
        Rndr::clear_children(&element);
        Rndr::set_attribute(&element, "class", class(&formula, true));
        Rndr::insert_node(&element, create(&tree).as_ref(), None);
        Rndr::insert_node(&element, source.as_ref(), None);
    }
    Ok(())
}

fn create(node: &MathNode) -> Element {
    let element = Rndr::create_element(node.element.name(), Some(MATHML_NAMESPACE));
    for (attribute, value) in &node.attributes {
        Rndr::set_attribute(&element, attribute.name(), value);
    }
    match &node.content {
        MathContent::Text(text) => {
            Rndr::insert_node(&element, Rndr::create_text_node(text).as_ref(), None);
        }
        MathContent::Children(children) => {
            for child in children {
                Rndr::insert_node(&element, create(child).as_ref(), None);
            }
        }
    }
    element
}

/// Writes what [`draw`] shows.
fn write_formula(formula: &Formula, out: &mut String) {
    let tree = (!formula.is_open).then(|| math::parse(&formula.latex, formula.delimiters.is_display()));
    let tree = tree.flatten();
    // A formula does not decide on the direction of the text around it.
    out.push_str("<span dir=\"ltr\" class=\"");
    out.push_str(class(formula, tree.is_some()));
    out.push_str("\">");
    match tree {
        Some(tree) => {
            write_node(&tree, out);
            out.push_str("<span class=\"md-formula-source\" aria-hidden=\"true\">");
            write_text(formula.source(), out);
            out.push_str("</span>");
        }
        None => write_text(formula.source(), out),
    }
    out.push_str("</span>");
}

fn write_node(node: &MathNode, out: &mut String) {
    let name = node.element.name();
    out.push('<');
    out.push_str(name);
    for (attribute, value) in &node.attributes {
        out.push(' ');
        out.push_str(attribute.name());
        out.push_str("=\"");
        out.push_str(value);
        out.push('"');
    }
    out.push('>');
    match &node.content {
        MathContent::Text(text) => write_text(text.clone(), out),
        MathContent::Children(children) => children.iter().for_each(|child| write_node(child, out)),
    }
    out.push_str("</");
    out.push_str(name);
    out.push('>');
}

/// Writes a text, escaped as all text.
fn write_text(text: String, out: &mut String) {
    text.to_html_with_buf(out, &mut Position::FirstChild, true, false, Vec::new());
}

impl Render for FormulaView {
    type State = FormulaState;

    fn build(self) -> FormulaState {
        let element = Rndr::create_element("span", None);
        Rndr::set_attribute(&element, "dir", "ltr");
        show(&element, &self.0);
        FormulaState {
            element,
            formula: self.0,
        }
    }

    fn rebuild(self, state: &mut FormulaState) {
        if *self.0 != *state.formula {
            show(&state.element, &self.0);
            state.formula = self.0;
        }
    }
}

impl AddAnyAttr for FormulaView {
    type Output<A: Attribute> = Self;

    fn add_any_attr<A: Attribute>(self, _attribute: A) -> Self {
        self
    }
}

impl RenderHtml for FormulaView {
    type AsyncOutput = Self;
    type Owned = Self;

    const MIN_LENGTH: usize = 0;

    fn dry_resolve(&mut self) {}

    async fn resolve(self) -> Self {
        self
    }

    fn to_html_with_buf(
        self,
        buf: &mut String,
        position: &mut Position,
        _escape: bool,
        _mark_branches: bool,
        _extra_attrs: Vec<AnyAttribute>,
    ) {
        write_formula(&self.0, buf);
        *position = Position::NextChild;
    }

    fn hydrate<const FROM_SERVER: bool>(self, cursor: &Cursor, position: &PositionState) -> FormulaState {
        match position.get() {
            Position::FirstChild => cursor.child(),
            Position::Current => {}
            _ => cursor.sibling(),
        }
        #[expect(clippy::expect_used, reason = "server and browser render the same tree")]
        let element = Element::cast_from(cursor.current())
            .expect("the server renders an element where the browser has one");
        if FROM_SERVER {
            browser::load_math_font();
        } else {
            show(&element, &self.0);
        }
        position.set(Position::NextChild);
        FormulaState {
            element,
            formula: self.0,
        }
    }

    fn into_owned(self) -> Self {
        self
    }
}

impl Mountable for FormulaState {
    fn unmount(&mut self) {
        Rndr::remove(self.element.as_ref());
    }

    fn mount(&mut self, parent: &Element, marker: Option<&Node>) {
        Rndr::insert_node(parent, self.element.as_ref(), marker);
    }

    fn insert_before_this(&self, child: &mut dyn Mountable) -> bool {
        self.element.insert_before_this(child)
    }

    fn elements(&self) -> Vec<Element> {
        vec![self.element.clone()]
    }
}
