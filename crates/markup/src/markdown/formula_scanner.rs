//! The search for formulas in a text that is not masked yet: what is between delimiters, outside of code, HTML and
//! URLs, and passes [`formula_rules`].

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, LinkType, Parser, Tag, TagEnd};

use super::formula::FormulaDelimiters;
use super::formula_rules;
use super::parse::parser_options;

/// The maximum length of a formula, in bytes. An unclosed delimiter keeps that much text open.
const MAX_FORMULA_BYTES: usize = 8 << 10;

/// The length of the text around a formula that the rules see.
const MAX_AROUND_BYTES: usize = 200;

/// The result of the search for a formula's end.
enum FormulaEnd {
    At(usize),
    /// The end may still arrive.
    Open,
    /// The formula has no end before this byte position.
    None(usize),
}

/// Finds the formulas of a text.
pub(super) struct FormulaScanner<'a> {
    text: &'a str,
    /// Code, HTML and URLs, in which no formula begins.
    excluded: Vec<Range<usize>>,
    /// The excluded ranges that no formula contains: fenced code, code spans, blocks of HTML and reference definitions.
    barriers: Vec<Range<usize>>,
    /// The line ends within a paragraph.
    soft_breaks: Vec<usize>,
    /// Headings and cells, which have no further lines.
    single_lines: Vec<Range<usize>>,
}

/// The formulas of a text.
#[derive(Default)]
pub(super) struct FormulaScan {
    pub formulas: Vec<Range<usize>>,
    /// The byte position of a delimiter that a later line may close.
    pub open_at: Option<usize>,
    /// The number of bytes searched for the ends of formulas.
    pub searched: usize,
}

