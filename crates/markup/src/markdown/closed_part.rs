//! Closed parts of a growing text, each parsed alone as if it stood in the whole.

use std::ops::Range;

use super::blocks::Block;
use super::parse::{self, ParsedMarkdown, Stage};
use super::references::{LabelMentions, ReferenceTable};

/// A list, table or fence of which the beginning is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OpenContainer {
    pub kind: ContainerKind,
    /// The text that is put before the rest of the container, so that the parser reads the rest as its
    /// continuation. Empty if the part to be parsed has the container's own beginning.
    pub lead_text: String,
    /// The number of closed items or rows, or of closed bytes of code.
    pub closed_length: usize,
    /// True for a list whose closed items make it a loose one.
    pub is_loose: bool,
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
        }
    }

    /// Returns true if `new` is the rest of this container, and `old` the container.
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

/// A closed part of the text with mentions: one outermost block, or some items or rows of it. It is parsed
/// again if one of its mentions is defined later.
#[derive(Debug)]
pub(super) struct ClosedPart {
    pub source: Range<usize>,
    pub mentions: LabelMentions,
    /// The index of the block, or of the first of several blocks that can only be parsed together.
    pub block: usize,
    /// The state of the container at the part's beginning, if the part is only some children of it.
    pub container: Option<OpenContainer>,
}

/// The surroundings of a part, which are parsed with it: definitions of links and footnotes, and the open list or table.
pub(super) struct PartContext<'a> {
    pub references: &'a ReferenceTable,
    pub stage: Stage,
    pub container: Option<&'a OpenContainer>,
}

/// Parses a part, whose formulas are masked. Returns the result, with positions counted from the part's beginning, and the number of
/// bytes that were parsed, prepended text included.
///
/// A list that continues has only its further items.
pub(super) fn parse_part(
    text: &str,
    mentions: &LabelMentions,
    context: PartContext<'_>,
) -> (ParsedMarkdown, usize) {
    let mut whole = context
        .references
        .definitions_for(mentions, context.stage != Stage::Finished);
    let skip = whole.len();
    if let Some(open) = context.container {
        whole.push_str(&open.lead_text);
    }
    let offset = whole.len();
    let mut reading = if offset == 0 {
        parse::parse_from(text, 0, context.stage)
    } else {
        whole.push_str(text);
        parse::parse_from(&whole, skip, context.stage)
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
    if let Some(open) = context.container.filter(|open| open.kind == ContainerKind::Fence)
        && let Some(Block::Code { text, .. }) = reading.blocks.first_mut()
    {
        // The first line of an inner fence.
        for _ in open.lead_text.lines().skip(1) {
            let end = text.find('\n').map_or(text.len(), |at| at + 1);
            text.replace_range(..end, "");
        }
    }
    reading.shift_positions(offset);
    (reading, offset + text.len())
}

/// Returns the lead text for a list's next item: an item of the same kind, indented so far that no later item
/// can be nested in it.
pub(super) fn list_lead(item: &str) -> Option<String> {
    let item = item.trim_start();
    let marker = item.find(|c: char| !c.is_ascii_digit())?;
    let kind = item[marker..].chars().next()?;
    let number = if marker > 0 { "1" } else { "" };
    Some(format!("{number}{kind}   x\n"))
}
