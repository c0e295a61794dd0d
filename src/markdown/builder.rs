//! Folds `pulldown-cmark`'s events into the tree.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, CowStr, Event, LinkType, Tag};

use super::autolink;
use super::blocks::{Alignment, Block, Inline, Item, plain_text};
use super::citation;
use super::frame::{Frame, Kind};
use super::links;
use super::parse::Reading;

/// How deep quotes and lists may stand in each other, and emphasis in emphasis. What is deeper is shown at this depth:
/// neither our recursion nor a browser's should depend on what a model writes.
const MAX_DEPTH: usize = 32;

/// Takes the events of a text, one after the other.
pub(super) struct Builder {
    skip: usize,
    frames: Vec<Frame>,
    /// For each start event without its end: whether it made a frame. One that stands too deep makes none.
    made: Vec<bool>,
    inline_depth: usize,
    links: usize,
    reading: Reading,
}

impl Builder {
    /// Leaves out the blocks that begin before `skip`.
    pub fn new(skip: usize) -> Self {
        Builder {
            skip,
            frames: vec![Frame::new(Kind::Root)],
            made: Vec::new(),
            inline_depth: 0,
            links: 0,
            reading: Reading::default(),
        }
    }

    /// What was read, but for the definitions: they are no events.
    pub fn finish(mut self) -> Reading {
        if let Some(mut root) = self.frames.pop() {
            root.close_paragraph();
            self.reading.blocks = root.blocks;
        }
        self.reading
    }

    pub fn event(&mut self, event: Event<'_>, span: Range<usize>) {
        if span.start < self.skip && self.frames.len() == 1 {
            // Context: nothing is kept of it, but a block that it is part of must not be entered halfway.
            match event {
                Event::Start(_) => self.made.push(false),
                Event::End(_) => {
                    self.made.pop();
                }
                _ => {}
            }
            return;
        }
        match event {
            Event::Start(tag) => self.start(tag, span),
            Event::End(_) => self.end(),
            Event::Text(text) => self.text(&text, span),
            Event::Html(text) | Event::InlineHtml(text) => self.text(&text, span),
            Event::Code(text) => self.inline(Inline::Code(text.to_string())),
            Event::FootnoteReference(label) => self.inline(Inline::FootnoteReference(label.to_string())),
            Event::SoftBreak => self.inline(Inline::Text("\n".to_owned())),
            Event::HardBreak => self.inline(Inline::HardBreak),
            Event::Rule => {
                self.begin_block(&span);
                self.block(Block::Rule);
            }
            Event::TaskListMarker(checked) => {
                let item = self
                    .frames
                    .iter_mut()
                    .rev()
                    .find_map(|frame| match &mut frame.kind {
                        Kind::Item(task) => Some(task),
                        _ => None,
                    });
                if let Some(task) = item {
                    *task = Some(checked);
                }
            }
            Event::InlineMath(text) | Event::DisplayMath(text) => self.text(&text, span),
        }
    }

