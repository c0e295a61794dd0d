//! Masking of formulas, so that the Markdown parser sees plain words in their place.
//!
//! LaTeX is full of characters that are markup in Markdown, even at the beginning of a line (`+ c`, `= d`). In a masked
//! formula each of them is replaced by a control character. The text keeps its length and all positions, and a masked
//! text is converted back without knowing where the formulas are: [`push_normalized`](super::parse::push_normalized)
//! keeps these control characters out of all other text.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Parser, Tag, TagEnd};

use super::formula::FormulaDelimiters;
use super::formula_rules;
use super::parse::parser_options;

/// The maximum length of a formula, in bytes. An unclosed delimiter keeps that much text open.
const MAX_FORMULA_BYTES: usize = 8 << 10;

/// The characters that Markdown may take for markup in the middle of a formula, in the order of their masks.
const MARKUP: &[u8; 20] = b"*_~[]<>&!\\`|#+-.)=:$";

/// Their masks: control characters that have no meaning in text.
const MASKS: &[u8; 20] = b"\x01\x02\x03\x04\x05\x06\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1c";

/// True for the control characters that stand for markup.
pub(super) fn is_mask(c: char) -> bool {
    u8::try_from(c).is_ok_and(|byte| MASKS.contains(&byte))
}

/// Returns a masked text as it was written.
pub(super) fn unmask(text: &str) -> Cow<'_, str> {
    if !text.contains(is_mask) {
        return text.into();
    }
    let original = text.chars().map(|c| {
        let mask = MASKS.iter().position(|mask| char::from(*mask) == c);
        mask.map_or(c, |at| char::from(MARKUP[at]))
    });
    Cow::Owned(original.collect())
}

/// A text with masked formulas.
pub(super) struct MaskedText<'a> {
    pub text: Cow<'a, str>,
    /// The position of a delimiter that a later line may close.
    pub open_at: Option<usize>,
    /// The number of bytes parsed and searched for it.
    pub parsed: usize,
}

/// Masks the formulas of `text`. `lead` is the text that the parser needs before it. With `masks_open`, a formula
/// whose end has not arrived yet is masked too.
pub(super) fn mask<'a>(lead: &str, text: &'a str, masks_open: bool) -> MaskedText<'a> {
    let mut masked = MaskedText {
        text: text.into(),
        open_at: None,
        parsed: 0,
    };
    if !text.contains('$') && !text.contains("\\(") && !text.contains("\\[") {
        return masked;
    }
    let whole = [lead, text].concat();
    let scan = FormulaScanner::new(&whole).scan(lead.len(), masks_open);
    masked.parsed = whole.len() + scan.searched;
    masked.open_at = scan.open_at.map(|open| open - lead.len());
    let ranges = scan.formulas;
    if !ranges.is_empty() {
        let mut bytes = text.as_bytes().to_vec();
        let mut searched = 0;
        let mut quotes = 0;
        for range in ranges {
            let range = range.start - lead.len()..range.end - lead.len();
            let new_line = bytes[searched..range.start]
                .iter()
                .rposition(|byte| *byte == b'\n');
            let line = match new_line {
                Some(at) => Some(searched + at + 1),
                None => (searched == 0).then_some(0),
            };
            if let Some(line) = line {
                quotes = count_quotes(&bytes[line..range.start]);
            }
            searched = range.start;
            mask_range(&mut bytes[range], quotes);
        }
        // Only ASCII characters were replaced, by ASCII characters.
        masked.text = Cow::Owned(String::from_utf8_lossy(&bytes).into_owned());
    }
    masked
}

/// The number of quote markers at the beginning of a line, up to a formula.
fn count_quotes(line: &[u8]) -> usize {
    let is_prefix = |byte: &&u8| b" \t>-*+.)".contains(byte) || byte.is_ascii_digit();
    let prefix = line.iter().take_while(is_prefix);
    prefix.filter(|byte| **byte == b'>').count()
}

/// Masks a formula that begins in a line with so many quote markers: those of its further lines stay.
fn mask_range(formula: &mut [u8], quotes: usize) {
    let mut left = 0;
    for byte in formula {
        match *byte {
            b'\n' => left = quotes,
            b' ' | b'\t' => {}
            b'>' if left > 0 => left -= 1,
            markup => {
                left = 0;
                if let Some(at) = MARKUP.iter().position(|byte| *byte == markup) {
                    *byte = MASKS[at];
                }
            }
        }
    }
}

/// The length of the text around a formula that the rules see.
const MAX_AROUND_BYTES: usize = 200;

/// The result of the search for a formula's end.
enum FormulaEnd {
    At(usize),
    /// It may still come.
    Open,
    /// There is none before this position.
    None(usize),
}

struct FormulaScanner<'a> {
    text: &'a str,
    /// Code, HTML and addresses, in which no formula begins.
    excluded: Vec<Range<usize>>,
    /// Those of them that no formula contains: code, and blocks of HTML.
    barriers: Vec<Range<usize>>,
    /// The line ends within a paragraph.
    soft_breaks: Vec<usize>,
    /// Headings and cells, which have no further lines.
    single_lines: Vec<Range<usize>>,
}

#[derive(Default)]
struct FormulaScan {
    formulas: Vec<Range<usize>>,
    open_at: Option<usize>,
    /// The number of bytes searched for the ends of formulas.
    searched: usize,
}

impl<'a> FormulaScanner<'a> {
    fn new(text: &'a str) -> Self {
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
        // The end of the last piece of running text: in a link, its address follows.
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
                Event::Code(_) | Event::Start(Tag::CodeBlock(_) | Tag::HtmlBlock) => true,
                Event::InlineHtml(_)
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

    fn scan(&self, from: usize, masks_open: bool) -> FormulaScan {
        let bytes = self.text.as_bytes();
        let mut scan = FormulaScan::default();
        let mut excluded = self.excluded.iter().peekable();
        let mut at = from;
        // For `\(` and `\[`, the position before which none is closed.
        let mut dead = [0; 2];
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
            if delimiters.opening().starts_with('\\') && start < dead[usize::from(delimiters.is_display())] {
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
                        if delimiters.opening().starts_with('\\') {
                            dead[usize::from(delimiters.is_display())] = end;
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
                    if delimiters.opening().starts_with('\\') {
                        dead[usize::from(delimiters.is_display())] = bytes.len();
                    }
                    at = start;
                }
                FormulaEnd::None(until) => {
                    // The next one that opens before it has no end either: without this, many of them would take long.
                    if delimiters.opening().starts_with('\\') {
                        dead[usize::from(delimiters.is_display())] = until;
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
                        (FormulaDelimiters::Dollar, 1) if !bytes[at - 1].is_ascii_whitespace() => {
                            return FormulaEnd::At(at);
                        }
                        (FormulaDelimiters::Dollar, _) => return FormulaEnd::None(at),
                        (FormulaDelimiters::DoubleDollar, 2..) => return FormulaEnd::At(at),
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
