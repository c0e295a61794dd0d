//! Fences in an example of Markdown: models write ```` ```markdown ```` and, in it, other fences of the same length.
//!
//! In CommonMark the end of the first inner fence would end the example, and its own end would begin another block, which
//! swallows the rest of the answer. Here a fence with a language inside of the example begins an inner one, and its end is
//! masked, so that it is text for the parser.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

use super::formula_mask::{BACKTICK_MASK, TILDE_MASK, unmask};
use super::parse::parser_options;

/// The languages of such an example.
const LANGUAGES: [&str; 3] = ["markdown", "md", "mdx"];

/// The maximum number of examples in a text whose inner fences are masked: for each the text is parsed twice.
const MAX_EXAMPLES: usize = 32;

/// A text with masked inner fences.
pub(super) struct MaskedFences<'a> {
    pub text: Cow<'a, str>,
    /// The number of bytes parsed and searched for it.
    pub parsed: usize,
}

/// Masks the ends of inner fences in `text`. `lead` is the text that the parser needs before it.
pub(super) fn mask<'a>(lead: &str, text: &'a str) -> MaskedFences<'a> {
    let mut parsed = 0;
    if !may_have_example(lead) && !may_have_example(text) {
        let text = text.into();
        return MaskedFences { text, parsed };
    }
    let original = [&unmask(lead), text].concat();
    let mut bytes = [lead, text].concat().into_bytes();
    let mut from = 0;
    let mut examples_left = MAX_EXAMPLES;
    loop {
        let now = String::from_utf8_lossy(&bytes);
        let found = next_inner_ends(&now, &original, from, &mut examples_left, &mut parsed);
        let Some((start, ends)) = found else { break };
        for end in ends.into_iter().filter(|end| end.start >= lead.len()) {
            for byte in &mut bytes[end] {
                *byte = if *byte == b'`' { BACKTICK_MASK } else { TILDE_MASK };
            }
        }
        // The example may end before them, with the item or the quote that it stands in.
        parsed += bytes.len();
        let end = examples(&String::from_utf8_lossy(&bytes), start)
            .next()
            .map_or(bytes.len(), |example| example.end);
        bytes[end..].copy_from_slice(&original.as_bytes()[end..]);
        from = end;
    }
    let masked = String::from_utf8_lossy(&bytes[lead.len()..]).into_owned();
    let text = if masked == text {
        text.into()
    } else {
        Cow::Owned(masked)
    };
    MaskedFences { text, parsed }
}

/// Returns the text that must stand before what follows `text` in an open example or other fence that begins with `lead`: its
/// first line, and the first line of the inner fence that is open.
pub(super) fn lead_after(lead: &str, text: &str) -> String {
    let first = lead.split_inclusive('\n').next().unwrap_or_default();
    let Some(fence) = Fence::at_start(first).filter(Fence::is_example) else {
        return first.to_owned();
    };
    let whole = [lead, text].concat();
    let whole = unmask(&whole);
    let mut inner = None;
    for (line, _) in lines_after(&whole, first.len()) {
        inner = match Fence::at_start(line) {
            Some(other) if !other.is_like(&fence) => inner,
            Some(other) if inner.is_none() && other.has_info() => Some(line),
            Some(other) if inner.is_some() && !other.has_info() => None,
            _ => inner,
        };
    }
    [first, inner.unwrap_or_default()].concat()
}

/// Returns true for a text that may have the beginning of an example.
fn may_have_example(text: &str) -> bool {
    text.match_indices("```")
        .chain(text.match_indices("~~~"))
        // The rest of a longer run of delimiters was examined with its beginning.
        .filter(|(at, fence)| !text[..*at].ends_with(&fence[..1]))
        .any(|(at, fence)| {
            let rest = text[at..].trim_start_matches(&fence[..1]).trim_start_matches(' ');
            rest.get(..1).is_some_and(|first| first.eq_ignore_ascii_case("m"))
        })
}