    fn top(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.frames.push(Frame::new(Kind::Root));
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    fn inline(&mut self, inline: Inline) {
        self.top().push_inline(inline);
    }

    fn text(&mut self, text: &str, span: Range<usize>) {
        let outermost = self.frames.len() == 2;
        let top = self.top();
        match top.kind {
            Kind::Code(_) | Kind::Html => {
                top.text.push_str(text);
                if outermost {
                    let end = self.reading.code_end.unwrap_or(0).max(span.end);
                    self.reading.code_end = Some(end);
                }
            }
            _ => top.push_inline(Inline::Text(text.to_owned())),
        }
    }

    /// To be called before any block: ends an open paragraph and notes the place of an outermost block.
    fn begin_block(&mut self, span: &Range<usize>) {
        self.top().close_paragraph();
        if self.frames.len() == 1 {
            self.reading.spans.push(span.clone());
            self.reading.ends.push(span.end);
            self.reading.children.clear();
            self.reading.code_end = None;
        }
    }

    fn block(&mut self, block: Block) {
        self.top().blocks.push(block);
    }

    fn start(&mut self, tag: Tag<'_>, span: Range<usize>) {
        let depth = self.frames.len();
        let kind = match tag {
            Tag::Paragraph => {
                self.begin_block(&span);
                self.loosen();
                Some(Kind::Paragraph)
            }
            Tag::Heading { level, .. } => {
                self.begin_block(&span);
                Some(Kind::Heading(level as u8))
            }
            Tag::CodeBlock(code) => {
                self.begin_block(&span);
                Some(Kind::Code(match code {
                    CodeBlockKind::Fenced(info) => Some(info.to_string()),
                    CodeBlockKind::Indented => None,
                }))
            }
            Tag::HtmlBlock => {
                self.begin_block(&span);
                Some(Kind::Html)
            }
            Tag::BlockQuote(_) => {
                self.begin_block(&span);
                (depth < MAX_DEPTH).then_some(Kind::Quote)
            }
            Tag::List(start) => {
                self.begin_block(&span);
                (depth < MAX_DEPTH).then_some(Kind::List { start, loose: false })
            }
            Tag::Item => {
                self.top().close_paragraph();
                if depth == 2 {
                    if let Some(end) = self.reading.ends.last_mut() {
                        *end = span.end;
                    }
                    self.reading.children.push(span);
                }
                matches!(self.top().kind, Kind::List { .. }).then_some(Kind::Item(None))
            }
            Tag::FootnoteDefinition(label) => {
                self.begin_block(&span);
                self.reading.footnotes.push((label.to_string(), span.start));
                (depth < MAX_DEPTH).then(|| Kind::Footnote(label.to_string()))
            }
            Tag::Table(alignments) => {
                self.begin_block(&span);
                Some(Kind::Table(alignments.into_iter().map(alignment).collect()))
            }
            Tag::TableHead => Some(Kind::Row { head: true }),
            Tag::TableRow => {
                if depth == 2 {
                    self.reading.children.push(span);
                }
                Some(Kind::Row { head: false })
            }
            Tag::TableCell => Some(Kind::Cell),
            inline => self.start_inline(inline),
        };
        self.made.push(kind.is_some());
        if let Some(kind) = kind {
            self.frames.push(Frame::new(kind));
        }
    }

    fn start_inline(&mut self, tag: Tag<'_>) -> Option<Kind> {
        let kind = match tag {
            Tag::Emphasis => Kind::Emphasis,
            Tag::Strong => Kind::Strong,
            Tag::Strikethrough => Kind::Strikethrough,
            Tag::Link {
                link_type,
                dest_url,
                title,
                ..
            } => {
                let href = match link_type {
                    LinkType::Email => format!("mailto:{dest_url}"),
                    _ => dest_url.to_string(),
                };
                Kind::Link {
                    href,
                    title: some_title(title),
                }
            }
            Tag::Image { dest_url, title, .. } => Kind::Image {
                href: dest_url.to_string(),
                title: some_title(title),
            },
            // Nothing else is switched on.
            _ => return None,
        };
        if self.inline_depth >= MAX_DEPTH {
            return None;
        }
        self.inline_depth += 1;
        self.links += usize::from(matches!(kind, Kind::Link { .. }));
        Some(kind)
    }

    /// A paragraph that is said to be one, right in an item, is what tells a loose list.
    fn loosen(&mut self) {
        if let [
            ..,
            Frame {
                kind: Kind::List { loose, .. },
                ..
            },
            Frame {
                kind: Kind::Item(_), ..
            },
        ] = self.frames.as_mut_slice()
        {
            *loose = true;
        }
    }

    fn end(&mut self) {
        if self.made.pop() != Some(true) {
            self.top().close_paragraph();
            return;
        }
        let Some(mut frame) = self.frames.pop() else {
            return;
        };
        frame.close_paragraph();
        // A link in a link is not possible.
        if self.links == 0 {
            autolink::link(&mut frame.inlines);
            citation::mark(&mut frame.inlines);
        }
        match frame.kind {
            Kind::Root => {}
            Kind::Paragraph => self.block(Block::Paragraph(frame.inlines)),
            Kind::Heading(level) => self.block(Block::Heading {
                level,
                inlines: frame.inlines,
            }),
            Kind::Code(info) => self.block(Block::Code {
                info,
                text: frame.text,
            }),
            Kind::Html => self.block(Block::Html(frame.text)),
            Kind::Quote => self.block(Block::Quote(frame.blocks)),
            Kind::List { start, loose } => self.block(Block::List {
                start,
                tight: !loose,
                items: frame.items,
            }),
            Kind::Item(task) => self.top().items.push(Item {
                task,
                blocks: frame.blocks,
            }),
            Kind::Footnote(label) => self.block(Block::Footnote {
                label,
                blocks: frame.blocks,
            }),
            Kind::Table(alignments) => {
                self.block(Block::Table {
                    alignments,
                    header: frame.header,
                    rows: frame.rows,
                });
            }
            Kind::Row { head: true } => self.top().header = frame.cells,
            Kind::Row { head: false } => self.top().rows.push(frame.cells),
            Kind::Cell => self.top().cells.push(frame.inlines),
            Kind::Emphasis => self.end_inline(Inline::Emphasis(frame.inlines)),
            Kind::Strong => self.end_inline(Inline::Strong(frame.inlines)),
            Kind::Strikethrough => self.end_inline(Inline::Strikethrough(frame.inlines)),
            Kind::Link { href, title } => {
                self.links -= 1;
                if links::is_allowed(&href) {
                    self.end_inline(Inline::Link {
                        href,
                        title,
                        children: frame.inlines,
                    });
                } else {
                    self.inline_depth -= 1;
                    for inline in frame.inlines {
                        self.inline(inline);
                    }
                }
            }
            Kind::Image { href, title } => {
                let alt = plain_text(&frame.inlines);
                // A link in a link is not possible: there the picture is its description.
                if self.links == 0 && links::is_allowed(&href) {
                    self.end_inline(Inline::Image { href, title, alt });
                } else {
                    self.end_inline(Inline::Text(alt));
                }
            }
        }
    }

    fn end_inline(&mut self, inline: Inline) {
        self.inline_depth -= 1;
        self.inline(inline);
    }
}

fn some_title(title: CowStr<'_>) -> Option<String> {
    (!title.is_empty()).then(|| title.to_string())
}

fn alignment(alignment: pulldown_cmark::Alignment) -> Alignment {
    match alignment {
        pulldown_cmark::Alignment::None => Alignment::None,
        pulldown_cmark::Alignment::Left => Alignment::Left,
        pulldown_cmark::Alignment::Center => Alignment::Center,
        pulldown_cmark::Alignment::Right => Alignment::Right,
    }
}
