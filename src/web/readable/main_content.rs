//! Which part of a page it is about: what says so itself, if most of what there is to read is in it.

use std::ops::Range;

use super::{
    html_tree::{Document, Node},
    tag::Tag,
};

/// How much there is to read in any part of a page: text that is not in links, which is where menus have theirs.
pub struct ProseIndex {
    /// The characters before each node.
    chars_before: Vec<usize>,
}

impl ProseIndex {
    pub fn from_document(document: &Document) -> Self {
        let mut before = Vec::with_capacity(document.nodes.len() + 1);
        let (mut total, mut link_end) = (0, 0);
        for (index, node) in document.nodes.iter().enumerate() {
            before.push(total);
            match node {
                Node::Element(element) if element.tag == Tag::A => link_end = link_end.max(element.end),
                Node::Text(text) if index >= link_end => {
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

    /// Finds the part: `<main>` with a good part of the page in it, and there the one article with most of it.
    pub fn find_content(&self, document: &Document) -> Range<usize> {
        let page = 0..document.nodes.len();
        let main = self.largest_part(document, &page, Tag::Main);
        let main = main.filter(|part| self.chars_in(part) * 3 >= self.chars_in(&page));
        let main = main.unwrap_or(page);
        let article = self.largest_part(document, &main, Tag::Article);
        let article = article.filter(|part| self.chars_in(part) * 3 >= self.chars_in(&main) * 2);
        article.unwrap_or(main)
    }

    /// The part of a part with a tag in which there is most to read: the first, if several have the same.
    fn largest_part(&self, document: &Document, part: &Range<usize>, tag: Tag) -> Option<Range<usize>> {
        let all = document.nodes[part.clone()].iter().zip(part.start..);
        let parts = all.filter_map(|(node, start)| match node {
            Node::Element(element) if element.tag == tag => Some(start..element.end),
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
