//! Repair of the open tail of a growing text, so that its raw markup does not flash: possible markup is held
//! back, open markup is closed. This file examines lines and blocks, [`inline_repair`]
//! the text in them.
//!
//! The result is only for display. Wrong guesses are corrected by the lines that follow, or by the end.

use std::borrow::Cow;

use super::html_tags;
use super::inline_repair::{self, TextContext};
use super::last_leaf::{LastLeaf, LeafKind};

/// Returns the tail as it is to be shown. `lead` is the text that the parser needs before it. The number of
/// bytes parsed is added to `parsed`.
pub(super) fn complete_tail<'a>(lead: &str, tail: &'a str, parsed: &mut u64) -> Cow<'a, str> {
    let whole = format!("{lead}{tail}");
    *parsed += whole.len() as u64;
    let leaf = LastLeaf::find(&whole);
    let line = whole.rfind('\n').map_or(0, |at| at + 1);
    let partial = &whole[line..];

    let (mut text, leaf) = match leaf.kind {
        LeafKind::Fence if leaf.span.start < line => {
            // A line that may become the closing fence, or its indent.
            let rest = partial.trim_start_matches([' ', '\t', '>']);
            let fence = rest.trim_end();
            let closing = fence.bytes().all(|byte| byte == b'`') || fence.bytes().all(|byte| byte == b'~');
            return if closing && !partial.is_empty() {
                cut_tail(&whole, lead, line)
            } else {
                tail.into()
            };
        }
        LeafKind::Fence => {
            let fence = whole[leaf.span.start..]
                .chars()
                .take_while(|c| matches!(c, '`' | '~'))
                .count();
            return cut_tail(&whole, lead, leaf.span.start + fence);
        }
        LeafKind::Html => {
            return match html_tags::incomplete_details_tag(&whole[leaf.span.start..]) {
                Some(at) => cut_tail(&whole, lead, leaf.span.start + at),
                None => tail.into(),
            };
        }
        LeafKind::Code => return tail.into(),
        _ => match hold_back_position(&whole, line, &leaf) {
            Some(at) => {
                let held = whole[..at.max(lead.len())].to_owned();
                *parsed += held.len() as u64;
                let leaf = LastLeaf::find(&held);
                (held, leaf)
            }
            None => (whole.clone(), leaf),
        },
    };
    if let Some(at) = table_head_position(&text, partial, &leaf) {
        text.truncate(at.max(lead.len()));
        *parsed += text.len() as u64;
        let leaf = LastLeaf::find(&text);
        return repair_last_leaf(text, lead, &leaf, false);
    }
    let pipes_are_cells = could_be_table_head(&text, &leaf, partial);
    repair_last_leaf(text, lead, &leaf, pipes_are_cells)
}

fn cut_tail<'a>(whole: &str, lead: &str, at: usize) -> Cow<'a, str> {
    Cow::Owned(whole.get(lead.len()..at).unwrap_or_default().to_owned())
}

fn repair_last_leaf<'a>(text: String, lead: &str, leaf: &LastLeaf, cut_at_pipe: bool) -> Cow<'a, str> {
    let start = leaf.span.start;
    let context = match leaf.kind {
        _ if start < lead.len() => None,
        LeafKind::Paragraph if !ends_with_blank_line(&text, leaf) => {
            Some(TextContext::Paragraph { cut_at_pipe })
        }
        LeafKind::Heading if !text[start..].contains('\n') => Some(TextContext::Heading),
        _ => None,
    };
    let tail = &text[lead.len()..];
    Cow::Owned(match context {
        Some(context) => {
            let mut out = text[lead.len()..start].to_owned();
            inline_repair::complete_inline(&text[start..], context, &mut out);
            out
        }
        None => tail.to_owned(),
    })
}

/// Returns true if a blank line has ended the paragraph at the text's end.
fn ends_with_blank_line(text: &str, leaf: &LastLeaf) -> bool {
    let content = text[..leaf.span.end].trim_end_matches('\n').len();
    text[content..].bytes().filter(|byte| *byte == b'\n').count() > 1
}

