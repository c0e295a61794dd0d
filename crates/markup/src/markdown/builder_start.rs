//! The part of the builder that begins elements: the frame for each start event of the parser.

use std::ops::Range;

use pulldown_cmark::{BlockQuoteKind, CodeBlockKind, CowStr, LinkType, Tag};

use super::block_frame::{BlockFrame, BlockFrameKind};
use super::blocks::{AlertKind, Alignment};
use super::builder::{MAX_DEPTH, MarkdownBuilder};
use super::formula_mask::unmask;

impl MarkdownBuilder<'_> {
    /// Begins the element of a start event.
    pub(super) fn start(&mut self, tag: Tag<'_>, span: Range<usize>) {
        let depth = self.frames.len();
        let kind = match tag {
            Tag::Paragraph => {
                self.begin_block(&span);
                Some(BlockFrameKind::Paragraph)
            }
            Tag::Heading { level, .. } => {
                self.begin_block(&span);
                Some(BlockFrameKind::Heading(level as u8))
            }
            Tag::CodeBlock(code) => {
                self.begin_block(&span);
                Some(BlockFrameKind::Code(match code {
                    CodeBlockKind::Fenced(info) => Some(unmask(&info).into_owned()),
                    CodeBlockKind::Indented => None,
                }))
            }
            Tag::HtmlBlock => {
                self.html_span = span;
                Some(BlockFrameKind::Html)
            }
            Tag::BlockQuote(kind) => {
                self.begin_block(&span);
                (depth < MAX_DEPTH)
                    .then(|| kind.map_or(BlockFrameKind::Quote, |kind| BlockFrameKind::Alert(alert(kind))))
            }
            Tag::List(start) => {
                self.begin_block(&span);
                (depth < MAX_DEPTH).then_some(BlockFrameKind::List { start })
            }
            Tag::Item => {
                self.close_paragraph();
                if depth == 2 {
                    if let Some(end) = self.reading.block_ends.last_mut() {
                        *end = span.end;
                    }
                    self.reading.child_spans.push(span);
                }
                matches!(self.current_frame().kind, BlockFrameKind::List { .. })
                    .then_some(BlockFrameKind::Item(None))
            }
            Tag::FootnoteDefinition(label) => {
                self.begin_block(&span);
                self.reading.footnotes.push((label.to_string(), span.start));
                (depth < MAX_DEPTH).then(|| BlockFrameKind::Footnote(unmask(&label).into_owned()))
            }
            Tag::Table(alignments) => {
                self.begin_block(&span);
                Some(BlockFrameKind::Table(
                    alignments.into_iter().map(alignment).collect(),
                ))
            }
            Tag::TableHead => Some(BlockFrameKind::Row { head: true }),
            Tag::TableRow => {
                if depth == 2 {
                    self.reading.child_spans.push(span);
                }
                Some(BlockFrameKind::Row { head: false })
            }
            Tag::TableCell => Some(BlockFrameKind::Cell),
            inline => self.start_inline(inline),
        };
        self.has_frame.push(kind.is_some());
        if let Some(kind) = kind {
            self.frames.push(BlockFrame::new(kind));
        }
    }

    fn start_inline(&mut self, tag: Tag<'_>) -> Option<BlockFrameKind> {
        let kind = match tag {
            Tag::Emphasis => BlockFrameKind::Emphasis,
            Tag::Strong => BlockFrameKind::Strong,
            Tag::Strikethrough => BlockFrameKind::Strikethrough,
            Tag::Link {
                link_type,
                dest_url,
                title,
                ..
            } => {
                let href = match link_type {
                    LinkType::Email => format!("mailto:{dest_url}"),
                    _ => unmask(&dest_url).into_owned(),
                };
                BlockFrameKind::Link {
                    href,
                    title: non_empty_title(title),
                }
            }
            Tag::Image { dest_url, title, .. } => BlockFrameKind::Image {
                href: unmask(&dest_url).into_owned(),
                title: non_empty_title(title),
            },
            // No other extension is enabled.
            _ => return None,
        };
        if self.inline_depth >= MAX_DEPTH {
            return None;
        }
        self.inline_depth += 1;
        self.links += usize::from(matches!(kind, BlockFrameKind::Link { .. }));
        Some(kind)
    }
}

fn alert(kind: BlockQuoteKind) -> AlertKind {
    match kind {
        BlockQuoteKind::Note => AlertKind::Note,
        BlockQuoteKind::Tip => AlertKind::Tip,
        BlockQuoteKind::Important => AlertKind::Important,
        BlockQuoteKind::Warning => AlertKind::Warning,
        BlockQuoteKind::Caution => AlertKind::Caution,
    }
}

fn non_empty_title(title: CowStr<'_>) -> Option<String> {
    (!title.is_empty()).then(|| unmask(&title).into_owned())
}

fn alignment(alignment: pulldown_cmark::Alignment) -> Alignment {
    match alignment {
        pulldown_cmark::Alignment::None => Alignment::None,
        pulldown_cmark::Alignment::Left => Alignment::Left,
        pulldown_cmark::Alignment::Center => Alignment::Center,
        pulldown_cmark::Alignment::Right => Alignment::Right,
    }
}
