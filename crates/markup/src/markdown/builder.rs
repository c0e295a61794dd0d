//! The conversion of `pulldown-cmark`'s events into the tree.

use std::ops::Range;

use pulldown_cmark::Event;

use super::autolink;
use super::block_frame::{BlockFrame, BlockFrameKind};
use super::blocks::{Block, Inline, ListItem, plain_text};
use super::citation;
use super::cjk::Substitutes;
use super::details::DetailsPairs;
use super::formula_mask::unmask;
use super::link_host;
use super::link_policy;
use super::loose_lists::LooseLists;
use super::parse::{ParsedMarkdown, Stage};

/// The maximum nesting of quotes and lists, and of emphasis. Deeper elements are shown at this depth, so that
/// neither the recursion here nor the browser's depends on the model's output.
pub(super) const MAX_DEPTH: usize = 32;

/// The text's context, and what was done to it.
#[derive(Default)]
pub(super) struct BuilderContext {
    /// The blocks that begin before this byte position are left out.
    pub skip: usize,
    pub stage: Stage,
    pub details: DetailsPairs,
    pub substitutes: Substitutes,
}

/// A builder of the tree, which consumes the events of a text one after the other.
pub(super) struct MarkdownBuilder<'a> {
    skip: usize,
    substitutes: Substitutes,
    loose_lists: LooseLists<'a>,
    pub(super) frames: Vec<BlockFrame>,
    /// For each start event without its end: true if it made a frame. One that is nested too deeply makes
    /// none.
    pub(super) has_frame: Vec<bool>,
    pub(super) inline_depth: usize,
    pub(super) links: usize,
    pub(super) stage: Stage,
    pub(super) details: DetailsPairs,
    /// The position of the present block of HTML.
    pub(super) html_span: Range<usize>,
    /// The text of a formula that has begun.
    pub(super) formula: String,
    /// The part of it that was searched for its end.
    pub(super) formula_searched: usize,
    pub(super) reading: ParsedMarkdown,
}

impl<'a> MarkdownBuilder<'a> {
    /// Creates a builder for the events of `text`.
    pub fn new(text: &'a str, context: BuilderContext) -> Self {
        let BuilderContext {
            skip,
            stage,
            details,
            substitutes,
        } = context;
        MarkdownBuilder {
            skip,
            substitutes,
            loose_lists: LooseLists::new(text),
            frames: vec![BlockFrame::new(BlockFrameKind::Root)],
            has_frame: Vec::new(),
            inline_depth: 0,
            links: 0,
            stage,
            details,
            html_span: 0..0,
            formula: String::new(),
            formula_searched: 0,
            reading: ParsedMarkdown::default(),
        }
    }

    /// Returns the result without the definitions, which are not events.
    pub fn finish(mut self) -> ParsedMarkdown {
        self.end_formula();
        self.reading.has_open_details = self.frames.len() > 1;
        self.end_elements();
        if let Some(mut root) = self.frames.pop() {
            root.close_paragraph();
            self.reading.blocks = root.blocks;
        }
        self.reading
    }

    pub fn push_event(&mut self, event: Event<'_>, span: Range<usize>) {
        let ends_loose_list = self.loose_lists.push_event(&event, &span);
        if span.start < self.skip && self.frames.len() == 1 {
            // Context before `skip`: none of it is kept, but a block that began in it must not be entered
            // halfway.
            match event {
                Event::Start(_) => self.has_frame.push(false),
                Event::End(_) => {
                    self.has_frame.pop();
                }
                _ => {}
            }
            return;
        }
        match event {
            Event::Text(_) => {}
            // The line ends of a formula.
            Event::SoftBreak | Event::HardBreak if !self.formula.is_empty() => {
                self.formula.push('\n');
                return;
            }
            _ => self.end_formula(),
        }
        match event {
            Event::Start(tag) => self.start(tag, span),
            Event::End(_) => self.end(ends_loose_list),
            Event::Text(text) | Event::Html(text) => self.push_text(&text, span),
            Event::InlineHtml(tag) => self.push_tag(&tag),
            Event::Code(text) => self.push_inline(Inline::Code(unmask(&text).into_owned())),
            Event::FootnoteReference(label) => {
                self.push_inline(Inline::FootnoteReference(unmask(&label).into_owned()))
            }
            Event::SoftBreak => self.push_inline(Inline::Text("\n".to_owned())),
            Event::HardBreak => self.push_inline(Inline::HardBreak),
            Event::Rule => {
                self.begin_block(&span);
                self.push_block(Block::Rule);
            }
            Event::TaskListMarker(checked) => {
                let item = self
                    .frames
                    .iter_mut()
                    .rev()
                    .find_map(|frame| match &mut frame.kind {
                        BlockFrameKind::Item(task) => Some(task),
                        _ => None,
                    });
                if let Some(task) = item {
                    *task = Some(checked);
                }
            }
            // The parser's own extension knows only dollars, and is not enabled.
            Event::InlineMath(text) | Event::DisplayMath(text) => self.push_text(&text, span),
        }
    }

