//! Decides how much of the open tail's whole lines no later line can change.

use std::ops::Range;

use super::blocks::Block;
use super::parse::{self, Reading};
use super::part::{self, Kind, Open};

/// What of a tail is closed. All places are counted from the tail's begin.
#[derive(Debug, Default)]
pub(super) struct Closing {
    /// How many of the tail's blocks are closed.
    pub closed: usize,
    /// Set if the block after those is closed in part.
    pub open: Option<Open>,
    /// For each block that is closed, or closed in part, where the text of that ends. `None` if the next block would
    /// not be read the same without it.
    pub stops: Vec<Option<usize>>,
    /// Where the rest, the next open tail, begins.
    pub tail: usize,
}

impl Closing {
    /// `text` is the tail's whole lines, `reading` what they say, `before` the container that the tail goes on with.
    /// Also returns how many bytes had to be parsed to find out.
    pub fn of(reading: &Reading, text: &str, before: Option<&Open>) -> (Self, usize) {
        let mut closing = Closing::default();
        let (Some(last), Some((&end, earlier))) = (reading.blocks.last(), reading.ends.split_last()) else {
            // Nothing but link definitions: a blank line ends the last one.
            if text.lines().next_back().is_some_and(is_blank) {
                closing.tail = text.len();
            }
            return (closing, 0);
        };
        let nexts = reading.spans.iter().zip(&reading.blocks).skip(1);
        let stops = earlier.iter().map(|&end| line_after(text, end)).zip(nexts);
        let stops =
            stops.map(|(stop, (span, next))| Some(stop).filter(|&stop| stands_alone(text, stop, span, next)));
        closing.stops = stops.collect();

        let stop = line_after(text, end);
        let next = text[stop..].lines().next();
        let ends_itself = matches!(last, Block::Heading { .. } | Block::Rule);
        let goes_on = matches!(
            last,
            Block::List { .. } | Block::Footnote { .. } | Block::Code { info: None, .. }
        );
        if ends_itself || !goes_on && next.is_some_and(is_blank) {
            let blank = if ends_itself {
                0
            } else {
                text[stop..].find('\n').map_or(0, |at| at + 1)
            };
            closing.tail = stop + blank;
            closing.stops.push(Some(closing.tail));
            closing.closed = closing.stops.len();
            return (closing, 0);
        }
        while closing.stops.last().is_some_and(Option::is_none) {
            closing.stops.pop();
        }
        closing.closed = closing.stops.len();
        closing.tail = closing.stops.last().copied().flatten().unwrap_or(0);
        if closing.closed < earlier.len() {
            return (closing, 0);
        }
        let before = before.filter(|_| earlier.is_empty());
        let parsed = closing.close_in_part(last, reading, text, stop, before);
        (closing, parsed)
    }

    fn close_in_part(
        &mut self,
        last: &Block,
        reading: &Reading,
        text: &str,
        stop: usize,
        before: Option<&Open>,
    ) -> usize {
        let kept = before.map_or(0, |open| open.kept);
        let begin = reading
            .spans
            .last()
            .map_or(0, |span| line_start(text, span.start));
        let mut parsed = 0;
        let (open, tail) = match last {
            Block::List { tight, items, .. } => {
                let enough = items.len() > usize::from(before.is_none());
                let Some(item) = reading.children.last().filter(|_| enough) else {
                    return 0;
                };
                let mut loose = !tight || before.is_some_and(|open| open.loose);
                let Some(lead) = lead_of(before, || {
                    part::list_lead(&text[reading.children.first()?.start..])
                }) else {
                    return 0;
                };
                if before.is_none() && !loose {
                    // Items without a paragraph of their own don't tell whether their list is loose; the lead has one.
                    let probe = format!("{lead}{}", &text[begin..]);
                    parsed = probe.len();
                    loose = matches!(
                        parse::read(&probe, 0).blocks.first(),
                        Some(Block::List { tight: false, .. })
                    );
                }
                let closed = items.len() - 1;
                let paragraphs =
                    before.is_some_and(|open| open.paragraphs) || part::has_paragraphs(&items[..closed]);
                let open = Open {
                    kind: Kind::List,
                    lead,
                    kept: kept + closed,
                    loose,
                    paragraphs,
                };
                (open, line_start(text, item.start))
            }
            Block::Table { rows, .. } => {
                let header = || Some(text[begin..].split_inclusive('\n').take(2).collect::<String>());
                let Some(lead) = lead_of(before, header) else {
                    return 0;
                };
                if before.is_none() {
                    // After a definition the head of a table may look like the begin of an item or of code.
                    parsed = lead.len();
                    if !matches!(parse::read(&lead, 0).blocks[..], [Block::Table { .. }]) {
                        return parsed;
                    }
                }
                (
                    Open {
                        kind: Kind::Table,
                        lead,
                        kept: kept + rows.len(),
                        loose: false,
                        paragraphs: false,
                    },
                    stop,
                )
            }
            Block::Code {
                info: Some(_),
                text: code,
            } => {
                let first = || text[begin..].split_inclusive('\n').next().map(str::to_owned);
                let Some(lead) = lead_of(before, first) else {
                    return 0;
                };
                let after_lead = if before.is_some() { 0 } else { begin + lead.len() };
                let tail = reading.code_end.unwrap_or(after_lead);
                (
                    Open {
                        kind: Kind::Fence,
                        lead,
                        kept: kept + code.len(),
                        loose: false,
                        paragraphs: false,
                    },
                    tail,
                )
            }
            _ => return 0,
        };
        self.open = Some(open);
        self.tail = tail;
        self.stops.push(Some(tail));
        parsed
    }
}

fn lead_of(before: Option<&Open>, new: impl FnOnce() -> Option<String>) -> Option<String> {
    before.map(|open| open.lead.clone()).or_else(new)
}

/// Whether `next`, the block at `span`, is read the same if everything before `stop` is left out.
///
/// It is not if it begins before `stop` (`[^1]: [^2]: text`), nor if it would be code for its indent were it not for what
/// comes before (a footnote indented under another).
fn stands_alone(text: &str, stop: usize, span: &Range<usize>, next: &Block) -> bool {
    let first = text[stop..]
        .lines()
        .find(|line| !is_blank(line))
        .unwrap_or_default();
    let code = matches!(next, Block::Code { info: None, .. });
    stop <= span.start && (code || !is_indented(first))
}

/// Whether a line is indented as code is: by four columns.
fn is_indented(line: &str) -> bool {
    let indent = line.find(|c| c != ' ').unwrap_or(line.len());
    indent >= 4 || line[indent..].starts_with('\t')
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |at| at + 1)
}

/// The begin of the first line that a block which ends at `end` has no part in.
fn line_after(text: &str, end: usize) -> usize {
    let start = line_start(text, end);
    if is_blank(&text[start..end]) {
        start
    } else {
        text[end..].find('\n').map_or(text.len(), |at| end + at + 1)
    }
}
