//! Renders a page's tree as Markdown-like text for the model.

use std::ops::Range;

use reqwest::Url;

use super::{
    html_tree::{Element, HtmlDocument, HtmlNode},
    links::LinkResolver,
    main_content::ProseIndex,
    tag::Tag,
    writer::{Gap, Writer},
};

/// The maximum length of the fence around preformatted text, whose backticks are not counted further.
const MAX_FENCE_CHARS: usize = 40;

#[derive(Debug, Default)]
pub struct Rendered {
    pub text: String,
    pub is_cut: bool,
}

pub fn render(document: &HtmlDocument, url: &Url) -> Rendered {
    let prose = ProseIndex::from_document(document);
    let content = prose.find_content(document);
    let mut renderer = PageRenderer {
        document,
        prose_index: &prose,
        content: content.clone(),
        open: Vec::new(),
        writer: Writer::default(),
        link: None,
        numbers: Vec::new(),
        table: None,
        links: LinkResolver::new(url, document.metadata.base_url.as_deref()),
    };
    let is_cut = renderer.write_range(content);
    Rendered {
        text: renderer.writer.finish(),
        is_cut,
    }
}

struct PageRenderer<'a> {
    document: &'a HtmlDocument,
    prose_index: &'a ProseIndex,
    content: Range<usize>,
    open: Vec<&'a Element>,
    writer: Writer,
    /// The present link, and the number of elements open around it.
    link: Option<(String, usize)>,
    /// The next number of each open list, if it is numbered.
    numbers: Vec<Option<u64>>,
    /// The present table, which contains no other tables.
    table: Option<OpenTable>,
    links: LinkResolver,
}

#[derive(Default)]
struct OpenTable {
    rows: usize,
    /// The number of cells in the present row.
    cells: usize,
}

impl<'a> PageRenderer<'a> {
    /// Writes a part of the page. Returns `true` if it was cut off.
    fn write_range(&mut self, part: Range<usize>) -> bool {
        let mut index = part.start;
        while index < part.end {
            self.close_before(index);
            if self.writer.is_full() {
                break;
            }
            index = match &self.document.nodes[index] {
                HtmlNode::Text(text) => {
                    self.writer.text(text);
                    index + 1
                }
                HtmlNode::Element(element) => self.enter(index, element),
            };
        }
        self.close_before(usize::MAX);
        index < part.end || self.writer.is_full()
    }

    fn close_before(&mut self, index: usize) {
        while let Some(element) = self.open.pop_if(|element| element.end <= index) {
            self.leave(element);
        }
    }

    /// Begins an element, and returns the next node.
    fn enter(&mut self, index: usize, element: &'a Element) -> usize {
        match element.tag {
            Tag::Form if self.is_minor(index..element.end) => return element.end,
            Tag::Pre => {
                self.pre(index..element.end);
                return element.end;
            }
            Tag::Hr => {
                self.gap(Gap::Paragraph);
                if self.writer.inline_depth == 0 {
                    self.writer.raw("---");
                }
                self.gap(Gap::Paragraph);
                return element.end;
            }
            Tag::Br => {
                self.gap(Gap::Line);
                return element.end;
            }
            Tag::Img => {
                self.image(element);
                return element.end;
            }
            _ => {}
        }
        self.begin(element);
        self.open.push(element);
        index + 1
    }

    fn begin(&mut self, element: &'a Element) {
        self.gap(tag_gap(element.tag));
        match element.tag {
            Tag::A => self.begin_link(element),
            Tag::Code => self.writer.open('`'),
            Tag::Heading(level) => self.writer.set_line_prefix("#".repeat(level.into()) + " "),
            Tag::Blockquote => self.writer.quotes += 1,
            Tag::Ul | Tag::Ol => self.begin_list(element),
            Tag::Li => self.begin_item(),
            Tag::Dd => self.writer.set_line_prefix(": "),
            Tag::Table if !element.is_layout && self.table.is_none() && self.writer.inline_depth == 0 => {
                self.table = Some(OpenTable::default());
            }
            Tag::Tr => self.begin_row(),
            Tag::Td | Tag::Th => self.begin_cell(),
            _ => {}
        }
    }

    fn leave(&mut self, element: &'a Element) {
        match element.tag {
            Tag::A => self.end_link(),
            Tag::Code => {
                self.writer.close("`");
            }
            Tag::Heading(_) | Tag::Li | Tag::Dd => self.writer.clear_line_prefix(),
            Tag::Blockquote => self.writer.quotes -= 1,
            Tag::Ul | Tag::Ol => {
                self.numbers.pop();
                self.writer.lists -= 1;
            }
            Tag::Tr => self.end_row(),
            Tag::Td | Tag::Th => self.end_cell(),
            Tag::Table if !element.is_layout && self.writer.inline_depth == 0 => self.table = None,
            _ => {}
        }
        self.gap(tag_gap(element.tag));
    }

