//! The element, and its renderer.

use leptos::{
    prelude::{Mountable, Render},
    tachys::{
        hydration::Cursor,
        renderer::{CastFrom, Rndr, types},
        view::{Position, PositionState},
    },
};

use crate::{
    attribute::{Attribute, AttributeState, Before},
    child::Children,
    node::{self, Node, NodeState},
    render::{render_html, replace},
};

/// An element: its tag, its attributes and its children, as data.
pub struct Element {
    pub(crate) tag: &'static str,
    namespace: Option<&'static str>,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) children: Vec<Node>,
}

/// An element in the page.
pub struct ElementState {
    element: types::Element,
    tag: &'static str,
    attributes: Vec<AttributeState>,
    children: Vec<NodeState>,
}

impl Element {
    pub(crate) fn new(tag: &'static str, namespace: Option<&'static str>) -> Self {
        Self {
            tag,
            namespace,
            attributes: Vec::new(),
            children: Vec::new(),
        }
    }

    /// Adds children.
    pub fn child(mut self, children: impl Children) -> Self {
        children.push_to(&mut self.children);
        self
    }

    /// True if the element can take the place of that which is shown. Both are of one place in the source, unless they are children
    /// of a component, so tags, names of attributes, texts and the number of children are nearly always the same; ids may differ.
    pub(crate) fn fits(&self, shown: &ElementState) -> bool {
        self.tag == shown.tag
            && self.attributes.len() == shown.attributes.len()
            && self
                .attributes
                .iter()
                .zip(&shown.attributes)
                .all(|(new, old)| new.fits(old))
            && node::fit(&self.children, &shown.children)
    }

    /// Updates an element that fits.
    pub(crate) fn update(self, shown: &mut ElementState) {
        for (new, old) in self.attributes.into_iter().zip(&mut shown.attributes) {
            new.update(old, &shown.element);
        }
        node::rebuild(self.children, &mut shown.children);
    }

    pub(crate) fn hydrate_at(self, cursor: &Cursor, position: &PositionState) -> ElementState {
        match position.get() {
            Position::FirstChild => cursor.child(),
            Position::Current => {}
            _ => cursor.sibling(),
        }
        #[expect(clippy::expect_used, reason = "server and browser render the same tree")]
        let element = types::Element::cast_from(cursor.current())
            .expect("the server renders an element where the browser has one");
        let attributes = self.attributes.into_iter();
        let attributes = attributes
            .map(|attribute| attribute.apply(&element, Before::Rendered))
            .collect();
        position.set(Position::FirstChild);
        let children = self.children.into_iter();
        let children = children.map(|child| child.hydrate(cursor, position)).collect();
        cursor.set(element.clone().into());
        position.set(Position::NextChild);
        ElementState {
            element,
            tag: self.tag,
            attributes,
            children,
        }
    }
}

impl Render for Element {
    type State = ElementState;

    fn build(self) -> ElementState {
        let element = Rndr::create_element(self.tag, self.namespace);
        let attributes = self.attributes.into_iter();
        let attributes = attributes
            .map(|attribute| attribute.apply(&element, Before::New))
            .collect();
        let children = self.children.into_iter().map(|child| {
            let mut child = child.build();
            child.mount(&element, None);
            child
        });
        ElementState {
            tag: self.tag,
            attributes,
            children: children.collect(),
            element,
        }
    }

    fn rebuild(self, shown: &mut ElementState) {
        if self.fits(shown) {
            self.update(shown);
        } else {
            let new = self.build();
            replace(shown, new);
        }
    }
}

render_html!(Element);

impl Mountable for ElementState {
    fn unmount(&mut self) {
        Rndr::remove(&self.element);
    }

    fn mount(&mut self, parent: &types::Element, marker: Option<&types::Node>) {
        Rndr::insert_node(parent, &self.element, marker);
    }

    fn insert_before_this(&self, child: &mut dyn Mountable) -> bool {
        self.element.insert_before_this(child)
    }

    fn elements(&self) -> Vec<types::Element> {
        vec![self.element.clone()]
    }
}
