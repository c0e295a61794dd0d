//! Closes the beginning of a growing text's open tail: finds the complete lines that no later line can change, so that they
//! are not parsed again.

use std::ops::Range;

use super::blocks::Block;
use super::closed_part::{self, ContainerKind, OpenContainer};
use super::nested_fences;
use super::parse::{self, ParsedMarkdown, Stage};

/// The closed part of a tail. All positions are counted from the tail's beginning.
#[derive(Debug, Default)]
pub(super) struct SettledLines {
    /// The number of closed blocks in the tail.
    pub closed_blocks: usize,
    /// Set if the block after those is partly closed.
    pub open_container: Option<OpenContainer>,
    /// For each block that is closed or partly closed, the end of the closed text. `None` if the next block
    /// would be parsed differently without it.
    pub block_ends: Vec<Option<usize>>,
    /// The beginning of the rest, which is the next open tail.
    pub tail_start: usize,
}

impl SettledLines {
    /// Computes the closed part. `text` is the tail's complete lines, `reading` their parsed form, `before`
    /// the container that the tail continues. Also returns the number of bytes parsed for it.
    pub fn from_reading(
        reading: &ParsedMarkdown,
        text: &str,
        before: Option<&OpenContainer>,
    ) -> (Self, usize) {
        let mut settled = SettledLines::default();
        let (Some(last), Some((&end, earlier))) = (reading.blocks.last(), reading.block_ends.split_last())
        else {
            // Only link definitions: a blank line ends the last one.
            if text.lines().next_back().is_some_and(is_blank) {
                settled.tail_start = text.len();
            }
            return (settled, 0);
        };
        let nexts = reading.block_spans.iter().zip(&reading.blocks).skip(1);
        let stops = earlier.iter().map(|&end| next_line_start(text, end)).zip(nexts);
        let stops = stops.map(|(stop, (span, next))| {
            Some(stop).filter(|&stop| is_independent_of_previous(text, stop, span, next))
        });
        settled.block_ends = stops.collect();

        let stop = next_line_start(text, end);
        let next = text[stop..].lines().next();
        let ends_itself = matches!(last, Block::Heading { .. } | Block::Rule);
        let can_continue = reading.has_open_details
            || matches!(
                last,
                Block::List { .. } | Block::Footnote { .. } | Block::Code { info: None, .. }
            );
        if ends_itself || !can_continue && next.is_some_and(is_blank) {
            let blank = if ends_itself {
                0
            } else {
                text[stop..].find('\n').map_or(0, |at| at + 1)
            };
            settled.tail_start = stop + blank;
            settled.block_ends.push(Some(settled.tail_start));
            settled.closed_blocks = settled.block_ends.len();
            return (settled, 0);
        }
        while settled.block_ends.last().is_some_and(Option::is_none) {
            settled.block_ends.pop();
        }
        settled.closed_blocks = settled.block_ends.len();
        settled.tail_start = settled.block_ends.last().copied().flatten().unwrap_or(0);
        if settled.closed_blocks < earlier.len() {
            return (settled, 0);
        }
        let before = before.filter(|_| earlier.is_empty());
        let parsed = settled.close_partially(last, reading, text, stop, before);
        (settled, parsed)
    }

    fn close_partially(
        &mut self,
        last: &Block,
        reading: &ParsedMarkdown,
        text: &str,
        stop: usize,
        before: Option<&OpenContainer>,
    ) -> usize {
        let kept = before.map_or(0, |open| open.closed_length);
        let begin = reading
            .block_spans
            .last()
            .map_or(0, |span| line_start(text, span.start));
        let mut parsed = 0;
        let (open, tail) = match last {
            Block::List { tight, items, .. } => {
                let enough = items.len() > usize::from(before.is_none());
                let Some(item) = reading.child_spans.last().filter(|_| enough) else {
                    return 0;
                };
                let Some(lead) = lead_or_else(before, || {
                    closed_part::list_lead(&text[reading.child_spans.first()?.start..])
                }) else {
                    return 0;
                };
                let open = OpenContainer {
                    kind: ContainerKind::List,
                    lead_text: lead,
                    closed_length: kept + items.len() - 1,
                    is_loose: !tight || before.is_some_and(|open| open.is_loose),
                };
                (open, line_start(text, item.start))
            }
            Block::Table { rows, .. } => {
                let header = || Some(text[begin..].split_inclusive('\n').take(2).collect::<String>());
                let Some(lead) = lead_or_else(before, header) else {
                    return 0;
                };
                if before.is_none() {
                    // After a definition, the head of a table may look like the beginning of an item or of
                    // code.
                    parsed = lead.len();
                    if !matches!(
                        parse::parse_from(&lead, 0, Stage::Settled).blocks[..],
                        [Block::Table { .. }]
                    ) {
                        return parsed;
                    }
                }
                (
                    OpenContainer {
                        kind: ContainerKind::Table,
                        lead_text: lead,
                        closed_length: kept + rows.len(),
                        is_loose: false,
                    },
                    stop,
                )
            }
            Block::Code {
                info: Some(_),
                text: code,
            } => {
                let first = || text[begin..].split_inclusive('\n').next().map(str::to_owned);
                let Some(lead) = lead_or_else(before, first) else {
                    return 0;
                };
                let after_lead = if before.is_some() { 0 } else { begin + lead.len() };
                let tail = reading.code_end.unwrap_or(after_lead);
                let lead = nested_fences::lead_after(&lead, &text[after_lead..tail]);
                (
                    OpenContainer {
                        kind: ContainerKind::Fence,
                        lead_text: lead,
                        closed_length: kept + code.len(),
                        is_loose: false,
                    },
                    tail,
                )
            }
            _ => return 0,
        };
        self.open_container = Some(open);
        self.tail_start = tail;
        self.block_ends.push(Some(tail));
        parsed
    }
}

fn lead_or_else(before: Option<&OpenContainer>, new: impl FnOnce() -> Option<String>) -> Option<String> {
    before.map(|open| open.lead_text.clone()).or_else(new)
}

/// Returns true if `next`, the block at `span`, is parsed the same without all text before `stop`.
///
/// It is not if it begins before `stop` (`[^1]: [^2]: text`), nor if its indent would make it code without
/// the preceding text (a footnote indented under another).
fn is_independent_of_previous(text: &str, stop: usize, span: &Range<usize>, next: &Block) -> bool {
    let first = text[stop..]
        .lines()
        .find(|line| !is_blank(line))
        .unwrap_or_default();
    let code = matches!(next, Block::Code { info: None, .. });
    stop <= span.start && (code || !is_indented_code(first))
}

/// Returns true if a line is indented as code is: by four columns.
fn is_indented_code(line: &str) -> bool {
    let indent = line.find(|c| c != ' ').unwrap_or(line.len());
    indent >= 4 || line[indent..].starts_with('\t')
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |at| at + 1)
}

/// The byte position of the first line after a block that ends at `end`.
fn next_line_start(text: &str, end: usize) -> usize {
    let start = line_start(text, end);
    if is_blank(&text[start..end]) {
        start
    } else {
        text[end..].find('\n').map_or(text.len(), |at| end + at + 1)
    }
}
