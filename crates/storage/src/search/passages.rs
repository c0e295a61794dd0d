//! Passages: the parts of texts that the index has as documents.
//!
//! A text is cut the same way whenever it is read, so that a passage is known by its number.

use std::ops::Range;

use parlor_protocol::{MessageBody, search::HitKind};

/// The largest passage in bytes. All words of a query must be in one.
const MAX_PASSAGE_BYTES: usize = 8 << 10;

/// How much of a message's text can be searched, and of each tool result, in bytes.
const MAX_TEXT_BYTES: usize = 256 << 10;
const MAX_RESULT_BYTES: usize = 32 << 10;

/// How much of a file's text can be searched, in bytes.
pub const MAX_FILE_BYTES: usize = 2 << 20;

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    pub kind: HitKind,
    /// The number of the tool call whose result it is.
    pub tool_call: Option<usize>,
    pub text: String,
}

/// Returns the passages of a message: its text, then the results of its tools. None of an answer in progress.
pub fn of_message(body: &MessageBody) -> Vec<Passage> {
    match body {
        MessageBody::User { text, .. } => passages(HitKind::Question, text, MAX_TEXT_BYTES).collect(),
        MessageBody::Assistant(answer) if answer.status.is_terminal() => {
            let mut of_answer: Vec<Passage> =
                passages(HitKind::Answer, &answer.text(), MAX_TEXT_BYTES).collect();
            for call in answer.tool_calls() {
                let detail = call.detail.as_deref().unwrap_or_default();
                let output = call.output.as_deref().unwrap_or_default();
                let result = [detail, output].join("\n");
                let of_call = passages(HitKind::Tool, result.trim(), MAX_RESULT_BYTES);
                of_answer.extend(of_call.map(|passage| Passage {
                    tool_call: Some(call.index),
                    ..passage
                }));
            }
            of_answer
        }
        MessageBody::Assistant(_) | MessageBody::Damaged => Vec::new(),
    }
}

/// Returns the passages of an article.
pub fn of_article(text: &str) -> Vec<Passage> {
    passages(HitKind::Article, text, MAX_TEXT_BYTES).collect()
}

fn passages(kind: HitKind, text: &str, max_bytes: usize) -> impl Iterator<Item = Passage> {
    let ranges = ranges(text, max_bytes).into_iter();
    ranges.map(move |range| Passage {
        kind,
        tool_call: None,
        text: text.get(range).unwrap_or_default().to_owned(),
    })
}

/// Cuts the beginning of a text into the ranges of its passages.
pub fn ranges(text: &str, max_bytes: usize) -> Vec<Range<usize>> {
    let end = text.floor_char_boundary(max_bytes);
    cut_ranges(text.get(..end).unwrap_or_default(), MAX_PASSAGE_BYTES)
}

/// Cuts a text into passages of at most `max_bytes` bytes.
pub fn cut(text: &str, max_bytes: usize) -> Vec<&str> {
    let ranges = cut_ranges(text, max_bytes).into_iter();
    ranges.map(|range| text.get(range).unwrap_or_default()).collect()
}

/// Cuts a text into ranges of at most `max_bytes` bytes, at spaces if there are some.
fn cut_ranges(text: &str, max_bytes: usize) -> Vec<Range<usize>> {
    let end = text.len();
    let mut ranges = Vec::new();
    let mut start = 0;
    while start < end {
        let limit = text.floor_char_boundary(end.min(start + max_bytes));
        let window = text.get(start..limit).unwrap_or_default();
        // The second half has a space unless the text has none: no passage is short.
        let half = window.floor_char_boundary(max_bytes / 2);
        let at_space = window
            .get(half..)
            .and_then(|late| late.rfind(char::is_whitespace));
        let length = match at_space {
            Some(space) if limit < end => half + space,
            _ => window.len(),
        };
        ranges.push(start..start + length);
        start += length;
    }
    ranges
}
