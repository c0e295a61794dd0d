//! Finds the main content of a page: the part marked as such, if most of the text is in it.

use std::ops::Range;

use super::{
    html_tree::{HtmlDocument, HtmlNode},
    tag::Tag,
};

/// The amount of prose in any part of a page: text outside links, since menus consist of links.
pub struct ProseIndex {
    /// The characters before each node.
    chars_before: Vec<usize>,
}

impl ProseIndex {
    pub fn from_document(document: &HtmlDocument) -> Self {
        let mut before = Vec::with_capacity(document.nodes.len() + 1);
        let (mut total, mut link_end) = (0, 0);
        for (index, node) in document.nodes.iter().enumerate() {
            before.push(total);
            match node {
                HtmlNode::Element(element) if element.tag == Tag::A => link_end = link_end.max(element.end),
                HtmlNode::Text(text) if index >= link_end => {
                    total += text.split_whitespace().map(str::len).sum::<usize>();
                }
                _ => {}
            }
        }
        before.push(total);
        Self { chars_before: before }
    }

    pub fn chars_in(&self, part: &Range<usize>) -> usize {
        self.chars_before[part.end] - self.chars_before[part.start]
    }

    /// Finds the main content: a `<main>` with a good part of the page's text, and in it the one
    /// article with most of it.
    pub fn find_content(&self, document: &HtmlDocument) -> Range<usize> {
        let page = 0..document.nodes.len();
        let main = self.largest_part(document, &page, Tag::Main);
        let main = main.filter(|part| self.chars_in(part) * 3 >= self.chars_in(&page));
        let main = main.unwrap_or(page);
        let article = self.largest_part(document, &main, Tag::Article);
        let article = article.filter(|part| self.chars_in(part) * 3 >= self.chars_in(&main) * 2);
        article.unwrap_or(main)
    }

    /// Returns the element with this tag that has the most prose in a part; the first one if
    /// several have the same amount.
    fn largest_part(&self, document: &HtmlDocument, part: &Range<usize>, tag: Tag) -> Option<Range<usize>> {
        let all = document.nodes[part.clone()].iter().zip(part.start..);
        let parts = all.filter_map(|(node, start)| match node {
            HtmlNode::Element(element) if element.tag == tag => Some(start..element.end),
            _ => None,
        });
        parts.reduce(|best, next| {
            if self.chars_in(&next) > self.chars_in(&best) {
                next
            } else {
                best
            }
        })
    }
}
