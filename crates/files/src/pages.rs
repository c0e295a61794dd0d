//! The pages in the text of a document, which the reader of PDF files marks: `[Page 2]`.

use std::ops::Range;

/// A part of a text on one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PagePart<'a> {
    /// The number of the page, from 1; `None` outside of pages.
    pub page: Option<usize>,
    pub text: &'a str,
}

/// Returns the ranges of a text's pages without their marks, in order; none if it has no marks.
pub fn page_ranges(text: &str) -> Vec<Range<usize>> {
    let mut pages: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        let number = line
            .trim_end()
            .strip_prefix("[Page ")
            .and_then(|rest| rest.strip_suffix(']'));
        // A page may have a line that looks like a mark: only the next number is one.
        if number.is_some_and(|number| number.parse() == Ok(pages.len() + 1)) {
            if let Some(last) = pages.last_mut() {
                last.end = at;
            }
            pages.push(end..text.len());
        }
        at = end;
    }
    pages
}

/// Returns the texts of the pages; the whole text if there are no marks. The text before the first page is not one of them.
pub fn split_pages(text: &str) -> Vec<&str> {
    let pages = page_ranges(text);
    match pages.is_empty() {
        true => vec![text],
        false => pages
            .into_iter()
            .map(|page| text.get(page).unwrap_or_default())
            .collect(),
    }
}

/// Splits a range of a text at its pages. Marks are in no part.
pub fn parts_by_page(text: &str, range: Range<usize>) -> Vec<PagePart<'_>> {
    let pages = page_ranges(text);
    let part = |page: Option<usize>, part: Range<usize>| {
        let text = text.get(part.start.max(range.start)..part.end.min(range.end))?;
        (!text.trim().is_empty()).then_some(PagePart { page, text })
    };
    let Some(first) = pages.first() else {
        return part(None, range.clone()).into_iter().collect();
    };
    let mark = text.get(..first.start).unwrap_or_default().trim_end().rfind('\n');
    let before = part(None, 0..mark.map_or(0, |line_end| line_end + 1));
    let on_pages = pages.iter().enumerate();
    let on_pages = on_pages.filter_map(|(index, page)| part(Some(index + 1), page.clone()));
    before.into_iter().chain(on_pages).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "[File: a.pdf]\n[Page 1]\nSalt\n[Page 7]\n\n[Page 2]\nrises\n";

    #[test]
    fn pages_are_counted_by_their_marks() {
        assert_eq!(split_pages(TEXT), ["Salt\n[Page 7]\n\n", "rises\n"]);
        assert_eq!(split_pages("No pages"), ["No pages"]);
    }

    #[test]
    fn parts_know_their_page() {
        let parts = |range: Range<usize>| {
            let parts = parts_by_page(TEXT, range).into_iter();
            parts.map(|part| (part.page, part.text)).collect::<Vec<_>>()
        };
        let whole = [
            (None, "[File: a.pdf]\n"),
            (Some(1), "Salt\n[Page 7]\n\n"),
            (Some(2), "rises\n"),
        ];
        assert_eq!(parts(0..TEXT.len()), whole);
        let salt = TEXT.find("alt").unwrap_or_default();
        assert_eq!(parts(salt..salt + 3), [(Some(1), "alt")]);
        assert_eq!(parts(TEXT.len()..TEXT.len()), []);
        let plain = parts_by_page("no pages", 3..8);
        assert_eq!(
            plain,
            [PagePart {
                page: None,
                text: "pages"
            }]
        );
    }
}
