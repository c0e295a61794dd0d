//! Parsing of a whole text into blocks.

use std::ops::Range;

use pulldown_cmark::{Options, Parser};

use super::blocks::Block;
use super::builder::{BuilderContext, MarkdownBuilder};
use super::cjk;
use super::details::DetailsPairs;
use super::formula_mask;
use super::references::LinkDefinition;

/// Returns the blocks of a finished text.
pub fn parse(text: &str) -> Vec<Block> {
    let normal = normalized(text);
    parse_from(&formula_mask::mask("", &normal, false).text, 0, Stage::Finished).blocks
}

/// Returns the blocks of a text in HTML. The tags of `<details>` in it are text: otherwise this would recurse at each.
pub(super) fn parse_without_details(text: &str) -> Vec<Block> {
    let normal = normalized(text);
    let masked = formula_mask::mask("", &normal, false).text;
    let adapted = cjk::adapt(&masked);
    let context = BuilderContext {
        substitutes: adapted.substitutes,
        ..BuilderContext::default()
    };
    let mut builder = MarkdownBuilder::new(&adapted.text, context);
    for (event, span) in Parser::new_ext(&adapted.text, parser_options()).into_offset_iter() {
        builder.push_event(event, span);
    }
    builder.finish().blocks
}

fn normalized(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    push_normalized(&mut normal, text, &mut false);
    normal
}

/// The stage of a text that is parsed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// The complete lines of a growing text, of which only what no later line can change is used.
    Settled,
    /// The open tail of a growing text: elements whose end has not arrived yet are shown as if it had.
    Tail,
    /// The whole text, or the rest of it.
    #[default]
    Finished,
}

/// Appends `text` with one kind of line end and without NUL, for which CommonMark demands the replacement
/// character. The control characters that mask formulas are replaced too.
///
/// `after_cr` keeps the state between calls: true if the text so far ended with a carriage return, so that a
/// `\r\n` that was split is still one line end.
pub(super) fn push_normalized(out: &mut String, text: &str, after_cr: &mut bool) {
    for c in text.chars() {
        match c {
            '\n' if *after_cr => {}
            '\r' => out.push('\n'),
            '\0' => out.push(char::REPLACEMENT_CHARACTER),
            c if formula_mask::is_mask(c) => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
        *after_cr = c == '\r';
    }
}

/// The result of parsing a text, with the positions that incremental parsing needs.
#[derive(Default)]
pub(super) struct ParsedMarkdown {
    pub blocks: Vec<Block>,
    /// The byte range of each of `blocks` in the text.
    pub block_spans: Vec<Range<usize>>,
    /// The end of each of `blocks`, in bytes. For a list it is the end of its last item, since its span may include
    /// text that belongs to the next block.
    pub block_ends: Vec<usize>,
    /// The positions of the last block's items or rows, if it is a list or a table.
    pub child_spans: Vec<Range<usize>>,
    /// The end of the last block's code, in bytes, if it is code and not empty.
    pub code_end: Option<usize>,
    /// The link definitions, each with its end, in no particular order.
    pub definitions: Vec<(LinkDefinition, usize)>,
    /// The labels of the footnotes that are defined, each with its start.
    pub footnotes: Vec<(String, usize)>,
    /// True if the last block is a `<details>` whose end has not arrived.
    pub has_open_details: bool,
}

impl ParsedMarkdown {
    /// Counts all positions from `offset` instead of from the text's beginning.
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
        | Options::ENABLE_GFM
}

/// Parses `text`, whose formulas are masked, leaving out the blocks and definitions that begin before `skip`: those are
/// only context.
pub(super) fn parse_from(text: &str, skip: usize, stage: Stage) -> ParsedMarkdown {
    let adapted = cjk::adapt(text);
    let text = &*adapted.text;
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
    let context = BuilderContext {
        skip,
        stage,
        details: DetailsPairs::find(text, stage),
        substitutes: adapted.substitutes,
    };
    let mut builder = MarkdownBuilder::new(text, context);
    for (event, span) in parser.into_offset_iter() {
        builder.push_event(event, span);
    }
    ParsedMarkdown {
        definitions,
        ..builder.finish()
    }
}
