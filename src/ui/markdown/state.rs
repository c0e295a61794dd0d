//! The state of one text on the page.

use std::sync::{Arc, Mutex, PoisonError};

use leptos::prelude::*;

use super::{
    blocks::{self, Cited, Page},
    footnotes::Footnotes,
    node::{self, Maker, Nodes},
    piece::{Meter, nth_code},
    prose::Read,
};
use crate::{
    markdown::{Document, Patch, parse},
    ui::{erase::Erase, more::more},
};

/// A Markdown text and the nodes that show it.
///
/// It belongs to nobody's reactive owner: a text goes on growing while nothing shows it.
#[derive(Debug)]
pub struct MarkdownState {
    pub(super) nodes: Nodes,
    footnotes: ArcRwSignal<Footnotes>,
    /// There is more than is shown.
    pub(super) has_more: ArcRwSignal<bool>,
    source: Mutex<Source>,
}

#[derive(Debug)]
struct Source {
    maker: Maker,
    text: Text,
    /// Of the piece that is shown last.
    meter: Meter,
    /// The rest after that piece.
    rest: String,
    /// Nothing more will come after the rest.
    ended: bool,
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
        let mut meter = Meter::default();
        if meter.take(text) < text.len() {
            let state = Self::new(text);
            state.finish();
            return state;
        }
        let state = Self::empty(Text::Whole(text.to_owned()));
        let nodes = state.with_source(|source| {
            source.meter = meter;
            let nodes = source.maker.nodes(&parse(text));
            source.maker.end();
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
            has_more: ArcRwSignal::new(false),
            source: Mutex::new(Source {
                maker: Maker::default(),
                text,
                meter: Meter::default(),
                rest: String::new(),
                ended: false,
            }),
        }
    }

    fn follow(&self, maker: &mut Maker, patches: &[Patch]) {
        for patch in patches {
            maker.apply(&self.nodes, patch);
        }
    }

    /// Shows as much of what comes as belongs to the piece that is shown last, and keeps the rest.
    fn add(&self, source: &mut Source, text: &str) {
        let (now, later) = text.split_at(source.meter.take(text));
        source.rest.push_str(later);
        if now.is_empty() {
            return;
        }
        let Source { maker, text: old, .. } = source;
        let mut document = match std::mem::replace(old, Text::Whole(String::new())) {
            Text::Growing(document) | Text::Grown(document) => document,
            Text::Whole(before) => {
                let mut document = Box::new(Document::new());
                document.push(&before);
                self.nodes.splice(0, maker.nodes(document.blocks()));
                document
            }
        };
        self.follow(maker, &document.push(now));
        if document.is_closed() {
            maker.end();
        }
        *old = Text::Growing(document);
    }

    /// Shows the end of the text as it really is, and links its footnotes, once all of it is shown.
    fn end(&self, source: &mut Source) {
        if !source.ended || !source.rest.is_empty() {
            return;
        }
        let Source { maker, text, .. } = source;
        *text = match std::mem::replace(text, Text::Whole(String::new())) {
            Text::Growing(mut document) => {
                self.follow(maker, &document.finish());
                maker.end();
                self.link_footnotes();
                Text::Grown(document)
            }
            ended => ended,
        };
    }

    /// Shows the next piece.
    pub(super) fn show_more(&self) {
        self.with_source(|source| {
            source.meter = Meter::default();
            let rest = std::mem::take(&mut source.rest);
            self.add(source, &rest);
            self.link_footnotes();
            self.end(source);
            self.say_whether_more(source);
        });
    }

    /// The length of the text that is shown.
    #[cfg(test)]
    pub(super) fn shown_bytes(&self) -> usize {
        self.with_source(|source| match &source.text {
            Text::Whole(text) => text.len(),
            Text::Growing(document) | Text::Grown(document) => document.source().len(),
        })
    }

    fn say_whether_more(&self, source: &Source) {
        let has_more = !source.rest.is_empty();
        if self.has_more.get_untracked() != has_more {
            self.has_more.set(has_more);
        }
    }

    /// The whole text of the code block that what is shown ends in.
    pub(super) fn open_code(&self) -> Option<String> {
        let whole = self.with_source(|Source { text, rest, .. }| match text {
            Text::Growing(document) if !rest.is_empty() => Some([document.source(), rest].concat()),
            _ => None,
        })?;
        let last = node::count_code(&self.nodes).checked_sub(1)?;
        nth_code(&parse(&whole), last)
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
        self.with_source(|source| {
            source.ended = false;
            if source.rest.is_empty() {
                self.add(source, text);
                self.say_whether_more(source);
            } else {
                source.rest.push_str(text);
            }
        });
    }

    /// Nothing more will come: shows the end of the text as it really is, and links its footnotes.
    fn finish(&self) {
        self.with_source(|source| {
            source.ended = true;
            self.end(source);
        });
    }

    fn view(self: Arc<Self>, prefix: String, cited: Option<Cited>) -> AnyView {
        let (nodes, has_more, of) = (self.nodes.clone(), self.has_more.clone(), self.clone());
        let page = Page {
            prefix: prefix.into(),
            footnotes: self.footnotes.clone(),
            cited,
            open_code: Arc::new(move || of.open_code()),
        };
        let more = move || {
            let of = self.clone();
            has_more.get().then(|| more(move || of.show_more()))
        };
        view! { <div class="md" data-lazy="markdown">{blocks::all(&nodes, &page)} {more.erase()}</div> }
            .erase()
    }
}
