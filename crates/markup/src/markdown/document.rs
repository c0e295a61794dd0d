//! A growing text, and the tree that grows with it.
//!
//! The text has two parts. The part before `tail_start` is *closed*: no later line can change how it is
//! parsed, except a definition to which one of its brackets refers. The rest is the *open tail*, which is
//! parsed again at every push: the last outermost block, or of a list the last item, of a table the last row
//! and of a fence the last line. Only complete lines close anything, because an incomplete line may still
//! become something else.

use std::borrow::Cow;
use std::ops::Range;

use super::blocks::Block;
use super::closed_part::{self, ClosedPart, ContainerKind, OpenContainer, PartContext};
use super::diff::{self, ExtraChildren};
use super::formula_mask;
use super::parse::{self, ParsedMarkdown, Stage};
use super::patch::Patch;
use super::references::{self, LabelMentions, ReferenceTable};
use super::settle::SettledLines;
use super::tail_repair;

/// Markdown that is still arriving.
#[derive(Debug, Default)]
pub struct MarkdownDocument {
    /// All text that was pushed, normalized as in `parse`.
    source: String,
    ends_with_cr: bool,
    /// The shown blocks: the closed ones, then those of the open tail.
    blocks: Vec<Block>,
    /// The number of closed blocks in `blocks`.
    closed_blocks: usize,
    /// Set if the first open block is partly closed.
    open_container: Option<OpenContainer>,
    /// The byte position in `source` at which the open tail begins; always at the beginning of a line.
    tail_start: usize,
    /// The end, in bytes, of the part of `source` that was examined for text to close.
    settled_end: usize,
    /// The definitions of the closed part.
    references: ReferenceTable,
    /// The closed parts that a later definition could change.
    parts_with_mentions: Vec<ClosedPart>,
    is_finished: bool,
    parsed_bytes: u64,
}

impl MarkdownDocument {
    pub fn new() -> Self {
        Self::default()
    }

    /// All text that was pushed, normalized.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The blocks to show now.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The number of bytes parsed so far: a measure of the work.
    pub fn parsed_bytes(&self) -> u64 {
        self.parsed_bytes
    }

    /// Returns true if no shown block can grow any more: more text begins a new block.
    pub fn is_closed(&self) -> bool {
        self.closed_blocks == self.blocks.len()
    }

    /// Appends text and returns the changes of the tree.
    pub fn push(&mut self, delta: &str) -> Vec<Patch> {
        let mut patches = Vec::new();
        if delta.is_empty() {
            return patches;
        }
        if self.is_finished {
            self.reopen();
        }
        parse::push_normalized(&mut self.source, delta, &mut self.ends_with_cr);
        self.settle(&mut patches);
        self.render_tail(&mut patches);
        patches
    }

    /// Ends the text. Provisional blocks are replaced by the final ones.
    pub fn finish(&mut self) -> Vec<Patch> {
        let mut patches = Vec::new();
        if !self.is_finished {
            self.is_finished = true;
            let reading = self.render_tail(&mut patches);
            let new = self.add_definitions(reading, usize::MAX);
            self.reparse_mentions(&mut patches, 0, |mentions| {
                !mentions.footnotes.is_empty() || new.intersects(mentions)
            });
        }
        patches
    }

    /// Starts again with the text so far, for more text after the end, whose definitions counted as complete.
    /// The shown blocks stay and are compared with the new result.
    fn reopen(&mut self) {
        *self = MarkdownDocument {
            source: std::mem::take(&mut self.source),
            ends_with_cr: self.ends_with_cr,
            blocks: std::mem::take(&mut self.blocks),
            parsed_bytes: self.parsed_bytes,
            ..MarkdownDocument::default()
        };
    }