/// The byte position at which to cut a text whose last line (which begins at `line`) may become a marker of some
/// block.
fn hold_back_position(text: &str, line: usize, leaf: &LastLeaf) -> Option<usize> {
    let partial = &text[line..];
    if partial.is_empty() {
        return None;
    }
    let rest = strip_markers(partial);
    let content = rest.trim_end();
    let begins_paragraph = leaf.kind != LeafKind::Paragraph || leaf.span.start >= line;
    let in_table = leaf.kind == LeafKind::Cell;
    let all = |set: &str| content.chars().all(|c| set.contains(c));
    // A row is shown when it is complete: half of one would make its column wider with each word.
    let hold = content.is_empty()
        || in_table && leaf.span.start >= line
        || all("#")
        || all("=")
        || all("-*_+ \t")
        || all("`")
        || all("~")
        || could_be_list_number(content)
        || all("|:- \t")
        || content.starts_with('|')
        || (begins_paragraph && could_be_definition(rest));
    hold.then_some(line)
}

/// A line without the markers of quotes, items, checkboxes and footnotes before its text.
fn strip_markers(line: &str) -> &str {
    let mut rest = line;
    loop {
        let trimmed = rest.trim_start_matches([' ', '\t']);
        let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
        let after = if let Some(after) = trimmed.strip_prefix('>') {
            Some(after)
        } else if digits > 0 && digits < 10 {
            trimmed[digits..]
                .strip_prefix(['.', ')'])
                .filter(|after| after.starts_with([' ', '\t']))
        } else if let Some(after) = trimmed.strip_prefix(['-', '*', '+']) {
            let checkbox = ["[ ] ", "[x] ", "[X] "];
            let after = Some(after).filter(|after| after.starts_with([' ', '\t']));
            after.map(|after| {
                let item = after.trim_start_matches([' ', '\t']);
                checkbox
                    .iter()
                    .find_map(|checkbox| item.strip_prefix(checkbox))
                    .unwrap_or(after)
            })
        } else if trimmed.starts_with("[^") {
            trimmed
                .find("]:")
                .map(|at| &trimmed[at + 2..])
                .filter(|_| !trimmed.starts_with("[^]"))
        } else {
            None
        };
        match after {
            Some(after) => rest = after,
            None => return trimmed,
        }
    }
}

/// True for `12`, `12.` or `12)`, which may be an item's number.
fn could_be_list_number(content: &str) -> bool {
    let digits = content.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && digits < 10 && matches!(&content[digits..], "" | "." | ")")
}

/// True for `[label`, `[label]` and `[label]: …`, which may be the definition of a link or a footnote, or a
/// checkbox.
fn could_be_definition(rest: &str) -> bool {
    let Some(label) = rest.strip_prefix('[') else {
        return false;
    };
    match label.find([']', '[', '\n']) {
        None => label.len() < inline_repair::MAX_HELD_BRACKET_BYTES,
        Some(at) if label[at..].starts_with(']') => {
            let after = &label[at + 1..];
            after.is_empty() || after.starts_with(':') || (at <= 1 && after.trim().is_empty())
        }
        Some(_) => false,
    }
}

/// The byte position at which to cut a text that ends in the beginning of a table, with only the head line and
/// perhaps half of the next.
fn table_head_position(text: &str, partial: &str, leaf: &LastLeaf) -> Option<usize> {
    if leaf.kind != LeafKind::Paragraph
        || !could_be_table_delimiter(partial)
        || ends_with_blank_line(text, leaf)
    {
        return None;
    }
    let line = last_line_start(text);
    let begins_with_pipe = strip_markers(&text[line..]).starts_with('|');
    begins_with_pipe.then_some(line)
}

/// Returns true if the paragraph has only one line so far, and this could be the head of a table without a pipe before
/// it.
fn could_be_table_head(text: &str, leaf: &LastLeaf, partial: &str) -> bool {
    leaf.kind == LeafKind::Paragraph
        && leaf.span.start >= last_line_start(text)
        && (could_be_table_delimiter(partial) || !text.ends_with('\n'))
}

/// The byte position at which the last line that is not blank begins.
fn last_line_start(text: &str) -> usize {
    text.trim_end_matches('\n').rfind('\n').map_or(0, |at| at + 1)
}

/// Returns true if a line may become the delimiter row between a table's head and its rows.
fn could_be_table_delimiter(line: &str) -> bool {
    line.trim_start_matches(['>', ' ', '\t'])
        .bytes()
        .all(|byte| b"|:- \t".contains(&byte))
}