    pub(super) fn current_frame(&mut self) -> &mut BlockFrame {
        if self.frames.is_empty() {
            self.frames.push(BlockFrame::new(BlockFrameKind::Root));
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    pub(super) fn push_inline(&mut self, inline: Inline) {
        self.current_frame().push_inline(inline);
    }

    fn push_text(&mut self, text: &str, span: Range<usize>) {
        let outermost = self.frames.len() == 2;
        let top = self.current_frame();
        match top.kind {
            BlockFrameKind::Code(_) | BlockFrameKind::Html => {
                top.text.push_str(&unmask(text));
                if outermost {
                    let end = self.reading.code_end.unwrap_or(0).max(span.end);
                    self.reading.code_end = Some(end);
                }
            }
            _ => {
                let text = self.substitutes.restore(text, &span);
                self.push_running_text(&text);
            }
        }
    }

    /// Ends an open paragraph and records the span of an outermost block. It must be called before every
    /// block.
    pub(super) fn begin_block(&mut self, span: &Range<usize>) {
        self.close_paragraph();
        if self.frames.len() == 1 {
            self.reading.block_spans.push(span.clone());
            self.reading.block_ends.push(span.end);
            self.reading.child_spans.clear();
            self.reading.code_end = None;
        }
    }

    /// Ends the text that stands directly in a container, with its open inline elements of HTML.
    pub(super) fn close_paragraph(&mut self) {
        self.end_markups();
        self.current_frame().close_paragraph();
    }

    /// Appends a finished block to the innermost frame, after a call of `begin_block` for it.
    pub(super) fn push_block(&mut self, block: Block) {
        self.current_frame().blocks.push(block);
    }

    fn end(&mut self, is_loose_list: bool) {
        if self.has_frame.pop() != Some(true) {
            self.current_frame().close_paragraph();
            return;
        }
        self.end_elements();
        let Some(mut frame) = self.frames.pop() else {
            return;
        };
        frame.close_paragraph();
        self.extract_links(&mut frame.inlines);
        match frame.kind {
            BlockFrameKind::Root => {}
            BlockFrameKind::Paragraph => self.push_block(Block::Paragraph(frame.inlines)),
            BlockFrameKind::Heading(level) => self.push_block(Block::Heading {
                level,
                inlines: frame.inlines,
            }),
            BlockFrameKind::Code(info) => self.push_block(Block::Code {
                info,
                text: frame.text,
            }),
            BlockFrameKind::Html => self.push_html(&frame.text),
            BlockFrameKind::Quote => self.push_block(Block::Quote(frame.blocks)),
            BlockFrameKind::Alert(kind) => self.push_block(Block::Alert {
                kind,
                blocks: frame.blocks,
            }),
            // Ended above.
            BlockFrameKind::Details(_) | BlockFrameKind::Markup(_) => {}
            BlockFrameKind::List { start } => self.push_block(Block::List {
                start,
                tight: !is_loose_list,
                items: frame.items,
            }),
            BlockFrameKind::Item(task) => self.current_frame().items.push(ListItem {
                task,
                blocks: frame.blocks,
            }),
            BlockFrameKind::Footnote(label) => self.push_block(Block::Footnote {
                label,
                blocks: frame.blocks,
            }),
            BlockFrameKind::Table(alignments) => {
                self.push_block(Block::Table {
                    alignments,
                    header: frame.header,
                    rows: frame.rows,
                });
            }
            BlockFrameKind::Row { head: true } => self.current_frame().header = frame.cells,
            BlockFrameKind::Row { head: false } => self.current_frame().rows.push(frame.cells),
            BlockFrameKind::Cell => self.current_frame().cells.push(frame.inlines),
            BlockFrameKind::Emphasis => self.end_inline(Inline::Emphasis(frame.inlines)),
            BlockFrameKind::Strong => self.end_inline(Inline::Strong(frame.inlines)),
            BlockFrameKind::Strikethrough => self.end_inline(Inline::Strikethrough(frame.inlines)),
            BlockFrameKind::Link { href, title } => {
                self.links -= 1;
                if link_policy::is_allowed(&href) {
                    let mut children = frame.inlines;
                    if let Some(real) = link_host::real_address(&plain_text(&children), &href) {
                        children.push(Inline::Text([" (", &real, ")"].concat()));
                    }
                    self.end_inline(Inline::Link {
                        href,
                        title,
                        children,
                    });
                } else {
                    self.inline_depth -= 1;
                    for inline in frame.inlines {
                        self.push_inline(inline);
                    }
                }
            }
            BlockFrameKind::Image { href, title } => {
                let mut alt = plain_text(&frame.inlines);
                // A link inside a link is not possible: there the picture is replaced by its description.
                if self.links == 0 && link_policy::is_allowed(&href) {
                    if let Some(real) = link_host::real_address(&alt, &href) {
                        alt.push_str(&[" (", &real, ")"].concat());
                    }
                    self.end_inline(Inline::Image { href, title, alt });
                } else {
                    self.end_inline(Inline::Text(alt));
                }
            }
        }
    }

    pub(super) fn extract_links(&self, inlines: &mut Vec<Inline>) {
        // A link inside a link is not possible.
        if self.links == 0 {
            autolink::link_bare_urls(inlines);
            citation::extract_citations(inlines);
        }
    }

    fn end_inline(&mut self, inline: Inline) {
        self.inline_depth -= 1;
        self.push_inline(inline);
    }
}
