//! A growing text node.
//!
//! Leptos replaces the whole text of a node that changes, and the browser then drops the selection in it. This node
//! appends the new text instead: a selection survives while the text grows, and a token costs as much as it is long.

use leptos::tachys::{
    html::attribute::{Attribute, any_attribute::AnyAttribute},
    hydration::Cursor,
    renderer::{
        CastFrom, Rndr,
        types::{Element, Node, Text},
    },
    view::{Mountable, Position, PositionState, Render, RenderHtml, add_attr::AddAnyAttr},
};

use crate::browser;

/// The whole text, to be shown in one text node.
pub struct TextNode(pub String);

/// The node with its current text.
pub struct TextNodeState {
    node: Text,
    text: String,
}

impl Render for TextNode {
    type State = TextNodeState;

    fn build(self) -> TextNodeState {
        TextNodeState {
            node: Rndr::create_text_node(&self.0),
            text: self.0,
        }
    }

    fn rebuild(self, state: &mut TextNodeState) {
        match self.0.strip_prefix(&state.text) {
            Some("") => return,
            Some(more) => browser::append_text(&state.node, more),
            None => Rndr::set_text(&state.node, &self.0),
        }
        state.text = self.0;
    }
}

impl AddAnyAttr for TextNode {
    type Output<A: Attribute> = Self;

    fn add_any_attr<A: Attribute>(self, _attribute: A) -> Self {
        self
    }
}

/// Renders the text on the server, like any other text.
impl RenderHtml for TextNode {
    type AsyncOutput = Self;
    type Owned = Self;

    const MIN_LENGTH: usize = 0;

    fn dry_resolve(&mut self) {}

    async fn resolve(self) -> Self {
        self
    }

    fn html_len(&self) -> usize {
        self.0.len()
    }

    fn to_html_with_buf(
        self,
        buf: &mut String,
        position: &mut Position,
        escape: bool,
        mark_branches: bool,
        extra_attrs: Vec<AnyAttribute>,
    ) {
        self.0
            .to_html_with_buf(buf, position, escape, mark_branches, extra_attrs);
    }

    fn hydrate<const FROM_SERVER: bool>(self, cursor: &Cursor, position: &PositionState) -> TextNodeState {
        if position.get() == Position::FirstChild {
            cursor.child();
        } else {
            cursor.sibling();
        }
        // Adjacent texts are separated by a comment.
        if matches!(position.get(), Position::NextChildAfterText) {
            cursor.sibling();
        }
        let node = cursor.current();
        #[expect(clippy::expect_used, reason = "server and browser render the same tree")]
        let node = Text::cast_from(node).expect("the server renders a text where the browser has one");
        if !FROM_SERVER {
            Rndr::set_text(&node, &self.0);
        }
        position.set(Position::NextChildAfterText);
        TextNodeState { node, text: self.0 }
    }

    fn into_owned(self) -> Self {
        self
    }
}

impl Mountable for TextNodeState {
    fn unmount(&mut self) {
        Rndr::remove(self.node.as_ref());
    }

    fn mount(&mut self, parent: &Element, marker: Option<&Node>) {
        Rndr::insert_node(parent, self.node.as_ref(), marker);
    }

    fn insert_before_this(&self, child: &mut dyn Mountable) -> bool {
        self.node.insert_before_this(child)
    }

    fn elements(&self) -> Vec<Element> {
        Vec::new()
    }
}
