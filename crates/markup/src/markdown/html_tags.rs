//! The few HTML tags that have a meaning: `<br>`, some inline elements, `<details>`. All other HTML is text.

use super::blocks::Markup;

/// An inline tag. Its attributes are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InlineTag {
    Break,
    Open(Markup),
    Close(Markup),
}

/// Reads a tag of the short list.
pub(super) fn parse_inline(tag: &str) -> Option<InlineTag> {
    let inner = tag.strip_prefix('<')?.strip_suffix('>')?;
    let (inner, is_close) = match inner.strip_prefix('/') {
        Some(inner) => (inner, true),
        None => (inner, false),
    };
    let name_end = inner
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(inner.len());
    let name = inner[..name_end].to_ascii_lowercase();
    if name == "br" {
        return Some(InlineTag::Break);
    }
    let markup = match name.as_str() {
        "sub" => Markup::Subscript,
        "sup" => Markup::Superscript,
        "kbd" => Markup::Keyboard,
        "mark" => Markup::Highlight,
        _ => return None,
    };
    Some(if is_close {
        InlineTag::Close(markup)
    } else {
        InlineTag::Open(markup)
    })
}

/// True for a block of HTML that consists of line breaks only.
pub(super) fn is_break_only(html: &str) -> bool {
    html.trim()
        .split_inclusive('>')
        .all(|tag| parse_inline(tag.trim()) == Some(InlineTag::Break))
        && !html.trim().is_empty()
}

/// A part of a block of HTML that consists of `<details>` elements, with its position in the block.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DetailsPart<'a> {
    /// `<details>`, with the text of the summary, up to `end`.
    Open { at: usize, summary: &'a str, end: usize },
    /// Markdown that follows without a blank line.
    Inner { text: &'a str, end: usize },
    /// Anything else, up to the end.
    Rest { at: usize },
    /// `</details>`.
    Close { at: usize, end: usize },
}

/// Splits a block of HTML. `None` if it does not begin with a tag of `<details>`.
pub(super) fn split_details(html: &str) -> Option<Vec<DetailsPart<'_>>> {
    let mut parts = Vec::new();
    let mut at = 0;
    // True where text is the content of an element that began here.
    let mut is_inside = false;
    loop {
        at += html[at..].len() - html[at..].trim_start().len();
        let rest = &html[at..];
        if rest.is_empty() {
            break;
        }
        if let Some(length) = tag_length(rest, "</details") {
            parts.push(DetailsPart::Close { at, end: at + length });
            at += length;
            is_inside = false;
        } else if let Some(length) = tag_length(rest, "<details") {
            let start = at;
            at += length;
            let (summary, length) = summary(&html[at..]);
            at += length;
            parts.push(DetailsPart::Open {
                at: start,
                summary,
                end: at,
            });
            is_inside = true;
        } else if is_inside {
            let end = find_tag(rest).unwrap_or(rest.len());
            at += end;
            parts.push(DetailsPart::Inner {
                text: &rest[..end],
                end: at,
            });
        } else {
            // A closing tag that text follows is text as well.
            let Some(DetailsPart::Close { at, .. }) = parts.pop() else {
                break;
            };
            parts.push(DetailsPart::Rest { at });
            break;
        }
    }
    (!parts.is_empty()).then_some(parts)
}

/// Returns the text of the summary at the start of `html`, and the length in bytes of the summary with its tags.
fn summary(html: &str) -> (&str, usize) {
    let skipped = html.len() - html.trim_start().len();
    let Some(length) = tag_length(&html[skipped..], "<summary") else {
        return ("", 0);
    };
    let start = skipped + length;
    let content = &html[start..];
    let (end, after) = match find_closing_summary(content) {
        Some(end) => {
            let close = html[start + end..]
                .find('>')
                .map_or(content.len() - end, |at| at + 1);
            (end, end + close)
        }
        None => (content.len(), content.len()),
    };
    (html[start..start + end].trim(), start + after)
}

fn find_closing_summary(text: &str) -> Option<usize> {
    const TAG: &str = "</summary";
    let mut tags = text.match_indices('<').map(|(at, _)| at);
    tags.find(|&at| {
        text[at..]
            .get(..TAG.len())
            .is_some_and(|tag| tag.eq_ignore_ascii_case(TAG))
    })
}

/// Returns the length in bytes of the tag at the start of `text`, if it is named `name`.
fn tag_length(text: &str, name: &str) -> Option<usize> {
    let head = text.get(..name.len())?;
    let after = text[name.len()..].chars().next()?;
    if !head.eq_ignore_ascii_case(name) || !(after == '>' || after == '/' || after.is_whitespace()) {
        return None;
    }
    text.find('>').map(|at| at + 1)
}

/// Returns the byte position of a tag that is cut off, in a block of HTML that begins with a tag of `<details>`.
pub(super) fn incomplete_details_tag(html: &str) -> Option<usize> {
    let begin = html.trim_start().trim_start_matches(['<', '/']);
    if !begin.starts_with("details") {
        return None;
    }
    html.rfind('<').filter(|&at| !html[at..].contains('>'))
}

fn find_tag(text: &str) -> Option<usize> {
    // Without the rest, in which no tag is complete, many incomplete ones would take long.
    let text = &text[..=text.rfind('>')?];
    text.match_indices('<').map(|(at, _)| at).find(|&at| {
        tag_length(&text[at..], "<details").is_some() || tag_length(&text[at..], "</details").is_some()
    })
}

/// Removes all tags that do not stand for an inline of ours: summaries are often headings or bold.
pub(super) fn strip_other_tags(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let is_tag = rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
        match is_tag.then(|| rest.find('>')).flatten() {
            Some(end) => {
                let tag = &rest[..=end];
                if parse_inline(tag).is_some() {
                    out.push_str(tag);
                }
                rest = &rest[end + 1..];
            }
            // Cut off, or no tag.
            None if is_tag => rest = "",
            None => {
                out.push('<');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}
