//! Parts of a growing text: reading one alone as if it stood in the whole.

use std::ops::Range;

use super::blocks::{Block, ListItem};
use super::parse::{self, ParsedMarkdown};
use super::references::{LabelMentions, ReferenceTable};

/// A list, table or fence whose begin is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OpenContainer {
    pub kind: ContainerKind,
    /// What, put before the rest of it, makes the parser read the rest as its continuation. Empty if the part to be
    /// read begins with the container's own begin.
    pub lead_text: String,
    /// How many items or rows, or how many bytes of code, are closed.
    pub closed_length: usize,
    /// For a list: whether its closed items make it a loose one, and whether they have paragraphs that show it.
    pub is_loose: bool,
    pub has_item_paragraphs: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContainerKind {
    List,
    Table,
    Fence,
}

impl OpenContainer {
    /// The same container with nothing closed.
    pub fn state_at_start(&self) -> Self {
        OpenContainer {
            kind: self.kind,
            lead_text: String::new(),
            closed_length: 0,
            is_loose: false,
            has_item_paragraphs: false,
        }
    }

    /// Whether `new` is the rest of this container, and `old` the container.
    pub fn continues(&self, old: &Block, new: &Block) -> bool {
        let begins_here = self.lead_text.is_empty();
        match (old, new) {
            (Block::List { start: old, .. }, Block::List { start: new, .. }) => !begins_here || old == new,
            (Block::Table { alignments: old, .. }, Block::Table { alignments: new, .. }) => old == new,
            (Block::Code { info: old, .. }, Block::Code { info: new, .. }) => old == new,
            _ => false,
        }
    }
}

/// Whether one of `items` has a paragraph of its own. A list without any is tight: there is nothing to tell by.
pub(super) fn has_paragraphs(items: &[ListItem]) -> bool {
    items
        .iter()
        .flat_map(|item| &item.blocks)
        .any(|block| matches!(block, Block::Paragraph(_)))
}

/// A closed part of the text that mentions something: one outermost block, or some items or rows of it. It is read
/// again if a definition comes.
#[derive(Debug)]
pub(super) struct ClosedPart {
    pub source: Range<usize>,
    pub mentions: LabelMentions,
    /// The index of the block, or of the first of blocks that can only be read together.
    pub block: usize,
    /// The container as it was where the part begins, if the part is only some children of it.
    pub container: Option<OpenContainer>,
}

/// Text put before a part for the parser to read it in.
pub(super) struct PartContext<'a> {
    pub references: &'a ReferenceTable,
    /// See [`References::context`].
    pub assume_footnotes: bool,
    pub container: Option<&'a OpenContainer>,
}

/// A part's reading, with places counted in the part, and how many bytes had to be parsed for it.
///
/// A list that goes on has only its further items.
pub(super) fn parse_part(
    text: &str,
    mentions: &LabelMentions,
    context: PartContext<'_>,
) -> (ParsedMarkdown, usize) {
    let mut whole = context
        .references
        .definitions_for(mentions, context.assume_footnotes);
    let skip = whole.len();
    if let Some(open) = context.container {
        whole.push_str(&open.lead_text);
    }
    let offset = whole.len();
    let mut reading = if offset == 0 {
        parse::parse_from(text, 0)
    } else {
        whole.push_str(text);
        parse::parse_from(&whole, skip)
    };
    if context
        .container
        .is_some_and(|open| open.kind == ContainerKind::List && !open.lead_text.is_empty())
    {
        if let Some(Block::List { items, .. }) = reading.blocks.first_mut()
            && !items.is_empty()
        {
            items.remove(0);
        }
        if reading.blocks.len() == 1 && !reading.child_spans.is_empty() {
            reading.child_spans.remove(0);
        }
    }
    reading.shift_positions(offset);
    (reading, offset + text.len())
}

/// What makes the parser see a list's next item as such: an item of the same kind, so far to the right that no later
/// item can be nested in it, with a paragraph that tells whether the list is loose.
pub(super) fn list_lead(item: &str) -> Option<String> {
    let item = item.trim_start();
    let marker = item.find(|c: char| !c.is_ascii_digit())?;
    let kind = item[marker..].chars().next()?;
    let number = if marker > 0 { "1" } else { "" };
    Some(format!("{number}{kind}   x\n"))
}
