//! The part of the builder that looks into text: formulas, and the HTML tags with a meaning.

use super::block_frame::{BlockFrame, BlockFrameKind};
use super::blocks::{Block, Inline};
use super::builder::{MAX_DEPTH, MarkdownBuilder};
use super::formula::{Formula, FormulaDelimiters};
use super::formula_mask::{is_mask, unmask};
use super::html_tags::{self, DetailsPart, InlineTag};
use super::parse::{self, Stage};

/// The minimum length of text that is searched at once for the end of a formula.
const MIN_SEARCHED_BYTES: usize = 64;

impl MarkdownBuilder<'_> {
    /// Adds text in which formulas are masked.
    pub(super) fn push_running_text(&mut self, mut text: &str) {
        loop {
            if self.formula.is_empty() {
                let Some(at) = text.find(is_mask) else {
                    return self.push_inline(Inline::Text(text.to_owned()));
                };
                self.push_inline(Inline::Text(text[..at].to_owned()));
                text = &text[at..];
            }
            // Not all of the text at once: it may have many formulas.
            let length = text.floor_char_boundary(self.formula.len().max(MIN_SEARCHED_BYTES));
            let before = self.formula.len();
            self.formula.push_str(&unmask(&text[..length]));
            let delimiters = FormulaDelimiters::at_start(&self.formula);
            let end = delimiters.and_then(|kind| kind.end_after(&self.formula, &mut self.formula_searched));
            let used = match end {
                Some(end) => {
                    let source = std::mem::take(&mut self.formula);
                    self.formula_searched = 0;
                    self.push_formula(&source[..end]);
                    end.saturating_sub(before)
                }
                None => length,
            };
            text = &text[used..];
            if text.is_empty() {
                return;
            }
        }
    }

    /// Ends a formula whose end is missing.
    pub(super) fn end_formula(&mut self) {
        if !self.formula.is_empty() {
            let source = std::mem::take(&mut self.formula);
            self.formula_searched = 0;
            self.push_formula(&source);
        }
    }

    fn push_formula(&mut self, source: &str) {
        match Formula::from_source(source) {
            Some(formula) if !formula.is_open => self.push_inline(Inline::Formula(formula)),
            Some(formula) if self.stage == Stage::Tail => {
                if !formula.latex.trim().is_empty() {
                    self.push_inline(Inline::Formula(formula));
                }
            }
            _ => self.push_inline(Inline::Text(source.to_owned())),
        }
    }

    /// Adds a tag of HTML in running text.
    pub(super) fn push_tag(&mut self, tag: &str) {
        match html_tags::parse_inline(tag) {
            Some(InlineTag::Break) => self.push_inline(Inline::HardBreak),
            Some(InlineTag::Open(markup)) if self.inline_depth < MAX_DEPTH => {
                self.inline_depth += 1;
                self.frames.push(BlockFrame::new(BlockFrameKind::Markup(markup)));
            }
            Some(InlineTag::Close(markup)) if matches!(self.current_frame().kind, BlockFrameKind::Markup(open) if open == markup) =>
            {
                self.end_markup(true);
            }
            _ => self.push_inline(Inline::Text(unmask(tag).into_owned())),
        }
    }

    /// Ends an inline element of HTML. Without its closing tag, its opening tag is text.
    fn end_markup(&mut self, is_closed: bool) {
        let Some(mut frame) = self.frames.pop() else {
            return;
        };
        let BlockFrameKind::Markup(markup) = frame.kind else {
            return;
        };
        self.inline_depth -= 1;
        if is_closed || self.stage == Stage::Tail {
            self.extract_links(&mut frame.inlines);
            self.push_inline(Inline::Markup {
                markup,
                children: frame.inlines,
            });
        } else {
            self.push_inline(Inline::Text(["<", markup.tag(), ">"].concat()));
            for inline in frame.inlines {
                self.push_inline(inline);
            }
        }
    }

    /// Ends the elements of HTML that are open in the present block or inline.
    pub(super) fn end_elements(&mut self) {
        self.end_markups();
        while self.is_in_details() {
            self.end_details();
            self.end_markups();
        }
    }

    /// Ends the inline elements of HTML that are open in the present text.
    pub(super) fn end_markups(&mut self) {
        while matches!(self.current_frame().kind, BlockFrameKind::Markup(_)) {
            self.end_markup(false);
        }
    }

    fn end_details(&mut self) {
        let Some(mut frame) = self.frames.pop() else {
            return;
        };
        frame.close_paragraph();
        if let BlockFrameKind::Details(summary) = frame.kind {
            self.push_block(Block::Details {
                summary,
                blocks: frame.blocks,
            });
        }
    }

    /// Adds a block of HTML. The tags of `<details>` elements begin and end blocks, everything else is text.
    pub(super) fn push_html(&mut self, html: &str) {
        let span = self.html_span.clone();
        let Some(parts) = html_tags::split_details(html) else {
            self.begin_block(&span);
            self.push_block(if html_tags::is_break_only(html) {
                Block::Paragraph(vec![Inline::HardBreak])
            } else {
                Block::Html(html.to_owned())
            });
            return;
        };
        // The indent of the first line is not part of the span.
        let start = span.end.saturating_sub(html.len());
        // The text that is shown as it is begins here.
        let mut shown = 0;
        for part in parts {
            match part {
                DetailsPart::Open { at, summary, end } => {
                    self.push_html_text(&html[shown..at], start + shown);
                    shown = at;
                    if self.details.opens_at(start + at) && self.frames.len() < MAX_DEPTH {
                        self.begin_block(&(start + at..span.end));
                        self.frames
                            .push(BlockFrame::new(BlockFrameKind::Details(summary_inlines(summary))));
                        shown = end;
                    }
                }
                DetailsPart::Inner { text, end }
                    if self.is_in_details() && html[shown..end].trim() == text.trim() =>
                {
                    let blocks = parse::parse_without_details(text);
                    self.current_frame().blocks.extend(blocks);
                    shown = end;
                }
                DetailsPart::Inner { .. } => {}
                DetailsPart::Rest { at } => {
                    self.push_html_text(&html[shown..at], start + shown);
                    shown = at;
                }
                DetailsPart::Close { at, end } => {
                    self.push_html_text(&html[shown..at], start + shown);
                    shown = at;
                    if self.details.closes_at(start + end) && self.is_in_details() {
                        self.end_details();
                        shown = end;
                        if self.frames.len() == 1
                            && let Some(last) = self.reading.block_ends.last_mut()
                        {
                            *last = start + end;
                        }
                    }
                }
            }
        }
        self.push_html_text(&html[shown..], start + shown);
    }

    fn is_in_details(&mut self) -> bool {
        matches!(self.current_frame().kind, BlockFrameKind::Details(_))
    }

    fn push_html_text(&mut self, html: &str, start: usize) {
        if !html.trim().is_empty() {
            self.begin_block(&(start..start + html.len()));
            self.push_block(Block::Html(html.to_owned()));
        }
    }
}

/// The inlines of a summary.
fn summary_inlines(summary: &str) -> Vec<Inline> {
    let source = html_tags::strip_other_tags(summary);
    match parse::parse_without_details(&source).into_iter().next() {
        Some(Block::Paragraph(inlines) | Block::Heading { inlines, .. }) => inlines,
        _ if source.trim().is_empty() => Vec::new(),
        _ => vec![Inline::Text(source)],
    }
}
