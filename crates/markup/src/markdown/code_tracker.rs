//! Tracking of code in a growing text, for callers that search the text and must ignore its code. Only the
//! part of the text that the answer depends on is kept.
//!
//! Formulas are not masked here. One with a blank line, or with a line that begins like a list item, joins two blocks on
//! the page, and with them a code span that is none here.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

use super::html_tags::{DetailsPart, split_details};
use super::last_leaf::{LastLeaf, LeafKind};
use super::parse::{parser_options, push_normalized};

/// A sample of the text that may follow: words that neither begin a block nor complete a definition.
const SAMPLE_WORDS: &str = "x y";

/// A growing text, with a test for being in code at its end.
#[derive(Clone, Debug)]
pub struct CodeTracker {
    /// The end of the text, normalized, from a position from which it is parsed like the whole.
    text: String,
    ends_with_cr: bool,
    /// The length of `text`, in bytes, at which closed blocks are dropped.
    compact_at: usize,
    limit: usize,
    /// True if the text begins with a stand-in for a long paragraph, of whose code spans nothing is known.
    is_cut: bool,
    /// True if a single block was longer than the limit, so that its content is no longer known.
    is_unknown: bool,
    parsed_bytes: u64,
}

impl CodeTracker {
    /// Creates a tracker. It keeps about twice `limit` bytes at most. If a paragraph is longer, all of it counts as
    /// code. After any other block of that length, except a fence, a list or a table, all further
    /// text counts as code.
    pub fn new(limit: usize) -> Self {
        Self {
            text: String::new(),
            ends_with_cr: false,
            compact_at: limit,
            limit,
            is_cut: false,
            is_unknown: false,
            parsed_bytes: 0,
        }
    }

    /// The number of bytes parsed so far: a measure of the work.
    pub fn parsed_bytes(&self) -> u64 {
        self.parsed_bytes
    }

    /// Returns true if so much was dropped that text outside code may count as code.
    pub fn is_uncertain(&self) -> bool {
        self.is_unknown || self.is_cut
    }

    /// The number of bytes kept: a measure of the memory.
    pub fn kept_bytes(&self) -> usize {
        self.text.len()
    }

    /// Appends text.
    pub fn push(&mut self, mut delta: &str) {
        while !self.is_unknown && !delta.is_empty() {
            let end = delta.ceil_char_boundary(self.limit / 2 + 1);
            let (start, rest) = delta.split_at(end);
            delta = rest;
            push_normalized(&mut self.text, start, &mut self.ends_with_cr);
            if self.text.len() >= self.compact_at {
                self.compact();
            }
        }
    }

    fn compact(&mut self) {
        let before = self.text.len();
        self.parsed_bytes += before as u64;
        self.text = drop_closed_blocks(&self.text).into_owned();
        self.is_cut &= self.text.len() == before;
        if self.text.len() > 2 * self.limit {
            let cut = shorten_paragraph(&self.text, self.limit);
            self.is_cut = cut.is_some();
            self.is_unknown = cut.is_none();
            self.text = cut.unwrap_or_default();
        }
        // The next compaction waits until as much text has come again, so that the work is linear in the
        // text.
        self.compact_at = self.limit.max(self.text.len() + self.limit / 2);
    }

    /// Returns true if `next`, which comes after the text and `more`, stands in code or may turn out to:
    /// after an unclosed backtick it is not known. A fence that `next` begins itself does not count.
    pub fn is_code(&mut self, more: &str, next: &str) -> bool {
        if self.is_unknown {
            return true;
        }
        let mut text = self.text.clone();
        push_normalized(&mut text, more, &mut self.ends_with_cr.clone());
        self.parsed_bytes += (text.len() + next.len()) as u64;
        ends_in_code(&text, next, self.is_cut)
    }
}

fn ends_in_code(text: &str, next: &str, is_cut: bool) -> bool {
    let at = text.len();
    // The words after it keep it from being a definition.
    let text = format!("{text}{next} {SAMPLE_WORDS}");
    let leaf = LastLeaf::find(&text);
    match leaf.kind {
        LeafKind::None => false,
        LeafKind::Html => may_be_details_code(&text, &leaf, next),
        LeafKind::Fence => leaf.span.start < at,
        LeafKind::Code => true,
        _ if is_cut && leaf.span.start == 0 => true,
        LeafKind::Paragraph | LeafKind::Heading | LeafKind::Cell => can_be_in_code_span(&text, at, &leaf),
    }
}

/// Returns true if the words at the end of a block of HTML may be in code: the Markdown in a `<details>` element is
/// parsed on its own.
fn may_be_details_code(text: &str, leaf: &LastLeaf, next: &str) -> bool {
    let mut html = String::new();
    for (event, span) in Parser::new_ext(text, parser_options()).into_offset_iter() {
        if let Event::Html(line) = event
            && span.start >= leaf.span.start
        {
            html.push_str(&line);
        }
    }
    let last = split_details(&html).and_then(|mut parts| parts.pop());
    let (Some(DetailsPart::Inner { text, .. }) | Some(DetailsPart::Open { summary: text, .. })) = last else {
        return false;
    };
    let before = text.strip_suffix(&format!("{next} {SAMPLE_WORDS}"));
    before.is_some_and(|before| ends_in_code(before, next, false))
}

