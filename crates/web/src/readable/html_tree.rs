//! Parses HTML to a tree: not exactly the browsers' one, but close enough for reading, and limited
//! in size and depth.
//!
//! The tree is a list of nodes in the order of the page; an element has the index of its end. So a
//! subtree is a range, and walking needs no recursion. Elements deeper than [`MAX_DEPTH`] become
//! siblings, as in browsers.

use std::collections::BTreeMap;

use html5gum::{DefaultEmitter, EndTag, HtmlString, StartTag, Token, Tokenizer};

use super::{
    attributes::{attribute_bytes, attribute_text, is_hidden, role_tag},
    page_metadata::{self, PageMetadata},
    tag::Tag,
};

/// Maximum depth of open elements. Browsers stop at 512.
const MAX_DEPTH: usize = 256;

/// Maximum number of nodes, more than any real page has.
const MAX_NODES: usize = 400_000;

/// Tags that bound a scope: tags inside do not close elements outside.
const SCOPE_BOUNDARIES: &[Tag] = &[Tag::Table, Tag::Td, Tag::Th];

/// A parsed page.
#[derive(Debug, Default)]
pub struct HtmlDocument {
    pub nodes: Vec<HtmlNode>,
    pub metadata: PageMetadata,
    /// True if the page had more nodes than the limit.
    pub is_cut: bool,
}

#[derive(Debug)]
pub enum HtmlNode {
    Text(Box<str>),
    Element(Element),
}

#[derive(Debug)]
pub struct Element {
    pub tag: Tag,
    /// The index of the first node after its content.
    pub end: usize,
    /// The URL of a link, the alternative text of an image, or the first number of an ordered
    /// list.
    pub attribute: Option<Box<str>>,
    /// True for a layout table, which contains other tables.
    pub is_layout: bool,
}

/// The parts of a page that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepMode {
    /// The visible parts of the main text only.
    VisibleOnly,
    /// The main text with its hidden parts, and navigation.
    WithHidden,
}

impl HtmlDocument {
    pub fn parse(html: &str, keep: KeepMode) -> Self {
        let mut emitter = DefaultEmitter::default();
        emitter.naively_switch_states(true);
        let mut builder = HtmlTreeBuilder::new(keep);
        for Ok(token) in Tokenizer::new_with_emitter(html, emitter) {
            match token {
                Token::StartTag(tag) => builder.start_tag(&tag),
                Token::EndTag(tag) => builder.end_tag(&tag),
                Token::String(text) => builder.add_text(&text),
                Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
            }
            if builder.document.nodes.len() >= MAX_NODES {
                builder.document.is_cut = true;
                break;
            }
        }
        builder.finish()
    }

    /// Returns the text of the first `h1`.
    pub fn first_heading(&self) -> Option<String> {
        let (start, end) = self
            .nodes
            .iter()
            .enumerate()
            .find_map(|(index, node)| match node {
                HtmlNode::Element(element) if element.tag == Tag::Heading(1) => Some((index, element.end)),
                _ => None,
            })?;
        let text = self.nodes[start..end].iter().filter_map(|node| match node {
            HtmlNode::Text(text) => Some(&**text),
            HtmlNode::Element(_) => None,
        });
        page_metadata::short_line(&text.collect::<String>())
    }
}

struct HtmlTreeBuilder {
    document: HtmlDocument,
    keep: KeepMode,
    open: Vec<OpenElement>,
    /// The positions in `open` of each tag. A search through `open` for every tag would take
    /// quadratic time on a hostile page.
    open_by_tag: BTreeMap<Tag, Vec<usize>>,
    /// The position in `open` of the outermost element that is left out with its content.
    skipped_from: Option<usize>,
    /// Elements below the depth limit whose end tags have not come yet.
    too_deep: BTreeMap<Tag, usize>,
    /// The number of elements so far that mark the main content.
    articles: usize,
}

struct OpenElement {
    tag: Tag,
    /// The index of the element's node, if it has one.
    node: Option<usize>,
}

impl HtmlTreeBuilder {
    fn new(keep: KeepMode) -> Self {
        Self {
            document: HtmlDocument::default(),
            keep,
            open: Vec::new(),
            open_by_tag: BTreeMap::new(),
            skipped_from: None,
            too_deep: BTreeMap::new(),
            articles: 0,
        }
    }

    fn start_tag(&mut self, start: &StartTag<()>) {
        let tag = Tag::from_name(&start.name);
        if tag == Tag::Void {
            return self.document.metadata.read_element(start);
        }
        self.close_implied(tag);
        let is_left_out = self.is_skipped(tag, start);
        let node = (!is_left_out && self.skipped_from.is_none())
            .then(|| self.add_node(role_tag(start).unwrap_or(tag), start))
            .flatten();
        if tag.is_void() || (start.self_closing && tag == Tag::Inline) {
            return;
        }
        let begins_left_out = is_left_out && self.skipped_from.is_none();
        // An element that is left out is opened at any depth: its content must not become text.
        if self.open.len() < MAX_DEPTH || begins_left_out {
            if begins_left_out {
                self.skipped_from = Some(self.open.len());
            }
            self.open_by_tag.entry(tag).or_default().push(self.open.len());
            self.open.push(OpenElement { tag, node });
        } else {
            *self.too_deep.entry(tag).or_default() += 1;
        }
    }

