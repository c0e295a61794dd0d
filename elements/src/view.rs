//! The output of `view!`.

use leptos::{
    prelude::{Mountable, Render},
    tachys::{hydration::Cursor, renderer::types, view::PositionState},
};

use crate::{
    child::Children,
    node::{self, Node, NodeState},
    render::{browser_view, replace},
};

/// A view: one or more nodes, side by side.
pub struct View(Vec<Node>);

/// A view in the page.
pub struct ViewState(Vec<NodeState>);

impl View {
    /// Called by `view!`.
    pub fn new(nodes: impl Children) -> Self {
        let mut view = Vec::new();
        nodes.push_to(&mut view);
        Self(view)
    }

    /// Called by `view!` in development builds, whose marker only Leptos's hot reloading uses.
    pub fn with_view_marker(self, _: &'static str) -> Self {
        self
    }
}

impl View {
    pub(crate) fn hydrate_at(self, cursor: &Cursor, position: &PositionState) -> ViewState {
        ViewState(
            self.0
                .into_iter()
                .map(|node| node.hydrate(cursor, position))
                .collect(),
        )
    }
}

impl Render for View {
    type State = ViewState;

    fn build(self) -> ViewState {
        ViewState(self.0.into_iter().map(Node::build).collect())
    }

    fn rebuild(self, shown: &mut ViewState) {
        if node::fit(&self.0, &shown.0) {
            node::rebuild(self.0, &mut shown.0);
        } else {
            let new = self.build();
            replace(shown, new);
        }
    }
}

browser_view!(View);

impl Mountable for ViewState {
    fn unmount(&mut self) {
        self.0.iter_mut().for_each(NodeState::unmount);
    }

    fn mount(&mut self, parent: &types::Element, marker: Option<&types::Node>) {
        self.0.iter_mut().for_each(|node| node.mount(parent, marker));
    }

    fn insert_before_this(&self, child: &mut dyn Mountable) -> bool {
        self.0.iter().any(|node| node.insert_before_this(child))
    }

    fn elements(&self) -> Vec<types::Element> {
        self.0.iter().flat_map(NodeState::elements).collect()
    }
}