impl<'a> FormulaScanner<'a> {
    pub fn new(text: &'a str) -> Self {
        let mut scanner = FormulaScanner {
            text,
            excluded: Vec::new(),
            barriers: Vec::new(),
            soft_breaks: Vec::new(),
            single_lines: Vec::new(),
        };
        let parser = Parser::new_ext(text, parser_options());
        for (_, definition) in parser.reference_definitions().iter() {
            scanner.barriers.push(definition.span.clone());
        }
        // The end of the last running text: in a link, its URL follows.
        let mut text_end = 0;
        for (event, span) in parser.into_offset_iter() {
            let is_barrier = match event {
                Event::End(TagEnd::Link | TagEnd::Image) if text_end < span.end => {
                    scanner.excluded.push(text_end.max(span.start)..span.end);
                    continue;
                }
                Event::Start(Tag::Heading { .. }) if text[span.start..].trim_start().starts_with('#') => {
                    scanner.single_lines.push(span);
                    continue;
                }
                Event::Start(Tag::TableCell) => {
                    scanner.single_lines.push(span);
                    continue;
                }
                Event::Text(_) => {
                    text_end = span.end;
                    continue;
                }
                Event::Code(_)
                | Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_)) | Tag::HtmlBlock) => true,
                Event::InlineHtml(_)
                // A line of a formula, after a blank one, may be indented.
                | Event::Start(Tag::CodeBlock(CodeBlockKind::Indented))
                | Event::Start(Tag::Link {
                    link_type: LinkType::Autolink | LinkType::Email,
                    ..
                }) => false,
                Event::SoftBreak | Event::HardBreak => {
                    let end = text[span.start..].find('\n').map(|at| span.start + at);
                    scanner.soft_breaks.extend(end);
                    continue;
                }
                _ => continue,
            };
            text_end = span.end;
            if is_barrier {
                scanner.barriers.push(span);
            } else {
                scanner.excluded.push(span);
            }
        }
        scanner.barriers.sort_unstable_by_key(|range| range.start);
        scanner.excluded.extend_from_slice(&scanner.barriers);
        scanner.excluded.sort_unstable_by_key(|range| range.start);
        scanner
    }

    /// Scans the text from `from` on. With `masks_open`, a formula whose end has not arrived counts too.
    pub fn scan(&self, from: usize, masks_open: bool) -> FormulaScan {
        let bytes = self.text.as_bytes();
        let mut scan = FormulaScan::default();
        let mut excluded = self.excluded.iter().peekable();
        let mut at = from;
        // For `\(`, `\[` and each environment, the position before which none is closed.
        let mut dead = [0; FormulaDelimiters::COMMANDS];
        while at < bytes.len() {
            while excluded.next_if(|range| range.end <= at).is_some() {}
            if let Some(range) = excluded.peek().filter(|range| range.start <= at) {
                at = range.end;
                continue;
            }
            if !matches!(bytes[at], b'$' | b'\\') {
                at += 1;
                continue;
            }
            let rest = &self.text[at..];
            let Some(delimiters) = FormulaDelimiters::at_start(rest) else {
                at += match bytes[at] {
                    b'$' => rest.bytes().take_while(|byte| *byte == b'$').count(),
                    _ => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
                };
                continue;
            };
            let start = at + delimiters.opening().len();
            let command = delimiters.command_index();
            if command.is_some_and(|index| start < dead[index]) {
                at = start;
                continue;
            }
            let end = self.find_end(delimiters, start);
            scan.searched += match end {
                FormulaEnd::At(end) | FormulaEnd::None(end) => end - start,
                FormulaEnd::Open => bytes.len() - start,
            };
            match end {
                FormulaEnd::At(end) => {
                    let latex = &self.text[start..end];
                    let end = end + delimiters.closing().len();
                    let before =
                        &self.text[self.text.floor_char_boundary(at.saturating_sub(MAX_AROUND_BYTES))..at];
                    let after = &self.text[end..self.text.floor_char_boundary(end + MAX_AROUND_BYTES)];
                    if formula_rules::is_formula(delimiters, latex, before, after) {
                        scan.formulas.push(at..end);
                        at = end;
                    } else {
                        // One that opens later and ends here is none for the same reason.
                        if let Some(index) = command {
                            dead[index] = end;
                        }
                        at = start;
                    }
                }
                FormulaEnd::Open => {
                    let is_plausible = delimiters != FormulaDelimiters::Dollar
                        || formula_rules::looks_like_formula(&self.text[start..]);
                    scan.open_at.get_or_insert(at);
                    if masks_open && is_plausible {
                        scan.formulas.push(at..bytes.len());
                        break;
                    }
                    // Without its end it is text, in which others may stand.
                    if let Some(index) = command {
                        dead[index] = bytes.len();
                    }
                    at = start;
                }
                FormulaEnd::None(until) => {
                    // The next one that opens before it has no end either: without this, many of them would take long.
                    if let Some(index) = command {
                        dead[index] = until;
                    }
                    at = start;
                }
            }
        }
        scan
    }

    /// Finds the closing delimiter of a formula whose text begins at `start`.
    fn find_end(&self, delimiters: FormulaDelimiters, start: usize) -> FormulaEnd {
        let bytes = self.text.as_bytes();
        let limit = bytes.len().min(start + MAX_FORMULA_BYTES);
        let is_dollar = delimiters == FormulaDelimiters::Dollar;
        if is_dollar && start < bytes.len() && !formula_rules::can_open_dollar(&self.text[start..]) {
            return FormulaEnd::None(start);
        }
        let is_spaced = bytes.get(start) == Some(&b' ');
        let first = self.barriers.partition_point(|range| range.end <= start);
        let barrier = self.barriers.get(first).map_or(usize::MAX, |range| range.start);
        let line = self.single_lines.partition_point(|range| range.end < start);
        let line = self.single_lines.get(line).filter(|range| range.start < start);
        let line_end = line.map_or(usize::MAX, |range| range.end);
        let mut lines = 0;
        let mut at = start;
        while at < limit {
            if at >= barrier {
                return FormulaEnd::None(at);
            }
            match bytes[at] {
                b'\\' => {
                    if self.text[at..].starts_with(delimiters.closing()) {
                        return FormulaEnd::At(at);
                    }
                    at += 1 + self.text[at + 1..].chars().next().map_or(0, char::len_utf8);
                    // A line may end in a backslash.
                    if self.text.as_bytes()[at - 1] == b'\n' {
                        at -= 1;
                    }
                }
                b'$' => {
                    let run = bytes[at..].iter().take_while(|byte| **byte == b'$').count();
                    match (delimiters, run) {
                        (FormulaDelimiters::Dollar, 1)
                            if bytes[at - 1].is_ascii_whitespace() == is_spaced =>
                        {
                            return FormulaEnd::At(at);
                        }
                        (FormulaDelimiters::Dollar, _) => return FormulaEnd::None(at),
                        (FormulaDelimiters::DoubleDollar, 2) => return FormulaEnd::At(at),
                        (FormulaDelimiters::DoubleDollar, 3..) => return FormulaEnd::None(at),
                        _ => at += run,
                    }
                }
                b'\n' if at + 1 >= line_end => return FormulaEnd::None(at),
                b'\n' => {
                    lines += 1;
                    let rest = &self.text[at + 1..];
                    if rest.is_empty() {
                        break;
                    }
                    let next = rest.split('\n').next().unwrap_or_default();
                    let is_complete = next.len() < rest.len();
                    if is_complete && delimiters.is_display() && next.trim_matches([' ', '\t']).is_empty() {
                        // A formula continues after a blank line if the next line looks like one.
                        let line = at + 1 + (rest.len() - rest.trim_start().len());
                        if line == bytes.len() {
                            break;
                        }
                        let text = self.text[line..].lines().next().unwrap_or_default();
                        if !formula_rules::continues_formula(text, delimiters) {
                            return FormulaEnd::None(at);
                        }
                        at = line;
                        continue;
                    }
                    let is_blank = next.trim_matches([' ', '\t', '>']).is_empty();
                    let is_within = delimiters.is_display() || self.soft_breaks.binary_search(&at).is_ok();
                    if is_blank && is_complete || !is_within || is_dollar && lines > 1 {
                        return FormulaEnd::None(at);
                    }
                    at += 1;
                }
                _ => at += 1,
            }
        }
        if limit < bytes.len() || is_dollar && lines > 1 {
            FormulaEnd::None(at)
        } else {
            FormulaEnd::Open
        }
    }
}
