//! Emphasis beside Chinese, Japanese and Korean characters.
//!
//! CommonMark decides by spaces and punctuation around `**` if it opens or closes, and these scripts have no spaces:
//! `**测试。**后文` has no emphasis there. The amendment that several parsers have adopted
//! (<https://github.com/tats-u/markdown-cjk-friendly/blob/main/specification.md>, for commonmark-spec#650) lets punctuation of
//! these scripts count as letters, and other punctuation open and close beside any of their characters. `_` stays as it is.
//!
//! `pulldown-cmark` does not know the amendment, so [`adapt`] replaces the deciding character by one of the same length with
//! which CommonMark's own rule has the right result, and [`Substitutes::restore`] puts it back.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Parser, Tag};

use super::parse::parser_options;

/// The scripts' characters: wide, full-width and half-width ones, and Hangul. Emoji are none.
const RANGES: [(char, char); 17] = [
    ('\u{1100}', '\u{11ff}'),
    ('\u{20a9}', '\u{20a9}'),
    ('\u{2329}', '\u{232a}'),
    ('\u{2e80}', '\u{2ffb}'),
    ('\u{2ffc}', '\u{303e}'),
    ('\u{3041}', '\u{33ff}'),
    ('\u{3400}', '\u{a4cf}'),
    ('\u{a960}', '\u{a97f}'),
    ('\u{ac00}', '\u{d7ff}'),
    ('\u{f900}', '\u{faff}'),
    ('\u{fe10}', '\u{fe19}'),
    ('\u{fe30}', '\u{fe6f}'),
    ('\u{ff01}', '\u{ffee}'),
    ('\u{16fe0}', '\u{18dff}'),
    ('\u{1aff0}', '\u{1b2ff}'),
    ('\u{1d300}', '\u{1d376}'),
    ('\u{20000}', '\u{3fffd}'),
];

/// Characters that are neither letters nor punctuation: they belong to the one before.
const MARKS: [(char, char); 6] = [
    ('\u{300}', '\u{36f}'),
    ('\u{200c}', '\u{200d}'),
    ('\u{20d0}', '\u{20ff}'),
    ('\u{302a}', '\u{302f}'),
    ('\u{3099}', '\u{309a}'),
    ('\u{fe00}', '\u{fe0f}'),
];

fn is_in(ranges: &[(char, char)], c: char) -> bool {
    ranges.iter().any(|&(first, last)| (first..=last).contains(&c))
}

/// Returns true for a character of these scripts.
pub(super) fn is_cjk(c: char) -> bool {
    c >= '\u{1100}' && is_in(&RANGES, c)
}

/// Returns true for punctuation and symbols. Formulas are masked by control characters, which are none.
pub(super) fn is_punctuation(c: char) -> bool {
    let is_other = c.is_alphanumeric() || c.is_whitespace() || c.is_control();
    !is_other && (c.is_ascii() || !is_in(&MARKS, c))
}

/// Returns true for punctuation of these scripts.
pub(super) fn is_cjk_punctuation(c: char) -> bool {
    is_cjk(c) && is_punctuation(c)
}

/// Returns two flags for a run of `*` or `~~` between these characters: it is left-flanking, and it is right-flanking.
pub(super) fn flanking(before: char, after: char) -> (bool, bool) {
    let is_blocking = |c: char| is_punctuation(c) && !is_cjk(c);
    let releases = |c: char| c.is_whitespace() || is_punctuation(c) || is_cjk(c);
    (
        !after.is_whitespace() && (!is_blocking(after) || releases(before)),
        !before.is_whitespace() && (!is_blocking(before) || releases(after)),
    )
}

/// A text for the parser.
pub(super) struct AdaptedText<'a> {
    pub text: Cow<'a, str>,
    pub substitutes: Substitutes,
}

/// The characters that were replaced, by byte position.
#[derive(Default)]
pub(super) struct Substitutes(Vec<(usize, char)>);

impl Substitutes {
    /// Returns running text as it was written.
    pub fn restore<'a>(&self, text: &'a str, span: &Range<usize>) -> Cow<'a, str> {
        let first = self.0.partition_point(|(at, _)| *at < span.start);
        let replaced = self.0[first..].iter().take_while(|(at, _)| *at < span.end);
        let mut restored = Cow::Borrowed(text);
        for (at, original) in replaced {
            let at = at - span.start;
            if restored.is_char_boundary(at) && restored.len() == span.len() {
                let mut buffer = [0; 4];
                restored
                    .to_mut()
                    .replace_range(at..at + original.len_utf8(), original.encode_utf8(&mut buffer));
            }
        }
        restored
    }
}