/// Finds the first example that begins at `from` or later and has inner fences with an end. Returns its beginning, and the
/// runs of delimiters that end those fences, as far as the text goes.
fn next_inner_ends(
    now: &str,
    original: &str,
    from: usize,
    examples_left: &mut usize,
    parsed: &mut usize,
) -> Option<(usize, Vec<Range<usize>>)> {
    *parsed += now.len();
    for example in examples(now, from) {
        if !has_inner_fence(original, &example) {
            continue;
        }
        *examples_left = examples_left.checked_sub(1)?;
        let ends = inner_ends(original, example.start, parsed);
        if !ends.is_empty() {
            return Some((example.start, ends));
        }
    }
    None
}

/// The examples that begin at `from` or later.
fn examples(text: &str, from: usize) -> impl Iterator<Item = Range<usize>> {
    Parser::new_ext(text, parser_options())
        .into_offset_iter()
        .filter_map(move |(event, span)| match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                (span.start >= from && is_example_info(&info)).then_some(span)
            }
            _ => None,
        })
}

/// Returns true if an inner fence begins in an example. The first one cannot begin behind the end that the parser sees.
fn has_inner_fence(text: &str, example: &Range<usize>) -> bool {
    let example = &text[example.clone()];
    let first = example.split_inclusive('\n').next().unwrap_or_default();
    Fence::at_start(first).is_some_and(|fence| {
        lines_after(example, first.len())
            .filter_map(|(line, _)| Fence::at_start(line))
            .any(|other| other.is_like(&fence) && other.has_info())
    })
}

/// The runs of delimiters that end inner fences, up to the end of the example that begins at `start`.
fn inner_ends(text: &str, start: usize, searched: &mut usize) -> Vec<Range<usize>> {
    let mut ends = Vec::new();
    let first = text[start..].split_inclusive('\n').next().unwrap_or_default();
    let Some(fence) = Fence::at_start(first) else {
        return ends;
    };
    let mut is_inside = false;
    for (line, at) in lines_after(text, start + first.len()) {
        *searched += line.len();
        match Fence::at_start(line).filter(|other| other.is_like(&fence)) {
            Some(other) if other.has_info() => is_inside = true,
            Some(other) if is_inside => {
                is_inside = false;
                ends.push(at + other.at..at + other.at + other.length);
            }
            Some(_) => break,
            None => {}
        }
    }
    ends
}

/// The lines from a byte position on, each with its position.
fn lines_after(text: &str, start: usize) -> impl Iterator<Item = (&str, usize)> {
    let mut at = start;
    text[start..].split_inclusive('\n').map(move |line| {
        let position = at;
        at += line.len();
        (line, position)
    })
}

fn is_example_info(info: &str) -> bool {
    let language = info.split_whitespace().next().unwrap_or_default();
    LANGUAGES.iter().any(|known| language.eq_ignore_ascii_case(known))
}

/// The delimiters at the beginning of a line, after its indent and the marks of quotes.
struct Fence<'a> {
    at: usize,
    length: usize,
    byte: u8,
    info: &'a str,
}

impl<'a> Fence<'a> {
    fn at_start(line: &'a str) -> Option<Self> {
        let content = line.trim_start_matches([' ', '\t', '>']);
        let byte = *content.as_bytes().first().filter(|byte| b"`~".contains(byte))?;
        let length = content.bytes().take_while(|next| *next == byte).count();
        let info = content[length..].trim();
        let is_fence = length >= 3 && !(byte == b'`' && info.contains('`'));
        is_fence.then_some(Self {
            at: line.len() - content.len(),
            length,
            byte,
            info,
        })
    }

    fn has_info(&self) -> bool {
        !self.info.is_empty()
    }

    fn is_example(&self) -> bool {
        is_example_info(self.info)
    }

    /// Returns true if it could end the other one.
    fn is_like(&self, other: &Fence<'_>) -> bool {
        self.byte == other.byte && self.length >= other.length
    }
}
