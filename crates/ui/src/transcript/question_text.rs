//! The text of a user's message: as typed, but code in fences is shown as code.

use leptos::prelude::*;

use crate::{
    markdown::{MarkdownView, Prose},
    runtime::erase::Erase,
};
use parlor_protocol::MessageId;

/// A part of a message.
#[derive(Debug, PartialEq, Eq)]
enum Segment<'a> {
    Text(&'a str),
    /// A block of code with its fences.
    Code(&'a str),
}

/// The text of a message.
pub fn question_text(id: MessageId, text: &str) -> AnyView {
    match &split_fences(text)[..] {
        [Segment::Text(text)] => (*text).to_owned().into_any(),
        segments => {
            let views = segments.iter().enumerate().map(|(at, segment)| match segment {
                Segment::Text(text) => view! { <div dir="auto">{(*text).to_owned()}</div> }.erase(),
                Segment::Code(source) => {
                    view! { <MarkdownView prose=Prose::finished(source) prefix=format!("{id}-{at}")/> }
                        .erase()
                }
            });
            views.collect::<Vec<_>>().erase()
        }
    }
}

/// Splits a text at its fenced code, as CommonMark defines it outside of containers.
fn split_fences(text: &str) -> Vec<Segment<'_>> {
    let mut segments = Vec::new();
    let mut open: Option<(&str, usize)> = None;
    let (mut start, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        let fence = find_fence(line);
        match (open, fence) {
            (None, Some(fence)) if can_open(fence, line) => {
                push_text(&mut segments, &text[start..at]);
                (open, start) = (Some((fence, at)), at);
            }
            (Some((opening, from)), Some(fence))
                if fence.starts_with(opening) && line.trim().len() == fence.len() =>
            {
                segments.push(Segment::Code(&text[from..end]));
                (open, start) = (None, end);
            }
            _ => {}
        }
        at = end;
    }
    match open {
        Some(_) => segments.push(Segment::Code(&text[start..])),
        None => push_text(&mut segments, &text[start..]),
    }
    if segments.is_empty() {
        segments.push(Segment::Text(text));
    }
    segments
}

/// Adds a text without the line ends next to code, which is a block of its own.
fn push_text<'a>(segments: &mut Vec<Segment<'a>>, text: &'a str) {
    let is_after_code = matches!(segments.last(), Some(Segment::Code(_)));
    let text = if is_after_code {
        text.trim_start_matches('\n')
    } else {
        text
    };
    if !text.trim().is_empty() {
        segments.push(Segment::Text(text));
    }
}

/// Finds the fence that begins a line: three or more backticks or tildes.
fn find_fence(line: &str) -> Option<&str> {
    let text = line.trim_start_matches(' ');
    let first = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = text.len() - text.trim_start_matches(first).len();
    (line.len() - text.len() < 4 && length >= 3).then(|| &text[..length])
}

/// Returns true if a fence opens code: `` ```a``` `` is code within a line.
fn can_open(fence: &str, line: &str) -> bool {
    fence.starts_with('~') || !line.trim_start_matches([' ', '`']).contains('`')
}

#[cfg(test)]
mod tests {
    use super::{Segment::*, *};

    #[test]
    fn finds_fenced_code() {
        for (text, segments) in [
            ("a\nb", vec![Text("a\nb")]),
            ("", vec![Text("")]),
            (
                "a\n```js\nb\n```\n\nc",
                vec![Text("a\n"), Code("```js\nb\n```\n"), Text("c")],
            ),
            ("```\na", vec![Code("```\na")]),
            ("~~~\n```\n~~~", vec![Code("~~~\n```\n~~~")]),
            ("````\n```\n````\n", vec![Code("````\n```\n````\n")]),
            (
                "```\na\n``` b\n```\nc",
                vec![Code("```\na\n``` b\n```\n"), Text("c")],
            ),
            ("so ```a``` b", vec![Text("so ```a``` b")]),
            ("```a``` b", vec![Text("```a``` b")]),
            ("    ```\na", vec![Text("    ```\na")]),
            ("``\na\n``", vec![Text("``\na\n``")]),
        ] {
            assert_eq!(split_fences(text), segments, "{text:?}");
        }
    }
}