    /// Renders the open tail, provisionally unless the text is finished.
    fn render_tail(&mut self, patches: &mut Vec<Patch>) -> ParsedMarkdown {
        let open = self.open_container.clone();
        let lead = open.as_ref().map_or("", |open| open.lead_text.as_str());
        let masked = formula_mask::mask(lead, &self.source[self.tail_start..], !self.is_finished);
        self.parsed_bytes += masked.parsed as u64;
        let (text, stage) = if self.is_finished {
            (masked.text, Stage::Finished)
        } else {
            let text = tail_repair::complete_tail(lead, &masked.text, &mut self.parsed_bytes);
            (Cow::Owned(text.into_owned()), Stage::Tail)
        };
        let mentions = LabelMentions::find(&text);
        let (mut reading, bytes) =
            closed_part::parse_part(&text, &mentions, self.parse_context(open.as_ref(), stage));
        self.parsed_bytes += bytes as u64;

        let mut blocks = std::mem::take(&mut reading.blocks).into_iter();
        let mut from = self.closed_blocks;
        if let Some(open) = &open
            && let Some(first) = blocks.next()
        {
            self.replace_block(from, Some(open), first, ExtraChildren::Drop, patches);
            from += 1;
        }
        diff::diff_blocks(
            &mut Vec::new(),
            &mut self.blocks,
            from,
            blocks.collect(),
            ExtraChildren::Drop,
            patches,
        );
        reading
    }

    /// Closes as much as the complete lines allow.
    fn settle(&mut self, patches: &mut Vec<Patch>) {
        let end = self.source.rfind('\n').map_or(0, |at| at + 1);
        if end <= self.settled_end {
            return;
        }
        self.settled_end = end;
        let before = self.open_container.clone();
        let lead = before.as_ref().map_or("", |open| open.lead_text.as_str());
        let masked = formula_mask::mask(lead, &self.source[self.tail_start..end], false);
        self.parsed_bytes += masked.parsed as u64;
        // The lines of a formula that is still open may look like any block, so they wait for its end.
        let length = masked.open_at.map_or(masked.text.len(), |at| {
            masked.text[..at].rfind('\n').map_or(0, |at| at + 1)
        });
        let text = masked.text[..length].to_owned();
        let text = text.as_str();
        let (mut reading, bytes) = closed_part::parse_part(
            text,
            &LabelMentions::find(text),
            self.parse_context(before.as_ref(), Stage::Settled),
        );
        self.parsed_bytes += bytes as u64;
        let (settled, bytes) = SettledLines::from_reading(&reading, text, before.as_ref());
        self.parsed_bytes += bytes as u64;

        let (start, first) = (self.tail_start, self.closed_blocks);
        let first_new = self.parts_with_mentions.len();
        let blocks = std::mem::take(&mut reading.blocks);
        let mut from = (start, 0);
        let mut first_within = None;
        for (index, (block, &stop)) in blocks.into_iter().zip(&settled.block_ends).enumerate() {
            let mut within = before.clone().filter(|_| index == 0);
            let mut block = block;
            let mut rest = ExtraChildren::Drop;
            if let Some(open) = settled
                .open_container
                .as_ref()
                .filter(|_| index == settled.closed_blocks)
            {
                let begin = within.get_or_insert_with(|| open.state_at_start());
                block = truncate_children(block, open.closed_length - begin.closed_length);
                rest = ExtraChildren::Keep;
            }
            self.replace_block(first + index, within.as_ref(), block, rest, patches);
            first_within = first_within.or(within);
            if let Some(stop) = stop {
                let (source, part) = std::mem::replace(&mut from, (start + stop, index + 1));
                self.record_part(source..start + stop, first + part, first_within.take());
            }
        }
        self.closed_blocks += settled.closed_blocks;
        self.open_container = settled.open_container;
        self.tail_start = start + settled.tail_start;

        // The blocks that were just closed were parsed with all definitions in sight, including those of the
        // open tail, which may still change. Their final form must not use those.
        let unsettled = unsettled_definitions(&reading, settled.tail_start);
        self.reparse_mentions(patches, first_new, |mentions| {
            unsettled.iter().any(|key| mentions.links.contains(key))
        });
        let new = self.add_definitions(reading, settled.tail_start);
        self.reparse_mentions(patches, 0, |mentions| new.intersects(mentions));
    }

