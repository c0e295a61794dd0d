//! Blocks and inlines that have begun and not ended.

use super::autolink;
use super::blocks::{AlertKind, Alignment, Block, Inline, ListItem, Markup, TableCell};
use super::citation;

/// The element that a frame will become when it ends.
pub(super) enum BlockFrameKind {
    Root,
    Paragraph,
    Heading(u8),
    Code(Option<String>),
    Html,
    Quote,
    Alert(AlertKind),
    Details(Vec<Inline>),
    List { start: Option<u64> },
    Item(Option<bool>),
    Footnote(String),
    Table(Vec<Alignment>),
    Row { head: bool },
    Cell,
    Emphasis,
    Strong,
    Strikethrough,
    Markup(Markup),
    Link { href: String, title: Option<String> },
    Image { href: String, title: Option<String> },
}

/// A block or an inline that has begun. Its kind decides which of its lists are used.
pub(super) struct BlockFrame {
    pub kind: BlockFrameKind,
    pub blocks: Vec<Block>,
    pub items: Vec<ListItem>,
    pub header: Vec<TableCell>,
    pub rows: Vec<Vec<TableCell>>,
    pub cells: Vec<TableCell>,
    pub inlines: Vec<Inline>,
    pub text: String,
}

impl BlockFrame {
    pub fn new(kind: BlockFrameKind) -> Self {
        BlockFrame {
            kind,
            blocks: Vec::new(),
            items: Vec::new(),
            header: Vec::new(),
            rows: Vec::new(),
            cells: Vec::new(),
            inlines: Vec::new(),
            text: String::new(),
        }
    }

    /// Makes a paragraph of the inlines that stand directly in a container: the parser emits tight lists in
    /// this form.
    pub fn close_paragraph(&mut self) {
        if !self.inlines.is_empty() && self.is_container() {
            autolink::link_bare_urls(&mut self.inlines);
            citation::extract_citations(&mut self.inlines);
            self.blocks
                .push(Block::Paragraph(std::mem::take(&mut self.inlines)));
        }
    }

    fn is_container(&self) -> bool {
        matches!(
            self.kind,
            BlockFrameKind::Root
                | BlockFrameKind::Quote
                | BlockFrameKind::Alert(_)
                | BlockFrameKind::Details(_)
                | BlockFrameKind::Item(_)
                | BlockFrameKind::Footnote(_)
        )
    }

    pub fn push_inline(&mut self, inline: Inline) {
        match (self.inlines.last_mut(), inline) {
            (_, Inline::Text(text)) if text.is_empty() => {}
            (Some(Inline::Text(last)), Inline::Text(text)) => last.push_str(&text),
            (_, inline) => self.inlines.push(inline),
        }
    }
}
