//! Citations: a number in brackets, `[1]`, by which a model refers to one of its sources. Which source that is, and whether there
//! is one, whoever shows it knows: without one it is the text that it was.

use super::blocks::Inline;

/// Sources have no more digits than this.
const MAX_CITATION_DIGITS: usize = 2;

/// Takes the citations out of the texts of running text that is in no link.
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

/// The first citation, with what is before and after it.
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