    /// Requests a gap. Lists are tight.
    fn gap(&mut self, gap: Gap) {
        let is_in_list = self.writer.lists > 0;
        self.writer
            .request_gap(if is_in_list { gap.min(Gap::Line) } else { gap });
    }

    /// Returns true for a form that is only a small part of the page: it is not part of the text. Some pages
    /// are one form.
    fn is_minor(&self, form: Range<usize>) -> bool {
        self.prose_index.chars_in(&form) * 2 < self.prose_index.chars_in(&self.content)
    }

    fn image(&mut self, element: &Element) {
        let alt = element.attribute.as_deref().unwrap_or_default().trim();
        if !alt.is_empty() {
            self.writer.text(&format!("[image: {alt}]"));
        }
    }

    fn pre(&mut self, part: Range<usize>) {
        let text = self.collect_text(part);
        let text = text.trim_matches('\n');
        if text.trim().is_empty() {
            return;
        }
        if self.writer.inline_depth > 0 {
            return self.writer.text(text);
        }
        let ticks = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat((ticks + 1).clamp(3, MAX_FENCE_CHARS));
        self.gap(Gap::Paragraph);
        self.writer.raw(&fence);
        self.gap(Gap::Line);
        self.writer.lines(text);
        self.writer.raw(&fence);
        self.gap(Gap::Paragraph);
    }

    /// Returns the text of a part with its own line breaks.
    fn collect_text(&self, part: Range<usize>) -> String {
        let mut text = String::new();
        for node in &self.document.nodes[part.start + 1..part.end] {
            match node {
                HtmlNode::Text(more) => text.push_str(more),
                HtmlNode::Element(element) if element.tag == Tag::Br => text.push('\n'),
                HtmlNode::Element(element) if element.tag.is_block() && !text.ends_with('\n') => {
                    text.push('\n')
                }
                HtmlNode::Element(_) => {}
            }
        }
        text
    }

    fn begin_link(&mut self, element: &Element) {
        let url = element
            .attribute
            .as_deref()
            .and_then(|href| self.links.resolve(href));
        if let (Some(url), None) = (url, &self.link) {
            self.link = Some((url, self.open.len()));
            self.writer.inline_depth += 1;
            self.writer.open('[');
        }
    }

    fn end_link(&mut self) {
        let is_it = self
            .link
            .as_ref()
            .is_some_and(|(_, depth)| *depth == self.open.len());
        let Some((url, _)) = self.link.take_if(|_| is_it) else {
            return;
        };
        self.writer.inline_depth -= 1;
        self.writer.close(&format!("]({url})"));
    }

    fn begin_list(&mut self, element: &Element) {
        let start = element
            .attribute
            .as_deref()
            .and_then(|start| start.trim().parse().ok());
        let is_numbered = element.tag == Tag::Ol;
        self.numbers.push(is_numbered.then(|| start.unwrap_or(1)));
        self.writer.lists += 1;
    }

    fn begin_item(&mut self) {
        match self.numbers.last_mut() {
            Some(Some(number)) => {
                self.writer.set_line_prefix(format!("{number}. "));
                *number = number.saturating_add(1);
            }
            _ => self.writer.set_line_prefix("- "),
        }
    }

    fn begin_row(&mut self) {
        if let Some(table) = &mut self.table {
            table.cells = 0;
        }
    }

    fn end_row(&mut self) {
        let Some(table) = &mut self.table else { return };
        if table.cells == 0 {
            return;
        }
        table.rows += 1;
        self.writer.raw("|");
        if table.rows == 1 {
            self.writer.request_gap(Gap::Line);
            self.writer.raw(&("|".to_owned() + &"---|".repeat(table.cells)));
        }
        table.cells = 0;
    }

    fn begin_cell(&mut self) {
        let Some(table) = &mut self.table else {
            return self.gap(Gap::Line);
        };
        table.cells += 1;
        self.writer.raw("|");
        self.writer.request_gap(Gap::Space);
        self.writer.inline_depth += 1;
        self.writer.is_in_cell = true;
    }

    fn end_cell(&mut self) {
        if self.table.is_none() {
            return self.gap(Gap::Line);
        }
        self.writer.inline_depth -= 1;
        self.writer.is_in_cell = false;
        self.writer.request_gap(Gap::Space);
    }
}

/// Returns the gap before and after an element.
fn tag_gap(tag: Tag) -> Gap {
    match tag {
        Tag::A | Tag::Code | Tag::Inline | Tag::Td | Tag::Th => Gap::None,
        Tag::Blockquote | Tag::Dl | Tag::Heading(_) | Tag::Ol | Tag::P | Tag::Table | Tag::Ul => {
            Gap::Paragraph
        }
        _ => Gap::Line,
    }
}
