//! The state of one text on the page.

use std::sync::Arc;

use leptos::prelude::*;

use super::{
    blocks,
    context::{CitationLookup, RenderContext},
    footnote_index::FootnoteIndex,
    formula,
    node::{self, NodeKind, Nodes},
    node_builder::NodeBuilder,
    piece::{PieceMeter, nth_code_block},
    prose::ParsedText,
};
use crate::{
    components::more::more,
    runtime::{erase::Erase, lazy_part::LazyPart, lock::Lock},
};
use parlor_markup::markdown::{MarkdownDocument, Patch, parse};

/// A Markdown text and the nodes that show it.
///
/// It has no reactive owner: a text continues to grow while no view shows it.
#[derive(Debug)]
pub struct MarkdownState {
    pub(super) nodes: Nodes,
    footnotes: ArcRwSignal<FootnoteIndex>,
    /// True if more text exists than is shown.
    pub(super) has_more: ArcRwSignal<bool>,
    source: Lock<ParseState>,
}

#[derive(Debug)]
struct ParseState {
    builder: NodeBuilder,
    text: SourceText,
    /// The meter of the last shown piece.
    meter: PieceMeter,
    /// The rest after that piece.
    rest: String,
    /// True if the rest is complete.
    is_ended: bool,
    /// True after the beginning of a possible formula.
    expects_formula: bool,
}

#[derive(Debug)]
enum SourceText {
    /// Parsed at once. Kept in case that more text follows after all.
    Complete(String),
    Growing(Box<MarkdownDocument>),
    /// Has grown to its end.
    Finished(Box<MarkdownDocument>),
}

impl MarkdownState {
    /// Starts from the beginning of a growing text.
    pub fn new(text: &str) -> Self {
        let state = Self::from_source(SourceText::Growing(Box::default()));
        state.append(text);
        state
    }

    /// Creates the state of a complete text.
    pub fn finished(text: &str) -> Self {
        let mut meter = PieceMeter::default();
        if meter.measure(text) < text.len() {
            let state = Self::from_source(SourceText::Growing(Box::default()));
            state.with_source(|source| source.meter = PieceMeter::for_first_of_many());
            state.append(text);
            state.finish();
            return state;
        }
        let state = Self::from_source(SourceText::Complete(text.to_owned()));
        let nodes = state.with_source(|source| {
            source.meter = meter;
            let nodes = source.builder.nodes(&parse(text));
            source.builder.finish();
            nodes
        });
        state.nodes.splice(0, nodes);
        state.update_footnotes();
        state
    }

    fn from_source(text: SourceText) -> Self {
        MarkdownState {
            nodes: Nodes::new(Vec::new()),
            footnotes: ArcRwSignal::default(),
            has_more: ArcRwSignal::new(false),
            source: Lock::new(ParseState {
                builder: NodeBuilder::default(),
                text,
                meter: PieceMeter::default(),
                rest: String::new(),
                is_ended: false,
                expects_formula: false,
            }),
        }
    }

    fn apply_patches(&self, maker: &mut NodeBuilder, patches: &[Patch]) {
        for patch in patches {
            maker.apply_patch(&self.nodes, patch);
        }
    }

    /// Shows the part of the new text that belongs to the last shown piece, and keeps the rest.
    fn show_within_piece(&self, source: &mut ParseState, text: &str) {
        let (now, later) = text.split_at(source.meter.measure(text));
        source.rest.push_str(later);
        if now.is_empty() {
            return;
        }
        let ParseState {
            builder: maker,
            text: old,
            ..
        } = source;
        let mut document = match std::mem::replace(old, SourceText::Complete(String::new())) {
            SourceText::Growing(document) | SourceText::Finished(document) => document,
            SourceText::Complete(before) => {
                let mut document = Box::new(MarkdownDocument::new());
                document.push(&before);
                self.nodes.splice(0, maker.nodes(document.blocks()));
                document
            }
        };
        self.apply_patches(maker, &document.push(now));
        if document.is_closed() {
            maker.finish();
        }
        *old = SourceText::Growing(document);
        self.expect_formula(source);
    }

