//! The blocks of an answer in their recorded order.

use serde::Deserialize;

use super::{CALL, FIELD};
use parlor_protocol::{ProviderData, RawJson};

/// The maximum number of characters of white space between two texts.
const MAX_GAP_CHARS: usize = 16;

/// A block of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerBlock<'a> {
    Text(&'a str),
    /// The call with this index.
    Call(usize),
    /// A block of the provider, unchanged.
    Provider(RawJson),
}

/// An entry of a recorded layout.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum LayoutEntry {
    Text(usize, String),
    /// A text of an earlier version of Parlor, without its end.
    OldText(usize),
    Mark(String),
}

/// Returns the blocks of an answer in their order: its text, its calls and the provider's blocks in `provider_data`,
/// as far as they belong to this kind of provider.
pub fn arrange_blocks<'a>(
    text: &'a str,
    calls: usize,
    provider_data: &[ProviderData],
    kind: &str,
) -> Vec<AnswerBlock<'a>> {
    let is_own = |data: &&ProviderData| data.kind == kind && data.field == FIELD;
    let entries: Vec<RawJson> = provider_data
        .iter()
        .filter(is_own)
        // Data that may be shown are replaced by a string.
        .filter_map(|data| serde_json::from_str::<Vec<RawJson>>(data.value.as_str()).ok())
        .flatten()
        .collect();
    let mut texts = divide_text(text, &entries).into_iter();
    let mut calls = 0..calls;
    let mut blocks = Vec::with_capacity(entries.len() + calls.len() + 1);
    for entry in &entries {
        match parse_entry(entry) {
            Some(LayoutEntry::Text(..) | LayoutEntry::OldText(_)) => {
                blocks.extend(texts.next().map(AnswerBlock::Text))
            }
            Some(LayoutEntry::Mark(mark)) if mark == CALL => {
                blocks.extend(calls.next().map(AnswerBlock::Call))
            }
            Some(LayoutEntry::Mark(_)) => {}
            None => blocks.push(AnswerBlock::Provider(entry.clone())),
        }
    }
    let rest = texts.next().filter(|rest| !rest.is_empty());
    blocks.extend(rest.map(AnswerBlock::Text));
    blocks.extend(calls.map(AnswerBlock::Call));
    blocks
}

/// Divides a text as it was recorded. The last part is what follows the last block. If the text is not the one
/// that was recorded, it is the first part.
fn divide_text<'a>(text: &'a str, entries: &[RawJson]) -> Vec<&'a str> {
    let texts: Vec<(usize, String)> = entries
        .iter()
        .filter_map(parse_entry)
        .filter_map(|entry| match entry {
            LayoutEntry::Text(bytes, end) => Some((bytes, end)),
            LayoutEntry::OldText(bytes) => Some((bytes, String::new())),
            LayoutEntry::Mark(_) => None,
        })
        .collect();
    let is_divided = |parts: &Vec<&str>| parts.len() > 1 || texts.is_empty();
    // Something may have been put before the text since. It belongs to the first part.
    let recorded: usize = texts.iter().map(|(bytes, _)| bytes).sum();
    let preceding = text.len().saturating_sub(recorded);
    [0, preceding]
        .into_iter()
        .map(|preceding| divide_text_after(text, preceding, &texts))
        .find(is_divided)
        .unwrap_or_else(|| vec![text])
}

/// Divides a text with so many bytes before what was recorded. It is whole if it is not the one that was recorded.
fn divide_text_after<'a>(text: &'a str, preceding: usize, texts: &[(usize, String)]) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let mut rest = text;
    for (at, (bytes, end)) in texts.iter().enumerate() {
        let bytes = bytes + if at == 0 { preceding } else { 0 };
        // White space between the texts of two calls belongs to none of them.
        let white_space = rest.chars().take_while(|c| c.is_whitespace()).take(MAX_GAP_CHARS);
        let gaps = white_space.scan(0, |gap, c| {
            *gap += c.len_utf8();
            Some(*gap)
        });
        let is_recorded = |(part, _): &(&str, &str)| part.ends_with(end.as_str());
        let mut divided = std::iter::once(0)
            .chain(gaps)
            .filter_map(|gap| rest.split_at_checked(gap + bytes).filter(is_recorded));
        match divided.next() {
            Some((part, tail)) => {
                parts.push(part);
                rest = tail;
            }
            None => return vec![text],
        }
    }
    parts.push(rest);
    parts
}

fn parse_entry(entry: &RawJson) -> Option<LayoutEntry> {
    serde_json::from_str(entry.as_str()).ok()
}
