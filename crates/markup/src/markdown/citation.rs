//! Citations: a number in brackets, `[1]`, by which a model refers to one of its sources. The view resolves
//! the number; if there is no such source, it shows the original text.

use super::blocks::Inline;

/// The maximum number of digits of a source's number.
const MAX_CITATION_DIGITS: usize = 2;

/// Extracts the citations from running text that is not in a link.
pub(super) fn extract_citations(inlines: &mut Vec<Inline>) {
    let may_cite = |inline: &Inline| matches!(inline, Inline::Text(text) if next_citation(text).is_some());
    if !inlines.iter().any(may_cite) {
        return;
    }
    let mut marked = Vec::with_capacity(inlines.len() + 2);
    for inline in inlines.drain(..) {
        match inline {
            Inline::Text(text) => split_citations(&text, &mut marked),
            other => marked.push(other),
        }
    }
    *inlines = marked;
}

fn split_citations(mut text: &str, out: &mut Vec<Inline>) {
    while let Some((before, number, after)) = next_citation(text) {
        if !before.is_empty() {
            out.push(Inline::Text(before.into()));
        }
        out.push(Inline::Citation(number));
        text = after;
    }
    if !text.is_empty() {
        out.push(Inline::Text(text.into()));
    }
}

/// Returns the first citation, with the text before and after it.
fn next_citation(text: &str) -> Option<(&str, usize, &str)> {
    for (start, _) in text.match_indices('[') {
        let rest = &text[start + 1..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let is_number = (1..=MAX_CITATION_DIGITS).contains(&digits) && !rest.starts_with('0');
        if is_number
            && let Some(after) = rest[digits..].strip_prefix(']')
            && let Ok(number) = rest[..digits].parse()
        {
            return Some((&text[..start], number, after));
        }
    }
    None
}