    fn parse_context<'a>(&'a self, open: Option<&'a OpenContainer>, stage: Stage) -> PartContext<'a> {
        PartContext {
            references: &self.references,
            stage,
            container: open,
        }
    }

    /// Records a closed part if a definition could change it.
    fn record_part(&mut self, source: Range<usize>, block: usize, within: Option<OpenContainer>) {
        let fence = within
            .as_ref()
            .is_some_and(|open| open.kind == ContainerKind::Fence);
        let mentions = if fence {
            LabelMentions::default()
        } else {
            let lead = within.as_ref().map_or("", |open| open.lead_text.as_str());
            LabelMentions::find(&formula_mask::mask(lead, &self.source[source.clone()], false).text)
        };
        if !mentions.is_empty() {
            self.parts_with_mentions.push(ClosedPart {
                source,
                mentions,
                block,
                container: within,
            });
        }
    }

    /// Adds the definitions that end before `tail` and returns the new ones.
    fn add_definitions(&mut self, reading: ParsedMarkdown, tail: usize) -> LabelMentions {
        let mut new = LabelMentions::default();
        for (definition, _) in reading.definitions.into_iter().filter(|(_, end)| *end <= tail) {
            new.links.extend(self.references.define(definition));
        }
        for (label, _) in reading.footnotes.into_iter().filter(|(_, start)| *start < tail) {
            if let Some(key) = self.references.define_footnote(&label) {
                new.footnotes.insert(key, label);
            }
        }
        new
    }

    /// Parses again the closed parts (from the one with this index on) that have wanted mentions.
    fn reparse_mentions(
        &mut self,
        patches: &mut Vec<Patch>,
        from: usize,
        wanted: impl Fn(&LabelMentions) -> bool,
    ) {
        let parts = std::mem::take(&mut self.parts_with_mentions);
        for part in parts.iter().skip(from).filter(|part| wanted(&part.mentions)) {
            let lead = part.container.as_ref().map_or("", |open| open.lead_text.as_str());
            let masked = formula_mask::mask(lead, &self.source[part.source.clone()], false);
            let stage = if self.is_finished {
                Stage::Finished
            } else {
                Stage::Settled
            };
            let (reading, bytes) = closed_part::parse_part(
                &masked.text,
                &part.mentions,
                self.parse_context(part.container.as_ref(), stage),
            );
            self.parsed_bytes += (bytes + masked.parsed) as u64;
            for (index, block) in reading.blocks.into_iter().enumerate() {
                let within = part.container.as_ref().filter(|_| index == 0);
                self.replace_block(part.block + index, within, block, ExtraChildren::Keep, patches);
            }
        }
        self.parts_with_mentions = parts;
    }

    /// Updates the block at `index`, or if it is partly closed the rest of it, to `new`.
    fn replace_block(
        &mut self,
        index: usize,
        within: Option<&OpenContainer>,
        new: Block,
        rest: ExtraChildren,
        patches: &mut Vec<Patch>,
    ) {
        if let (Some(open), Some(old)) = (within, self.blocks.get_mut(index))
            && open.continues(old, &new)
        {
            diff::diff_children(index, old, open, new, rest, patches);
        } else {
            diff::diff_blocks(
                &mut Vec::new(),
                &mut self.blocks,
                index,
                vec![new],
                ExtraChildren::Keep,
                patches,
            );
        }
    }
}

/// Returns a list or table with only its first `count` items or rows.
fn truncate_children(mut block: Block, count: usize) -> Block {
    match &mut block {
        Block::List { items, .. } => items.truncate(count),
        Block::Table { rows, .. } => rows.truncate(count),
        _ => {}
    }
    block
}

/// The keys of the links that are defined after `tail`.
fn unsettled_definitions(reading: &ParsedMarkdown, tail: usize) -> Vec<String> {
    let open = reading.definitions.iter().filter(|(_, end)| *end > tail);
    open.map(|(definition, _)| references::label_key(&definition.label))
        .collect()
}
