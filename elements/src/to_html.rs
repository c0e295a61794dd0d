//! The HTML of views, on the server.

use std::pin::Pin;

use leptos::{
    prelude::RenderHtml,
    tachys::{ssr::StreamBuilder, view::Position},
};

use crate::{attribute::Attribute, child::Child, element::Element, node::Node, value::Value, view::View};

/// The elements without content, and without an end tag.
const VOID_ELEMENTS: [&str; 13] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
];

/// The place that the HTML is written to: all of it at once, or with parts that are still awaited.
pub(crate) trait Output {
    fn with_buf(&mut self, write: impl FnOnce(&mut String));
    fn write_child(&mut self, child: Child, position: &mut Position, escape: bool);
}

impl Output for String {
    fn with_buf(&mut self, write: impl FnOnce(&mut String)) {
        write(self);
    }

    fn write_child(&mut self, child: Child, position: &mut Position, escape: bool) {
        child.0.write_html(self, position, escape);
    }
}

impl Output for StreamBuilder {
    fn with_buf(&mut self, write: impl FnOnce(&mut String)) {
        StreamBuilder::with_buf(self, write);
    }

    fn write_child(&mut self, child: Child, position: &mut Position, escape: bool) {
        child.0.stream_html(self, position, escape);
    }
}

/// A view that has HTML. The marks of branches, which only Leptos's islands use, and attributes of components are left out.
pub(crate) trait Html: Send + Sized {
    /// Writes the HTML. `position` tells whether a text stands before it, from which the browser must be able to tell another one.
    fn write(self, out: &mut impl Output, position: &mut Position, escape: bool);

    /// Adds the views of other types in it, which may await something.
    fn collect_children<'a>(&'a mut self, children: &mut Vec<&'a mut Child>);
}

/// Runs `dry_resolve` of the views of other types.
pub(crate) fn dry_resolve(view: &mut impl Html) {
    let mut children = Vec::new();
    view.collect_children(&mut children);
    for child in children {
        child.0.dry_resolve();
    }
}

/// Replaces the views of other types by what they have awaited.
pub(crate) async fn resolve(view: &mut impl Html) {
    let mut children = Vec::new();
    view.collect_children(&mut children);
    for child in children {
        let view = std::mem::replace(child, Child::new(()));
        *child = view.0.resolve().await;
    }
}

/// The part of [`RenderHtml`] that a view without its type has.
pub(crate) trait DynHtml {
    fn dry_resolve(&mut self);
    fn resolve(self: Box<Self>) -> Pin<Box<dyn Future<Output = Child> + Send>>;
    fn write_html(self: Box<Self>, buf: &mut String, position: &mut Position, escape: bool);
    fn stream_html(self: Box<Self>, buf: &mut StreamBuilder, position: &mut Position, escape: bool);
}

impl<V: RenderHtml + 'static> DynHtml for V {
    fn dry_resolve(&mut self) {
        RenderHtml::dry_resolve(self);
    }

    fn resolve(self: Box<Self>) -> Pin<Box<dyn Future<Output = Child> + Send>> {
        Box::pin(async move { Child::new(RenderHtml::resolve(*self).await) })
    }

    fn write_html(self: Box<Self>, buf: &mut String, position: &mut Position, escape: bool) {
        self.to_html_with_buf(buf, position, escape, false, Vec::new());
    }

    // In order: the page is sent when it is whole.
    fn stream_html(self: Box<Self>, buf: &mut StreamBuilder, position: &mut Position, escape: bool) {
        self.to_html_async_with_buf::<false>(buf, position, escape, false, Vec::new());
    }
}

impl Html for Child {
    fn write(self, out: &mut impl Output, position: &mut Position, escape: bool) {
        out.write_child(self, position, escape);
    }

    fn collect_children<'a>(&'a mut self, children: &mut Vec<&'a mut Child>) {
        children.push(self);
    }
}

impl Html for View {
    fn write(self, out: &mut impl Output, position: &mut Position, escape: bool) {
        for node in self.nodes {
            node.write(out, position, escape);
        }
    }

    fn collect_children<'a>(&'a mut self, children: &mut Vec<&'a mut Child>) {
        for node in &mut self.nodes {
            node.collect_children(children);
        }
    }
}

impl Html for Node {
    fn write(self, out: &mut impl Output, position: &mut Position, escape: bool) {
        match self {
            Node::Text(text) => out.with_buf(|buf| {
                RenderHtml::to_html_with_buf(text, buf, position, escape, false, Vec::new());
            }),
            Node::Element(element) => element.write(out, position, escape),
            Node::Child(child) => child.write(out, position, escape),
        }
    }

    fn collect_children<'a>(&'a mut self, children: &mut Vec<&'a mut Child>) {
        match self {
            Node::Text(_) => {}
            Node::Element(element) => element.collect_children(children),
            Node::Child(child) => children.push(child),
        }
    }
}

impl Html for Element {
    fn write(self, out: &mut impl Output, position: &mut Position, _escape: bool) {
        let tag = self.tag;
        let mut inner_html = String::new();
        out.with_buf(|buf| {
            buf.extend(["<", tag]);
            inner_html = write_attributes(self.attributes, buf);
            buf.push('>');
        });
        if !VOID_ELEMENTS.contains(&tag) {
            if inner_html.is_empty() {
                *position = Position::FirstChild;
                for child in self.children {
                    child.write(out, position, true);
                }
            }
            out.with_buf(|buf| buf.extend([&inner_html, "</", tag, ">"]));
        }
        *position = Position::NextChild;
    }

    fn collect_children<'a>(&'a mut self, children: &mut Vec<&'a mut Child>) {
        for child in &mut self.children {
            child.collect_children(children);
        }
    }
}

/// Writes the attributes, and returns the HTML that is in place of children; empty without one. Properties, events and references are
/// the browser's.
fn write_attributes(attributes: Vec<Attribute>, buf: &mut String) -> String {
    let (mut class, mut style, mut inner_html) = (String::new(), String::new(), String::new());
    for attribute in attributes {
        match attribute {
            Attribute::Value("class", value) => {
                if let Some(classes) = value.read().text() {
                    class.clear();
                    class.push_str(classes);
                }
            }
            Attribute::Class(name, value) => {
                if value.read().text().is_some() {
                    class.extend([" ", name]);
                }
            }
            Attribute::Style(name, value) => {
                if let Some(value) = value.read().text() {
                    style.extend([name, ":", value, ";"]);
                }
            }
            Attribute::Value(name, value) => match value.read() {
                Value::Present => buf.extend([" ", name]),
                value => {
                    if let Some(text) = value.text() {
                        write_attribute(name, text, buf);
                    }
                }
            },
            Attribute::InnerHtml(html) => inner_html.push_str(html.read().text().unwrap_or_default()),
            Attribute::Property(..) | Attribute::Event(_) | Attribute::NodeRef(_) => {}
        }
    }
    for (name, text) in [("class", class.trim()), ("style", style.trim())] {
        if !text.is_empty() {
            write_attribute(name, text, buf);
        }
    }
    inner_html
}

fn write_attribute(name: &str, text: &str, buf: &mut String) {
    let text = html_escape::encode_double_quoted_attribute(text);
    buf.extend([" ", name, "=\"", &text, "\""]);
}
