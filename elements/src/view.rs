//! What `view!` returns.

use leptos::{
    prelude::{AddAnyAttr, Mountable, Render, RenderHtml},
    tachys::{
        html::attribute::{Attribute, any_attribute::AnyAttribute},
        hydration::Cursor,
        renderer::types,
        view::{Position, PositionState},
    },
};

use crate::{
    child::Children,
    node::{Node, NodeState},
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

impl Render for View {
    type State = ViewState;

    fn build(self) -> ViewState {
        ViewState(self.0.into_iter().map(Node::build).collect())
    }

    fn rebuild(self, shown: &mut ViewState) {
        let fits =
            self.0.len() == shown.0.len() && self.0.iter().zip(&shown.0).all(|(new, old)| new.fits(old));
        if fits {
            for (new, old) in self.0.into_iter().zip(&mut shown.0) {
                new.rebuild(old);
            }
        } else {
            let mut new = self.build();
            shown.insert_before_this(&mut new);
            shown.unmount();
            *shown = new;
        }
    }
}

impl RenderHtml for View {
    type AsyncOutput = Self;
    type Owned = Self;

    const MIN_LENGTH: usize = 0;

    fn hydrate<const FROM_SERVER: bool>(self, cursor: &Cursor, position: &PositionState) -> ViewState {
        ViewState(
            self.0
                .into_iter()
                .map(|node| node.hydrate(cursor, position))
                .collect(),
        )
    }

    fn into_owned(self) -> Self {
        self
    }

    // The remaining methods are used on the server only, which keeps Leptos's views.

    fn dry_resolve(&mut self) {}

    async fn resolve(self) -> Self {
        self
    }

    fn to_html_with_buf(self, _: &mut String, _: &mut Position, _: bool, _: bool, _: Vec<AnyAttribute>) {}
}

impl AddAnyAttr for View {
    type Output<A: Attribute> = Self;

    fn add_any_attr<A: Attribute>(self, _: A) -> Self {
        self
    }
}

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
