//! A text that grows, and the tree that grows with it.
//!
//! The text is in two parts. What comes before `tail` is *closed*: no later line can change how it was read, save that
//! a definition may come which one of its brackets refers to. The rest is the *open tail*, which is parsed again at
//! every push: the last outermost block, or of a list the last item, of a table the last row and of a fence the last
//! line. Only whole lines close anything, because half a line may still become something else.

use std::ops::Range;

use super::blocks::Block;
use super::closing::Closing;
use super::diff::{self, Rest};
use super::parse::{self, Reading};
use super::part::{self, Context, Kind, Open, Part};
use super::patch::Patch;
use super::references::{self, Mentions, References};
use super::tail;

/// Markdown that is still arriving.
#[derive(Debug, Default)]
pub struct Document {
    /// All that was pushed, normalised as `parse` does it.
    source: String,
    after_cr: bool,
    /// What is shown: closed blocks, then those of the open tail.
    blocks: Vec<Block>,
    /// How many of `blocks` are closed.
    closed: usize,
    /// Set if the first open block is closed in part.
    open: Option<Open>,
    /// Where in `source` the open tail begins; always at a line's begin.
    tail: usize,
    /// Up to where `source` has been looked at for something to close.
    settled: usize,
    /// What the closed part defines.
    references: References,
    /// The closed parts that a definition to come could change.
    mentioning: Vec<Part>,
    finished: bool,
    parsed_bytes: u64,
}

impl Document {
    pub fn new() -> Self {
        Self::default()
    }

    /// All that was pushed, normalised.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What is to be shown now.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// How many bytes the parser has been given so far: a measure of the work done.
    pub fn parsed_bytes(&self) -> u64 {
        self.parsed_bytes
    }

    /// Whether nothing that is shown can grow any more: what comes next begins something of its own.
    pub fn is_closed(&self) -> bool {
        self.closed == self.blocks.len()
    }

    /// Adds text and returns what that changed.
    pub fn push(&mut self, delta: &str) -> Vec<Patch> {
        let mut patches = Vec::new();
        if delta.is_empty() {
            return patches;
        }
        if self.finished {
            self.reopen();
        }
        parse::push_normalized(&mut self.source, delta, &mut self.after_cr);
        self.settle(&mut patches);
        self.show(&mut patches);
        patches
    }

    /// Ends the text: what was shown ahead of its time is now shown as it really stands there.
    pub fn finish(&mut self) -> Vec<Patch> {
        let mut patches = Vec::new();
        if !self.finished {
            self.finished = true;
            let reading = self.show(&mut patches);
            let new = self.define(reading, usize::MAX);
            self.refresh(&mut patches, 0, |mentions| {
                !mentions.footnotes.is_empty() || new.meet(mentions)
            });
        }
        patches
    }

    /// For more text after the end, whose definitions counted as complete: begins anew with the text so far. The
    /// blocks shown stay; what is read now is compared with them.
    fn reopen(&mut self) {
        *self = Document {
            source: std::mem::take(&mut self.source),
            after_cr: self.after_cr,
            blocks: std::mem::take(&mut self.blocks),
            parsed_bytes: self.parsed_bytes,
            ..Document::default()
        };
    }

    /// Shows the open tail, ahead of its time unless the text is finished.
    fn show(&mut self, patches: &mut Vec<Patch>) -> Reading {
        let open = self.open.clone();
        let text = &self.source[self.tail..];
        let lead = open.as_ref().map_or("", |open| open.lead.as_str());
        let text = if self.finished {
            text.into()
        } else {
            tail::complete(lead, text, &mut self.parsed_bytes)
        };
        let mentions = Mentions::find(&text);
        let (mut reading, bytes) = part::read(&text, &mentions, self.context(open.as_ref()));
        self.parsed_bytes += bytes as u64;

        let mut blocks = std::mem::take(&mut reading.blocks).into_iter();
        let mut from = self.closed;
        if let Some(open) = &open
            && let Some(first) = blocks.next()
        {
            self.put(from, Some(open), first, Rest::Drop, patches);
            from += 1;
        }
        diff::blocks(
            &mut Vec::new(),
            &mut self.blocks,
            from,
            blocks.collect(),
            Rest::Drop,
            patches,
        );
        reading
    }