/// Returns true if this position in running text may be in a code span.
fn can_be_in_code_span(text: &str, at: usize, leaf: &LastLeaf) -> bool {
    let line = text[..at].rfind('\n').map_or(0, |at| at + 1);
    let mut end = leaf.span.start;
    for (event, span) in Parser::new_ext(text, parser_options()).into_offset_iter() {
        if span.start < leaf.span.start || span.start >= at {
            continue;
        }
        match event {
            Event::Text(_) => {
                // The parser leaves out a backslash that escapes the next character.
                let is_escaped = text[end.min(span.start)..span.start].ends_with('\\');
                let open = &text[span.start..span.end.min(at)];
                let open = open.strip_prefix('`').filter(|_| is_escaped).unwrap_or(open);
                if open.contains('`') {
                    return true;
                }
                end = span.end;
            }
            // If a delimiter row follows, this line becomes a table's head, and the pipe splits the present
            // span.
            Event::Code(code)
                if leaf.kind == LeafKind::Paragraph && span.end > line && code.contains('|') =>
            {
                return true;
            }
            Event::Start(_) | Event::End(_) => {}
            _ => end = span.end,
        }
    }
    false
}

/// Returns a shorter paragraph in place of a long one that may continue; `None` if the text is not such a
/// paragraph. Its last two lines are kept if they are short enough: the first may be a table's head, and the
/// second may become anything.
fn shorten_paragraph(text: &str, limit: usize) -> Option<String> {
    let leaf = LastLeaf::find(&format!("{text}{SAMPLE_WORDS}"));
    if leaf.kind != LeafKind::Paragraph || !text[..leaf.span.start].trim().is_empty() {
        return None;
    }
    // Blank lines before it are not part of it.
    let text = &text[text[..leaf.span.start].rfind('\n').map_or(0, |at| at + 1)..];
    if text.len() <= limit {
        return Some(text.to_owned());
    }
    let partial = text.rfind('\n').map_or(0, |at| at + 1);
    let last = text[..partial.saturating_sub(1)]
        .rfind('\n')
        .map_or(0, |at| at + 1);
    if text.len() - last <= limit {
        return Some(format!("{SAMPLE_WORDS}\n{}", &text[last..]));
    }
    if text[last..].contains('|') {
        return None;
    }
    if text.len() - partial <= limit {
        return Some(format!("{SAMPLE_WORDS}\n{}", &text[partial..]));
    }
    // A pipe may follow in this line. Then only a paragraph's first line can become a table's head, and only
    // if the pipe is not escaped.
    let before = if partial == 0 { "" } else { "x\n" };
    let backslashes = text.len() - text.trim_end_matches('\\').len();
    let escape = if backslashes % 2 == 1 { "\\" } else { "" };
    Some(format!("{before}{SAMPLE_WORDS}{escape}"))
}

/// Returns a shorter text after which everything is parsed as after `text`: without its closed blocks, items,
/// rows and lines of code. It is `text` itself if nothing is closed, as in a long paragraph.
fn drop_closed_blocks(text: &str) -> Cow<'_, str> {
    // Only complete lines close anything.
    let whole = text.rfind('\n').map_or(0, |at| at + 1);
    let mut depth = 0;
    let mut keep = 0;
    let mut last = None;
    for (event, span) in Parser::new_ext(&text[..whole], parser_options()).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                if depth == 0 {
                    if follows_blank(text, span.start) {
                        keep = span.start;
                    }
                    last = head_line_count(&tag).map(|lines| (lines, span));
                } else if depth == 1 && matches!(tag, Tag::Item) && is_line_start(text, span.start) {
                    keep = span.start;
                }
                depth += 1;
            }
            Event::End(_) => depth -= 1,
            _ => {}
        }
    }
    match last.and_then(|(lines, span)| open_block_head(&text[..whole], lines, span)) {
        Some(head) => Cow::Owned(format!("{head}{}", &text[whole..])),
        None => Cow::Borrowed(&text[keep..]),
    }
}

/// The number of lines at a block's beginning that determine how its further lines are parsed.
fn head_line_count(tag: &Tag<'_>) -> Option<usize> {
    match tag {
        Tag::CodeBlock(CodeBlockKind::Fenced(_)) => Some(1),
        Tag::Table(_) => Some(2),
        _ => None,
    }
}

/// Returns the head of the block at `span`, if it is still open and longer than its head.
fn open_block_head(text: &str, lines: usize, span: Range<usize>) -> Option<&str> {
    let start = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let end: usize = text[start..]
        .split_inclusive('\n')
        .take(lines)
        .map(str::len)
        .sum();
    let head = &text[start..start + end];
    let is_open = match lines {
        1 => ends_in_code(text, SAMPLE_WORDS, false),
        _ => LastLeaf::find(&format!("{text}{SAMPLE_WORDS}")).kind == LeafKind::Cell,
    };
    // After a definition, the head of a table may look like the beginning of an item or of code.
    let stands_alone = head.starts_with(['`', '~', '|']);
    (is_open && stands_alone).then_some(head)
}

fn is_line_start(text: &str, at: usize) -> bool {
    at == 0 || text[..at].ends_with('\n')
}

/// Returns true if a blank line precedes this position. Without one, the block that begins here may become the end of a
/// definition.
fn follows_blank(text: &str, at: usize) -> bool {
    match text[..at].strip_suffix('\n') {
        Some(before) => before.rsplit('\n').next().unwrap_or_default().trim().is_empty(),
        None => at == 0,
    }
}
