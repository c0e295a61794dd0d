//! The state of one text on the page.

use std::sync::{Mutex, PoisonError};

use leptos::prelude::*;

use super::{
    blocks::{self, Cited, Page},
    footnotes::Footnotes,
    node::{self, Maker, Nodes},
    prose::Read,
};
use crate::{
    markdown::{Document, Patch, parse},
    ui::erase::Erase,
};

/// A Markdown text and the nodes that show it.
///
/// It belongs to nobody's reactive owner: a text goes on growing while nothing shows it.
#[derive(Debug)]
pub struct MarkdownState {
    pub(super) nodes: Nodes,
    footnotes: ArcRwSignal<Footnotes>,
    source: Mutex<Source>,
}

#[derive(Debug)]
struct Source {
    maker: Maker,
    text: Text,
}

#[derive(Debug)]
enum Text {
    /// Read at once. It is kept in case that there is more of it after all.
    Whole(String),
    Growing(Box<Document>),
    /// Has grown to its end.
    Grown(Box<Document>),
}

impl MarkdownState {
    /// Begins with what there is of a growing text.
    pub fn new(text: &str) -> Self {
        let state = Self::empty(Text::Growing(Box::default()));
        state.append(text);
        state
    }

    /// Shows a text of which all is there.
    pub fn finished(text: &str) -> Self {
        let state = Self::empty(Text::Whole(text.to_owned()));
        let nodes = state.with_source(|Source { maker, .. }| {
            let nodes = maker.nodes(&parse(text));
            maker.end();
            nodes
        });
        state.nodes.splice(0, nodes);
        state.link_footnotes();
        state
    }

    fn empty(text: Text) -> Self {
        MarkdownState {
            nodes: Nodes::new(Vec::new()),
            footnotes: ArcRwSignal::default(),
            source: Mutex::new(Source {
                maker: Maker::default(),
                text,
            }),
        }
    }

    fn follow(&self, maker: &mut Maker, patches: &[Patch]) {
        for patch in patches {
            maker.apply(&self.nodes, patch);
        }
    }

    fn link_footnotes(&self) {
        let mut footnotes = Footnotes::default();
        node::footnotes(&self.nodes, &mut footnotes);
        if self.footnotes.with_untracked(|old| *old != footnotes) {
            self.footnotes.set(footnotes);
        }
    }

    fn with_source<T>(&self, run: impl FnOnce(&mut Source) -> T) -> T {
        run(&mut self.source.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Read for MarkdownState {
    /// Adds what came. The page changes where the text did; each call costs as much as the open end of the text is
    /// long, so what comes within a frame is best added at once.
    fn append(&self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.with_source(|Source { maker, text: old }| {
            let mut document = match std::mem::replace(old, Text::Whole(String::new())) {
                Text::Growing(document) | Text::Grown(document) => document,
                Text::Whole(before) => {
                    let mut document = Box::new(Document::new());
                    document.push(&before);
                    self.nodes.splice(0, maker.nodes(document.blocks()));
                    document
                }
            };
            self.follow(maker, &document.push(text));
            if document.is_closed() {
                maker.end();
            }
            *old = Text::Growing(document);
        });
    }

    /// Nothing more will come: shows the end of the text as it really is, and links its footnotes.
    fn finish(&self) {
        self.with_source(|Source { maker, text }| {
            *text = match std::mem::replace(text, Text::Whole(String::new())) {
                Text::Growing(mut document) => {
                    self.follow(maker, &document.finish());
                    maker.end();
                    self.link_footnotes();
                    Text::Grown(document)
                }
                ended => ended,
            };
        });
    }

    fn view(&self, prefix: String, cited: Option<Cited>) -> AnyView {
        let page = Page {
            prefix: prefix.into(),
            footnotes: self.footnotes.clone(),
            cited,
        };
        view! { <div class="md" data-lazy="markdown">{blocks::all(&self.nodes, &page)}</div> }.erase()
    }
}
