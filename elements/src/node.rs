//! The parts of a view: static texts, elements, and views of other types.

use leptos::{
    prelude::{Mountable, Render, RenderHtml},
    tachys::{
        hydration::Cursor,
        renderer::{CastFrom, Rndr, types},
        view::PositionState,
    },
};

use crate::{
    child::{Child, ChildState},
    element::{Element, ElementState},
};

/// A part of a view.
pub enum Node {
    Text(&'static str),
    Element(Element),
    Child(Child),
}

/// A part in the page.
pub enum NodeState {
    Text(types::Text, &'static str),
    Element(ElementState),
    Child(ChildState),
}

impl Node {
    pub(crate) fn build(self) -> NodeState {
        match self {
            Node::Text(text) => NodeState::Text(Rndr::create_text_node(text), text),
            Node::Element(element) => NodeState::Element(element.build()),
            Node::Child(child) => NodeState::Child(child.build()),
        }
    }

    pub(crate) fn hydrate(self, cursor: &Cursor, position: &PositionState) -> NodeState {
        match self {
            Node::Text(text) => {
                // Its state is the same node.
                drop(RenderHtml::hydrate::<true>(text, cursor, position));
                let node = types::Text::cast_from(cursor.current());
                #[expect(clippy::expect_used, reason = "server and browser render the same tree")]
                NodeState::Text(
                    node.expect("the server renders a text where the browser has one"),
                    text,
                )
            }
            Node::Element(element) => NodeState::Element(element.hydrate_at(cursor, position)),
            Node::Child(child) => NodeState::Child(child.hydrate_at(cursor, position)),
        }
    }

    fn fits(&self, shown: &NodeState) -> bool {
        match (self, shown) {
            (Node::Element(new), NodeState::Element(old)) => new.fits(old),
            (Node::Text(new), NodeState::Text(_, old)) => new == old,
            (Node::Child(_), NodeState::Child(_)) => true,
            _ => false,
        }
    }

    fn rebuild(self, shown: &mut NodeState) {
        match (self, shown) {
            (Node::Element(new), NodeState::Element(old)) => new.update(old),
            (Node::Child(new), NodeState::Child(old)) => new.rebuild(old),
            // A text, which is the same: `fits` has excluded all else.
            _ => {}
        }
    }
}

/// True if nodes can take the place of those which are shown.
pub(crate) fn fit(nodes: &[Node], shown: &[NodeState]) -> bool {
    nodes.len() == shown.len() && nodes.iter().zip(shown).all(|(new, old)| new.fits(old))
}

/// Rebuilds nodes that fit.
pub(crate) fn rebuild(nodes: Vec<Node>, shown: &mut [NodeState]) {
    for (new, old) in nodes.into_iter().zip(shown) {
        new.rebuild(old);
    }
}

impl Mountable for NodeState {
    fn unmount(&mut self) {
        match self {
            NodeState::Text(node, _) => Rndr::remove(node),
            NodeState::Element(element) => element.unmount(),
            NodeState::Child(child) => child.unmount(),
        }
    }

    fn mount(&mut self, parent: &types::Element, marker: Option<&types::Node>) {
        match self {
            NodeState::Text(node, _) => Rndr::insert_node(parent, node, marker),
            NodeState::Element(element) => element.mount(parent, marker),
            NodeState::Child(child) => child.mount(parent, marker),
        }
    }

    fn insert_before_this(&self, child: &mut dyn Mountable) -> bool {
        match self {
            NodeState::Text(node, _) => node.insert_before_this(child),
            NodeState::Element(element) => element.insert_before_this(child),
            NodeState::Child(old) => old.insert_before_this(child),
        }
    }

    fn elements(&self) -> Vec<types::Element> {
        match self {
            NodeState::Text(..) => Vec::new(),
            NodeState::Element(element) => element.elements(),
            NodeState::Child(child) => child.elements(),
        }
    }
}
