//! Text to blocks, in one go.

use std::ops::Range;

use pulldown_cmark::{Options, Parser};

use super::blocks::Block;
use super::builder::MarkdownBuilder;
use super::references::LinkDefinition;

/// The blocks of a finished text.
pub fn parse(text: &str) -> Vec<Block> {
    let mut normal = String::with_capacity(text.len());
    push_normalized(&mut normal, text, &mut false);
    parse_from(&normal, 0).blocks
}

/// Appends `text` with one kind of line end and without NUL (CommonMark asks for the replacement character).
///
/// `after_cr` says, between calls, that the text so far ended with a carriage return, so that a `\r\n` that was cut in
/// two is still one line end.
pub(super) fn push_normalized(out: &mut String, text: &str, after_cr: &mut bool) {
    for c in text.chars() {
        match c {
            '\n' if *after_cr => {}
            '\r' => out.push('\n'),
            '\0' => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
        *after_cr = c == '\r';
    }
}

/// What a text was read as, with the places in it that incremental reading needs.
#[derive(Default)]
pub(super) struct ParsedMarkdown {
    pub blocks: Vec<Block>,
    /// Where each of `blocks` stands in the text.
    pub block_spans: Vec<Range<usize>>,
    /// Where each of `blocks` ends; a list with its last item, for its span may go on to what follows it.
    pub block_ends: Vec<usize>,
    /// Where the last block's items or rows stand, if it is a list or a table.
    pub child_spans: Vec<Range<usize>>,
    /// Where the last block's code ends, if it is code and not empty.
    pub code_end: Option<usize>,
    /// The link definitions, with where each ends, in no particular order.
    pub definitions: Vec<(LinkDefinition, usize)>,
    /// The labels of the footnotes that are defined, with where each begins.
    pub footnotes: Vec<(String, usize)>,
}

impl ParsedMarkdown {
    /// Counts all places from `offset` on instead of from the text's begin.
    pub fn shift_positions(&mut self, offset: usize) {
        if offset == 0 {
            return;
        }
        let spans = self.block_spans.iter_mut().chain(&mut self.child_spans);
        let places = spans
            .flat_map(|span| [&mut span.start, &mut span.end])
            .chain(&mut self.block_ends);
        let definitions = self.definitions.iter_mut().map(|(_, end)| end);
        let footnotes = self.footnotes.iter_mut().map(|(_, start)| start);
        for place in places
            .chain(&mut self.code_end)
            .chain(definitions)
            .chain(footnotes)
        {
            *place = place.saturating_sub(offset);
        }
    }
}

pub(super) fn parser_options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
}

/// Reads `text`, leaving out the blocks and definitions that begin before `skip`: those are there for context only.
pub(super) fn parse_from(text: &str, skip: usize) -> ParsedMarkdown {
    let parser = Parser::new_ext(text, parser_options());
    let definitions = parser
        .reference_definitions()
        .iter()
        .filter(|(_, link)| link.span.start >= skip)
        .map(|(label, link)| {
            let definition = LinkDefinition {
                label: label.to_owned(),
                href: link.dest.to_string(),
                title: link.title.as_ref().map(|title| title.to_string()),
            };
            (definition, link.span.end)
        })
        .collect();
    let mut builder = MarkdownBuilder::new(skip);
    for (event, span) in parser.into_offset_iter() {
        builder.push_event(event, span);
    }
    ParsedMarkdown {
        definitions,
        ..builder.finish()
    }
}