    /// Closes what the whole lines that have come allow to close.
    fn settle(&mut self, patches: &mut Vec<Patch>) {
        let end = self.source.rfind('\n').map_or(0, |at| at + 1);
        if end <= self.settled {
            return;
        }
        self.settled = end;
        let before = self.open.clone();
        let text = &self.source[self.tail..end];
        let (mut reading, bytes) = part::read(text, &Mentions::find(text), self.context(before.as_ref()));
        self.parsed_bytes += bytes as u64;
        let (closing, bytes) = Closing::of(&reading, text, before.as_ref());
        self.parsed_bytes += bytes as u64;

        let (start, first) = (self.tail, self.closed);
        let fresh = self.mentioning.len();
        let blocks = std::mem::take(&mut reading.blocks);
        let mut from = (start, 0);
        let mut first_within = None;
        for (index, (block, &stop)) in blocks.into_iter().zip(&closing.stops).enumerate() {
            let mut within = before.clone().filter(|_| index == 0);
            let mut block = block;
            let mut rest = Rest::Drop;
            if let Some(open) = closing.open.as_ref().filter(|_| index == closing.closed) {
                let begin = within.get_or_insert_with(|| open.at_begin());
                block = closed_children(block, open.kept - begin.kept);
                rest = Rest::Keep;
            }
            self.put(first + index, within.as_ref(), block, rest, patches);
            first_within = first_within.or(within);
            if let Some(stop) = stop {
                let (source, part) = std::mem::replace(&mut from, (start + stop, index + 1));
                self.note(source..start + stop, first + part, first_within.take());
            }
        }
        self.closed += closing.closed;
        self.open = closing.open;
        self.tail = start + closing.tail;

        // What was closed now has been read with all definitions in sight, also with those of the open tail, which may
        // yet change: it must not have used those.
        let unsure = open_definitions(&reading, closing.tail);
        self.refresh(patches, fresh, |mentions| {
            unsure.iter().any(|key| mentions.links.contains(key))
        });
        let new = self.define(reading, closing.tail);
        self.refresh(patches, 0, |mentions| new.meet(mentions));
    }

    fn context<'a>(&'a self, open: Option<&'a Open>) -> Context<'a> {
        Context {
            references: &self.references,
            assume_footnotes: !self.finished,
            open,
        }
    }

    /// Remembers a part that was closed, if a definition could change it.
    fn note(&mut self, source: Range<usize>, block: usize, within: Option<Open>) {
        let fence = within.as_ref().is_some_and(|open| open.kind == Kind::Fence);
        let mentions = if fence {
            Mentions::default()
        } else {
            Mentions::find(&self.source[source.clone()])
        };
        if !mentions.is_empty() {
            self.mentioning.push(Part {
                source,
                mentions,
                block,
                within,
            });
        }
    }

    /// Takes over the definitions that end before `tail` and returns the new ones.
    fn define(&mut self, reading: Reading, tail: usize) -> Mentions {
        let mut new = Mentions::default();
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

    /// Reads those closed parts again (from the one with this index on) whose mentions ask for it.
    fn refresh(&mut self, patches: &mut Vec<Patch>, from: usize, wanted: impl Fn(&Mentions) -> bool) {
        let parts = std::mem::take(&mut self.mentioning);
        for part in parts.iter().skip(from).filter(|part| wanted(&part.mentions)) {
            let text = &self.source[part.source.clone()];
            let (reading, bytes) = part::read(text, &part.mentions, self.context(part.within.as_ref()));
            self.parsed_bytes += bytes as u64;
            for (index, block) in reading.blocks.into_iter().enumerate() {
                let within = part.within.as_ref().filter(|_| index == 0);
                self.put(part.block + index, within, block, Rest::Keep, patches);
            }
        }
        self.mentioning = parts;
    }

    /// Makes the block at `index`, or if it is closed in part what comes after that part, equal to `new`.
    fn put(&mut self, index: usize, within: Option<&Open>, new: Block, rest: Rest, patches: &mut Vec<Patch>) {
        if let (Some(open), Some(old)) = (within, self.blocks.get_mut(index))
            && open.goes_on(old, &new)
        {
            diff::children(index, old, open, new, rest, patches);
        } else {
            diff::blocks(
                &mut Vec::new(),
                &mut self.blocks,
                index,
                vec![new],
                Rest::Keep,
                patches,
            );
        }
    }
}

/// A list or table with only its first `count` items or rows.
fn closed_children(mut block: Block, count: usize) -> Block {
    match &mut block {
        Block::List { items, .. } => items.truncate(count),
        Block::Table { rows, .. } => rows.truncate(count),
        _ => {}
    }
    block
}

/// The keys of the links that are defined after `tail`.
fn open_definitions(reading: &Reading, tail: usize) -> Vec<String> {
    let open = reading.definitions.iter().filter(|(_, end)| *end > tail);
    open.map(|(definition, _)| references::key(&definition.label))
        .collect()
}
