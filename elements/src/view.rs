//! The output of `view!`.

use std::panic::Location;

use leptos::{
    prelude::{Mountable, Render},
    tachys::{hydration::Cursor, renderer::types, view::PositionState},
};

use crate::{
    child::Children,
    node::{self, Node, NodeState},
    render::{render_html, replace},
};

/// A view: one or more nodes, side by side.
pub struct View {
    place: Place,
    pub(crate) nodes: Vec<Node>,
}

/// A view in the page.
pub struct ViewState {
    place: Place,
    nodes: Vec<NodeState>,
}

/// The place of a `view!` in the source. Views of one place are the same view, rendered again: it keeps its elements, and with them
/// what the user did to them. Views of two places have nothing in common, even if they look the same.
type Place = &'static Location<'static>;

impl View {
    /// Called by `view!`.
    #[track_caller]
    pub fn new(nodes: impl Children) -> Self {
        let mut view = Self {
            place: Location::caller(),
            nodes: Vec::new(),
        };
        nodes.push_to(&mut view.nodes);
        view
    }

    /// Called by `view!` in development builds, whose marker only Leptos's hot reloading uses.
    pub fn with_view_marker(self, _: &'static str) -> Self {
        self
    }
}

impl View {
    pub(crate) fn hydrate_at(self, cursor: &Cursor, position: &PositionState) -> ViewState {
        let nodes = self.nodes.into_iter();
        ViewState {
            place: self.place,
            nodes: nodes.map(|node| node.hydrate(cursor, position)).collect(),
        }
    }
}

impl Render for View {
    type State = ViewState;

    fn build(self) -> ViewState {
        ViewState {
            place: self.place,
            nodes: self.nodes.into_iter().map(Node::build).collect(),
        }
    }

    fn rebuild(self, shown: &mut ViewState) {
        if self.place == shown.place && node::fit(&self.nodes, &shown.nodes) {
            node::rebuild(self.nodes, &mut shown.nodes);
        } else {
            let new = self.build();
            replace(shown, new);
        }
    }
}

render_html!(View);

impl Mountable for ViewState {
    fn unmount(&mut self) {
        self.nodes.iter_mut().for_each(NodeState::unmount);
    }

    fn mount(&mut self, parent: &types::Element, marker: Option<&types::Node>) {
        self.nodes.iter_mut().for_each(|node| node.mount(parent, marker));
    }

    fn insert_before_this(&self, child: &mut dyn Mountable) -> bool {
        self.nodes.iter().any(|node| node.insert_before_this(child))
    }

    fn elements(&self) -> Vec<types::Element> {
        self.nodes.iter().flat_map(NodeState::elements).collect()
    }
}
