//! The last block of a text, which is still open.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use super::parse::parser_options;

/// The last block of a text that has text in it.
#[derive(Debug)]
pub(super) struct LastLeaf {
    pub kind: LeafKind,
    pub span: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeafKind {
    /// A container without content, or a rule.
    None,
    Paragraph,
    Heading,
    Cell,
    Fence,
    Code,
    Html,
}

impl LastLeaf {
    pub fn find(text: &str) -> Self {
        let mut last = LastLeaf {
            kind: LeafKind::None,
            span: 0..0,
        };
        // `begun` is true in a block with a start event, `bare` in a paragraph without one, as in tight
        // lists.
        let mut begun = false;
        let mut bare = false;
        for (event, span) in Parser::new_ext(text, parser_options()).into_offset_iter() {
            let kind = match &event {
                Event::Start(tag) => kind_of_tag(tag),
                Event::Rule => Some(LeafKind::None),
                Event::End(end) if is_block_end(end) => {
                    (begun, bare) = (false, false);
                    continue;
                }
                _ => None,
            };
            match kind {
                // The parser adds empty cells to short rows.
                Some(LeafKind::Cell) if span.is_empty() => {}
                Some(kind) => {
                    begun = kind != LeafKind::None;
                    bare = false;
                    last = LastLeaf { kind, span };
                }
                None if begun => {}
                None if bare => last.span.end = last.span.end.max(span.end),
                None => {
                    bare = true;
                    last = LastLeaf {
                        kind: LeafKind::Paragraph,
                        span,
                    };
                }
            }
        }
        last
    }
}

/// The kind of leaf that begins with a tag, if that is a block.
fn kind_of_tag(tag: &Tag<'_>) -> Option<LeafKind> {
    Some(match tag {
        Tag::Paragraph => LeafKind::Paragraph,
        Tag::Heading { .. } => LeafKind::Heading,
        Tag::TableCell => LeafKind::Cell,
        Tag::CodeBlock(CodeBlockKind::Fenced(_)) => LeafKind::Fence,
        Tag::CodeBlock(CodeBlockKind::Indented) => LeafKind::Code,
        Tag::HtmlBlock => LeafKind::Html,
        Tag::BlockQuote(_) | Tag::List(_) | Tag::Item | Tag::FootnoteDefinition(_) => LeafKind::None,
        Tag::Table(_) | Tag::TableHead | Tag::TableRow => LeafKind::None,
        _ => return None,
    })
}

fn is_block_end(end: &TagEnd) -> bool {
    !matches!(
        end,
        TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image
    )
}
