//! Thinking that a model writes into its text, as `<think>…</think>` at the very start.
//!
//! The filter takes text as it comes, cut anywhere, and says which of it is thinking. It looks at the start of
//! an answer only: a tag that comes later, or inside code, is text. It holds back no more than it needs to tell
//! a tag from text, and what it held when the stream ends is released.

use super::ModelEvent;

/// The tags, without their brackets.
const TAGS: [&str; 2] = ["think", "thinking"];

/// White space that may stand before a tag; an answer that begins with more is text.
const MAX_INDENT: usize = 256;

/// Splits one answer's text into thinking and text.
#[derive(Debug, Default)]
pub struct ThinkFilter {
    state: State,
    /// What may be the beginning of a tag: at most [`MAX_INDENT`] and a tag's length.
    held: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum State {
    /// Nothing but white space, or a part of a tag, has come.
    #[default]
    Start,
    /// Right behind the opening tag; white space there is dropped.
    Opened(&'static str),
    /// Inside the block.
    Thinking(&'static str),
    /// Right behind the closing tag; white space there is dropped.
    Closed,
    /// The rest is text, whatever it says.
    Text,
}

/// How a text stands to a tag that it may begin with.
enum Match {
    Tag(&'static str, usize),
    Undecided,
    No,
}

impl ThinkFilter {
    /// Takes more of the answer's text and appends what it is to `events`.
    pub fn push(&mut self, text: &str, events: &mut impl Extend<ModelEvent>) {
        if self.state == State::Text {
            return emit(ModelEvent::Text, text, events);
        }
        let joined = std::mem::take(&mut self.held) + text;
        let mut rest = joined.as_str();
        // Every turn either takes some of `rest` or ends.
        loop {
            rest = match self.state {
                State::Start => match opening(rest) {
                    Match::Tag(tag, end) => {
                        self.state = State::Opened(tag);
                        &rest[end..]
                    }
                    Match::Undecided => return self.held.push_str(rest),
                    Match::No => {
                        self.state = State::Text;
                        rest
                    }
                },
                State::Opened(tag) => {
                    let trimmed = rest.trim_start();
                    if trimmed.is_empty() {
                        return;
                    }
                    self.state = State::Thinking(tag);
                    trimmed
                }
                State::Thinking(tag) => {
                    let (thinking, end) = until_closing(rest, tag);
                    emit(ModelEvent::Thinking, thinking, events);
                    match end {
                        Some(end) => {
                            self.state = State::Closed;
                            &rest[end..]
                        }
                        None => return self.held.push_str(&rest[thinking.len()..]),
                    }
                }
                State::Closed => {
                    let trimmed = rest.trim_start();
                    if trimmed.is_empty() {
                        return;
                    }
                    self.state = State::Text;
                    trimmed
                }
                State::Text => return emit(ModelEvent::Text, rest, events),
            }
        }
    }

    /// The text has ended: what was held back is released. A block that was not closed stays thinking.
    pub fn finish(&mut self, events: &mut impl Extend<ModelEvent>) {
        let held = std::mem::take(&mut self.held);
        let state = std::mem::replace(&mut self.state, State::Text);
        match state {
            State::Thinking(_) => emit(ModelEvent::Thinking, &held, events),
            _ => emit(ModelEvent::Text, &held, events),
        }
    }
}

fn emit(event: fn(String) -> ModelEvent, text: &str, events: &mut impl Extend<ModelEvent>) {
    if !text.is_empty() {
        events.extend([event(text.to_owned())]);
    }
}

/// Whether `text` begins with an opening tag; gives the tag and where it ends.
fn opening(text: &str) -> Match {
    let tail = text.trim_start();
    let indent = text.len() - tail.len();
    if indent > MAX_INDENT {
        return Match::No;
    }
    let Some(name) = tail.strip_prefix('<') else {
        return if tail.is_empty() {
            Match::Undecided
        } else {
            Match::No
        };
    };
    let mut possible = false;
    for tag in TAGS {
        if name.strip_prefix(tag).is_some_and(|rest| rest.starts_with('>')) {
            return Match::Tag(tag, indent + tag.len() + 2);
        }
        possible |= tag.starts_with(name);
    }
    if possible { Match::Undecided } else { Match::No }
}

/// The thinking before the closing tag, or before what may become one, and where the tag ends.
fn until_closing<'a>(text: &'a str, tag: &str) -> (&'a str, Option<usize>) {
    let closing = format!("</{tag}>");
    if let Some(at) = text.find(&closing) {
        return (&text[..at], Some(at + closing.len()));
    }
    // The tag is ASCII, so each of its beginnings ends at a character's boundary of the text.
    let kept = (1..closing.len())
        .rev()
        .find(|&length| text.ends_with(&closing[..length]))
        .unwrap_or(0);
    (&text[..text.len() - kept], None)
}

#[cfg(test)]
mod tests {
    use fuzzing::properties;
    use proptest::prelude::*;

    use super::*;

    /// The thinking and the text of an answer that comes in these pieces.
    fn split<'a>(pieces: impl IntoIterator<Item = &'a str>) -> (String, String) {
        let mut filter = ThinkFilter::default();
        let mut events = Vec::new();
        for piece in pieces {
            filter.push(piece, &mut events);
        }
        filter.finish(&mut events);
        let (mut thinking, mut text) = (String::new(), String::new());
        for event in events {
            match event {
                ModelEvent::Thinking(delta) => {
                    assert_eq!(text, "", "thinking comes before the text");
                    thinking += &delta;
                }
                ModelEvent::Text(delta) => text += &delta,
                other => panic!("{other:?}"),
            }
        }
        (thinking, text)
    }

    #[test]
    fn a_block_at_the_start_is_thinking_and_anything_else_is_text() {
        for (answer, thinking, text) in [
            ("<think>Hm.</think>Hello", "Hm.", "Hello"),
            ("\n <think>\nHm.\n</think>\n\nHello", "Hm.\n", "Hello"),
            (
                "<thinking>Hm. </think> a </thinking>Hello",
                "Hm. </think> a ",
                "Hello",
            ),
            ("<think>\n\n</think>\n\nHello", "", "Hello"),
            ("<think>Hm", "Hm", ""),
            ("<think>Hm </thin", "Hm </thin", ""),
            ("<think>a < b </ c</think>", "a < b </ c", ""),
            ("<think>1</think><think>2</think>3", "1", "<think>2</think>3"),
            ("Use <think>x</think>.", "", "Use <think>x</think>."),
            ("`<think>`", "", "`<think>`"),
            ("```\n<think>\n```", "", "```\n<think>\n```"),
            ("<thinker>x", "", "<thinker>x"),
            ("<think", "", "<think"),
            ("  ", "", "  "),
            ("", "", ""),
        ] {
            assert_eq!(split([answer]), (thinking.into(), text.into()), "{answer:?}");
        }
    }

    #[test]
    fn white_space_is_not_held_back_without_end() {
        let mut filter = ThinkFilter::default();
        let mut events = Vec::new();
        for _ in 0..=MAX_INDENT {
            filter.push(" ", &mut events);
        }
        assert_eq!(events, [ModelEvent::Text(" ".repeat(MAX_INDENT + 1))]);
    }

    properties! {
        256;

        #[test]
        fn it_does_not_matter_where_the_answer_is_cut(
            answer in "(\n| )?(<think>|<thinking>)?[a<>/\u{e9} \n]{0,8}(</think>|</thinking>)?[thinkg<>/ \n]{0,12}",
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let characters: Vec<char> = answer.chars().collect();
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(characters.len() + 1)).collect();
            cuts.extend([0, characters.len()]);
            cuts.sort_unstable();
            let pieces: Vec<String> =
                cuts.windows(2).map(|pair| characters[pair[0]..pair[1]].iter().collect()).collect();
            prop_assert_eq!(split(pieces.iter().map(String::as_str)), split([answer.as_str()]));
        }
    }
}
