//! Parts of a growing text: reading one alone as if it stood in the whole.

use std::ops::Range;

use super::blocks::{Block, Item};
use super::parse::{self, Reading};
use super::references::{Mentions, References};

/// A list, table or fence whose begin is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Open {
    pub kind: Kind,
    /// What, put before the rest of it, makes the parser read the rest as its continuation. Empty if the part to be
    /// read begins with the container's own begin.
    pub lead: String,
    /// How many items or rows, or how many bytes of code, are closed.
    pub kept: usize,
    /// For a list: whether its closed items make it a loose one, and whether they have paragraphs that show it.
    pub loose: bool,
    pub paragraphs: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    List,
    Table,
    Fence,
}

impl Open {
    /// The same container with nothing closed.
    pub fn at_begin(&self) -> Self {
        Open {
            kind: self.kind,
            lead: String::new(),
            kept: 0,
            loose: false,
            paragraphs: false,
        }
    }

    /// Whether `new` is the rest of this container, and `old` the container.
    pub fn goes_on(&self, old: &Block, new: &Block) -> bool {
        let begins_here = self.lead.is_empty();
        match (old, new) {
            (Block::List { start: old, .. }, Block::List { start: new, .. }) => !begins_here || old == new,
            (Block::Table { alignments: old, .. }, Block::Table { alignments: new, .. }) => old == new,
            (Block::Code { info: old, .. }, Block::Code { info: new, .. }) => old == new,
            _ => false,
        }
    }
}

/// Whether one of `items` has a paragraph of its own. A list without any is tight: there is nothing to tell by.
pub(super) fn has_paragraphs(items: &[Item]) -> bool {
    items
        .iter()
        .flat_map(|item| &item.blocks)
        .any(|block| matches!(block, Block::Paragraph(_)))
}

/// A closed part of the text that mentions something: one outermost block, or some items or rows of it. It is read
/// again if a definition comes.
#[derive(Debug)]
pub(super) struct Part {
    pub source: Range<usize>,
    pub mentions: Mentions,
    /// The index of the block, or of the first of blocks that can only be read together.
    pub block: usize,
    /// The container as it was where the part begins, if the part is only some children of it.
    pub within: Option<Open>,
}

/// Text put before a part for the parser to read it in.
pub(super) struct Context<'a> {
    pub references: &'a References,
    /// See [`References::context`].
    pub assume_footnotes: bool,
    pub open: Option<&'a Open>,
}

/// A part's reading, with places counted in the part, and how many bytes had to be parsed for it.
///
/// A list that goes on has only its further items.
pub(super) fn read(text: &str, mentions: &Mentions, context: Context<'_>) -> (Reading, usize) {
    let mut whole = context.references.context(mentions, context.assume_footnotes);
    let skip = whole.len();
    if let Some(open) = context.open {
        whole.push_str(&open.lead);
    }
    let offset = whole.len();
    let mut reading = if offset == 0 {
        parse::read(text, 0)
    } else {
        whole.push_str(text);
        parse::read(&whole, skip)
    };
    if context
        .open
        .is_some_and(|open| open.kind == Kind::List && !open.lead.is_empty())
    {
        if let Some(Block::List { items, .. }) = reading.blocks.first_mut()
            && !items.is_empty()
        {
            items.remove(0);
        }
        if reading.blocks.len() == 1 && !reading.children.is_empty() {
            reading.children.remove(0);
        }
    }
    reading.shift(offset);
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
