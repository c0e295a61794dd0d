//! The `<details>` elements of a text that have both their tags.

use std::collections::HashSet;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::html_tags::{DetailsPart, split_details};
use super::parse::{Stage, parser_options};

/// The maximum length of an element, in bytes: until it is closed, it is parsed again with each delta. The tags of a
/// longer one are shown as text.
const MAX_DETAILS_BYTES: usize = 64 << 10;

/// The positions of the tags that make an element.
#[derive(Debug, Default)]
pub(super) struct DetailsPairs {
    opens: HashSet<usize>,
    /// The ends of closing tags.
    closes: HashSet<usize>,
}

impl DetailsPairs {
    /// Finds the pairs of tags that stand in the same container. In a growing text, an element whose end has not arrived
    /// counts as one; in a container that a further line may end, only for display.
    pub fn find(text: &str, stage: Stage) -> Self {
        let mut pairs = DetailsPairs::default();
        if !text.contains("<details") {
            return pairs;
        }
        // For each open container the unclosed elements in it.
        let mut levels: Vec<Vec<usize>> = vec![Vec::new()];
        let mut unclosed = Vec::new();
        let mut html = String::new();
        for (event, span) in Parser::new_ext(text, parser_options()).into_offset_iter() {
            match event {
                Event::Start(Tag::HtmlBlock) => html.clear(),
                Event::Html(line) => html.push_str(&line),
                Event::End(TagEnd::HtmlBlock) => {
                    if let Some(level) = levels.last_mut() {
                        pairs.pair_tags(&html, span.end.saturating_sub(html.len()), level);
                    }
                }
                Event::Start(_) => levels.push(Vec::new()),
                Event::End(_) => {
                    let level = levels.pop().unwrap_or_default();
                    if stage == Stage::Tail && span.end >= text.trim_end().len() {
                        unclosed.extend(level);
                    }
                }
                _ => {}
            }
        }
        unclosed.extend(levels.into_iter().flatten());
        if stage != Stage::Finished {
            let is_short = |start: &usize| text.len() - start <= MAX_DETAILS_BYTES;
            pairs.opens.extend(unclosed.into_iter().filter(is_short));
        }
        pairs
    }

    /// Pairs the tags of a block of HTML that begins at `start`. `open` has the unclosed elements before it.
    fn pair_tags(&mut self, html: &str, start: usize, open: &mut Vec<usize>) {
        for part in split_details(html).unwrap_or_default() {
            match part {
                DetailsPart::Open { at, .. } => open.push(start + at),
                DetailsPart::Inner { .. } | DetailsPart::Rest { .. } => {}
                DetailsPart::Close { end, .. } => {
                    let close = start + end;
                    if let Some(open) = open.pop().filter(|open| close - open <= MAX_DETAILS_BYTES) {
                        self.opens.insert(open);
                        self.closes.insert(close);
                    }
                }
            }
        }
    }

    pub fn opens_at(&self, position: usize) -> bool {
        self.opens.contains(&position)
    }

    pub fn closes_at(&self, end: usize) -> bool {
        self.closes.contains(&end)
    }
}