    /// Adds the node of an element, if it needs one.
    fn add_node(&mut self, tag: Tag, start: &StartTag<()>) -> Option<usize> {
        match tag {
            Tag::Inline => return None,
            Tag::Table => self.mark_layout(),
            Tag::Article | Tag::Main => self.articles += 1,
            _ => {}
        }
        let index = self.document.nodes.len();
        self.document.nodes.push(HtmlNode::Element(Element {
            tag,
            end: index + 1,
            attribute: match tag {
                Tag::A => attribute_text(start, "href"),
                Tag::Img => attribute_text(start, "alt"),
                Tag::Ol => attribute_text(start, "start"),
                _ => None,
            },
            is_layout: attribute_bytes(start, "role") == Some(b"presentation"),
        }));
        Some(index)
    }

    /// Marks the tables around a table as layout.
    fn mark_layout(&mut self) {
        for open in self.open.iter().filter(|open| open.tag == Tag::Table) {
            if let Some(HtmlNode::Element(table)) =
                open.node.and_then(|node| self.document.nodes.get_mut(node))
            {
                table.is_layout = true;
            }
        }
    }

    fn is_skipped(&self, tag: Tag, start: &StartTag<()>) -> bool {
        match tag {
            Tag::NoText | Tag::Title => true,
            _ if self.keep == KeepMode::WithHidden => false,
            Tag::Aside => true,
            // Inside the main content, it is the heading of an article.
            Tag::Header if self.articles == 0 => true,
            _ => is_hidden(start),
        }
    }

    /// Closes elements that end implicitly where another one begins.
    fn close_implied(&mut self, begins: Tag) {
        match begins {
            Tag::A => self.close_nearest(&[Tag::A], SCOPE_BOUNDARIES),
            Tag::Li => self.close_nearest(&[Tag::Li], &[SCOPE_BOUNDARIES, &[Tag::Ul, Tag::Ol]].concat()),
            Tag::Dt | Tag::Dd => {
                self.close_nearest(&[Tag::Dt, Tag::Dd], &[SCOPE_BOUNDARIES, &[Tag::Dl]].concat())
            }
            Tag::Tr => self.close_nearest(&[Tag::Tr], &[Tag::Table]),
            Tag::Td | Tag::Th => self.close_nearest(&[Tag::Td, Tag::Th], &[Tag::Table, Tag::Tr]),
            _ => {}
        }
        if begins.is_block() {
            self.close_nearest(&[Tag::P], SCOPE_BOUNDARIES);
        }
    }

    fn end_tag(&mut self, end: &EndTag<()>) {
        let tag = Tag::from_name(&end.name);
        if let Some(count) = self.too_deep.get_mut(&tag)
            && *count > 0
        {
            *count -= 1;
            return;
        }
        match tag {
            Tag::Table => self.close_nearest(&[tag], &[]),
            Tag::Tr | Tag::Td | Tag::Th => self.close_nearest(&[tag], &[Tag::Table]),
            _ => self.close_nearest(&[tag], SCOPE_BOUNDARIES),
        }
    }

    /// Closes the innermost open element that is one of `closes`, with its content, unless one of
    /// `stops` is further in.
    fn close_nearest(&mut self, closes: &[Tag], stops: &[Tag]) {
        let Some(position) = self.nearest_open(closes) else {
            return;
        };
        if self.nearest_open(stops).is_none_or(|stop| stop < position) {
            self.close_from(position);
        }
    }

    /// Returns the position in `open` of the innermost of some tags.
    fn nearest_open(&self, tags: &[Tag]) -> Option<usize> {
        tags.iter()
            .filter_map(|tag| self.open_by_tag.get(tag)?.last().copied())
            .max()
    }

    /// Closes all elements from this position in `open` on.
    fn close_from(&mut self, depth: usize) {
        // They were inside the closed element.
        self.too_deep.clear();
        let end = self.document.nodes.len();
        for open in self.open.drain(depth..) {
            self.open_by_tag.get_mut(&open.tag).and_then(Vec::pop);
            if let Some(HtmlNode::Element(element)) =
                open.node.and_then(|node| self.document.nodes.get_mut(node))
            {
                element.end = end;
            }
        }
        if self.skipped_from.is_some_and(|index| index >= depth) {
            self.skipped_from = None;
        }
    }

    fn add_text(&mut self, text: &HtmlString) {
        let text = String::from_utf8_lossy(text);
        if self.open.last().is_some_and(|open| open.tag == Tag::Title) {
            self.document.metadata.set_title(&text);
        }
        if self.skipped_from.is_none() {
            self.document.nodes.push(HtmlNode::Text(text.into()));
        }
    }

    fn finish(mut self) -> HtmlDocument {
        self.close_from(0);
        self.document
    }
}