    /// Loads the code that draws formulas if one may have begun at the end of the shown text.
    fn expect_formula(&self, source: &mut ParseState) {
        if source.expects_formula || !source.meter.may_be_in_formula() {
            return;
        }
        let last = self.nodes.last();
        // A dollar in code is a variable of a shell, or the like.
        if !last.is_some_and(|last| matches!(last.kind, NodeKind::Code { .. })) {
            source.expects_formula = true;
            formula::preload();
        }
    }

    /// Parses the end of the text as final and links its footnotes, once all of it is shown.
    fn finish_shown(&self, source: &mut ParseState) {
        if !source.is_ended || !source.rest.is_empty() {
            return;
        }
        let ParseState {
            builder: maker, text, ..
        } = source;
        *text = match std::mem::replace(text, SourceText::Complete(String::new())) {
            SourceText::Growing(mut document) => {
                self.apply_patches(maker, &document.finish());
                maker.finish();
                self.update_footnotes();
                SourceText::Finished(document)
            }
            ended => ended,
        };
    }

    /// Shows the next piece.
    pub(super) fn show_more(&self) {
        self.with_source(|source| {
            source.meter = PieceMeter::default();
            let rest = std::mem::take(&mut source.rest);
            self.show_within_piece(source, &rest);
            self.update_footnotes();
            self.finish_shown(source);
            self.update_has_more(source);
        });
    }

    /// The length of the shown text in bytes.
    #[cfg(test)]
    pub(super) fn shown_bytes(&self) -> usize {
        self.with_source(|source| match &source.text {
            SourceText::Complete(text) => text.len(),
            SourceText::Growing(document) | SourceText::Finished(document) => document.source().len(),
        })
    }

    /// Returns true if the code that draws formulas is loaded for this text.
    #[cfg(test)]
    pub(super) fn expects_formula(&self) -> bool {
        self.with_source(|source| source.expects_formula)
    }

    fn update_has_more(&self, source: &ParseState) {
        let has_more = !source.rest.is_empty();
        if self.has_more.get_untracked() != has_more {
            self.has_more.set(has_more);
        }
    }

    /// The whole text of the code block that the shown text ends in.
    pub(super) fn open_code(&self) -> Option<String> {
        let whole = self.with_source(|ParseState { text, rest, .. }| match text {
            SourceText::Growing(document) if !rest.is_empty() => Some([document.source(), rest].concat()),
            _ => None,
        })?;
        let last = node::count_code_blocks(&self.nodes).checked_sub(1)?;
        nth_code_block(&parse(&whole), last)
    }

    fn update_footnotes(&self) {
        let footnotes = FootnoteIndex::collect(&self.nodes);
        if self.footnotes.with_untracked(|old| *old != footnotes) {
            self.footnotes.set(footnotes);
        }
    }

    fn with_source<T>(&self, run: impl FnOnce(&mut ParseState) -> T) -> T {
        run(&mut self.source.lock())
    }
}

impl ParsedText for MarkdownState {
    /// Appends a delta. The page changes where the text did. Each call costs as much as the open end of the text is
    /// long, so all deltas of a frame are best appended at once.
    fn append(&self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.with_source(|source| {
            source.is_ended = false;
            if source.rest.is_empty() {
                self.show_within_piece(source, text);
                self.update_has_more(source);
            } else {
                source.rest.push_str(text);
            }
        });
    }

    /// Marks the text as complete: parses its end as final and links its footnotes.
    fn finish(&self) {
        self.with_source(|source| {
            source.is_ended = true;
            self.finish_shown(source);
        });
    }

    fn view(self: Arc<Self>, prefix: String, cited: Option<CitationLookup>) -> AnyView {
        let (nodes, has_more, of) = (self.nodes.clone(), self.has_more.clone(), self.clone());
        let page = RenderContext {
            id_prefix: prefix.into(),
            footnotes: self.footnotes.clone(),
            citations: cited,
            open_code: Arc::new(move || of.open_code()),
        };
        let more_button = move || {
            let of = self.clone();
            has_more.get().then(|| more(move || of.show_more()))
        };
        view! {
            <div class="md" data-lazy=LazyPart::Markdown.name()>
                {blocks::render_blocks(&nodes, &page)} {more_button.erase()}
            </div>
        }
        .erase()
    }
}