/// Prepares a text for the parser. Its length and all positions stay.
pub(super) fn adapt(text: &str) -> AdaptedText<'_> {
    let mut adapted = AdaptedText {
        text: text.into(),
        substitutes: Substitutes::default(),
    };
    let wanted = wanted_substitutes(text);
    if wanted.is_empty() {
        return adapted;
    }
    let mut running = running_text(text).into_iter().peekable();
    let mut out = text.to_owned();
    for (at, original, substitute) in wanted {
        while running.next_if(|range| range.end <= at).is_some() {}
        if running.peek().is_some_and(|range| range.start <= at) {
            out.replace_range(at..at + original.len_utf8(), substitute);
            adapted.substitutes.0.push((at, original));
        }
    }
    adapted.text = Cow::Owned(out);
    adapted
}

/// The characters for which the amendment decides in another way than CommonMark, each with its position and a substitute.
fn wanted_substitutes(text: &str) -> Vec<(usize, char, &'static str)> {
    let mut wanted: Vec<(usize, char, &'static str)> = Vec::new();
    let mut at = 0;
    while let Some(found) = text[at..].find(['*', '~']) {
        let start = at + found;
        let byte = text.as_bytes()[start];
        let length = text.as_bytes()[start..]
            .iter()
            .take_while(|next| **next == byte)
            .count();
        at = start + length;
        let (Some(before), Some(after)) = (text[..start].chars().next_back(), text[at..].chars().next())
        else {
            continue;
        };
        let is_approximate = byte == b'~' && length == 1;
        if is_approximate
            || before.is_whitespace()
            || after.is_whitespace()
            || !(is_cjk(before) || is_cjk(after))
        {
            continue;
        }
        let before_at = start - before.len_utf8();
        let (is_before, is_after) = (is_punctuation(before), is_punctuation(after));
        let substitute = match (is_before, is_after) {
            // Punctuation of these scripts is like a letter.
            (true, false) if is_cjk(before) => Some((before_at, before, letter(before))),
            (false, true) if is_cjk(after) => Some((at, after, letter(after))),
            // A letter of these scripts is like punctuation, unless it matters for another run.
            (true, false) if !follows_delimiter(&text[at + after.len_utf8()..]) => {
                Some((at, after, sign(after)))
            }
            (false, true) if !text[..before_at].ends_with(['*', '_', '~']) => {
                Some((before_at, before, sign(before)))
            }
            _ => None,
        };
        wanted.extend(substitute.filter(|(at, ..)| wanted.last().is_none_or(|(last, ..)| last < at)));
    }
    wanted
}

fn follows_delimiter(text: &str) -> bool {
    text.starts_with(['*', '_', '~'])
}

/// A letter of the same length.
fn letter(c: char) -> &'static str {
    if c.len_utf8() == 4 {
        "\u{20000}"
    } else {
        "\u{4e00}"
    }
}

/// A sign of punctuation of the same length.
fn sign(c: char) -> &'static str {
    if c.len_utf8() == 4 {
        "\u{10100}"
    } else {
        "\u{2016}"
    }
}

/// Returns the running text: what is neither code nor HTML, and is not compared with a label.
fn running_text(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    // The number of open elements, from the outermost excluded one on.
    let mut excluded = 0;
    for (event, span) in Parser::new_ext(text, parser_options()).into_offset_iter() {
        match event {
            Event::Start(tag) => excluded += usize::from(excluded > 0 || is_excluded(&tag)),
            Event::End(_) => excluded = usize::saturating_sub(excluded, 1),
            Event::Text(_) if excluded == 0 => ranges.push(span),
            _ => {}
        }
    }
    ranges
}

fn is_excluded(tag: &Tag<'_>) -> bool {
    let (Tag::Link { link_type, .. } | Tag::Image { link_type, .. }) = tag else {
        return matches!(tag, Tag::CodeBlock(_) | Tag::HtmlBlock);
    };
    matches!(
        link_type,
        LinkType::Autolink | LinkType::Email | LinkType::Collapsed | LinkType::Shortcut
    )
}
