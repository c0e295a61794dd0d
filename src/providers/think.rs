//! Thinking that a model writes into its text, as `<think>…</think>` at the very start.
//!
//! The filter takes text as it comes, cut anywhere, and says which of it is thinking. It looks for the opening tag at the start of
//! an answer only: one that comes later, or inside code, is text. Templates may begin an answer inside the block, so that only its
//! end comes: the first closing tag outside code, with no opening one before it, makes thinking of all text before it. The filter
//! holds back no more than it needs to tell a tag from text, and what it held when the stream ends is released.

use crate::model::ModelEvent;

/// The tags, without their brackets.
const TAGS: [&str; 3] = ["think", "thinking", "thought"];

/// White space that may stand before a tag; an answer that begins with more is text.
const MAX_INDENT: usize = 256;

/// Splits one answer's text into thinking and text.
#[derive(Debug, Default)]
pub struct ThinkFilter {
    state: State,
    /// What may be the beginning of a tag: at most [`MAX_INDENT`] and a tag's length.
    held: String,
    /// Where the text stands, while a closing tag is looked for.
    code: Code,
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
    /// Text that turns out to be thinking if a closing tag comes.
    Unsure,
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
                        self.state = State::Unsure;
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
                State::Unsure => match self.code.find_tag(rest) {
                    Found::Nothing(held) => {
                        let (text, tail) = rest.split_at(rest.len() - held);
                        emit(ModelEvent::Text, text, events);
                        return self.held.push_str(tail);
                    }
                    Found::Closing(text, end) => {
                        emit(ModelEvent::Text, &rest[..text], events);
                        events.extend([ModelEvent::TextWasThinking]);
                        self.state = State::Closed;
                        &rest[end..]
                    }
                    Found::Opening => {
                        self.state = State::Text;
                        rest
                    }
                },
                State::Text => return emit(ModelEvent::Text, rest, events),
            }
        }
    }

    /// The model has thought in a field of its own: tags in the text are text.
    pub fn has_thought(&mut self) {
        if self.state == State::Unsure {
            self.state = State::Text;
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

/// What a text has of tags.
enum Found {
    /// None, but so many bytes at its end may be the beginning of one.
    Nothing(usize),
    /// The end of a block, from here to there.
    Closing(usize, usize),
    /// The beginning of a block, or a closing tag that is only mentioned: tags are what the text is about.
    Opening,
}

/// Whether a text is in Markdown's code, as far as a tag needs it.
#[derive(Debug, Default)]
struct Code {
    in_fence: bool,
    /// Backticks of the present line, and how many of them it begins with.
    ticks: usize,
    leading: usize,
    /// Something else than white space and backticks has come on the line.
    has_words: bool,
}

impl Code {
    fn is_code(&self) -> bool {
        self.in_fence || self.leading >= 3 || self.ticks % 2 == 1
    }

    fn take(&mut self, c: char) {
        match c {
            '\n' => {
                let in_fence = self.in_fence ^ (self.leading >= 3);
                *self = Self {
                    in_fence,
                    ..Self::default()
                };
            }
            '`' => {
                self.ticks += 1;
                self.leading += usize::from(!self.has_words);
            }
            c => self.has_words |= !c.is_whitespace(),
        }
    }

    /// Looks for the first tag of a text, which goes on from what was looked at before. What may be the beginning of a tag is not
    /// looked at yet.
    fn find_tag(&mut self, text: &str) -> Found {
        for (at, c) in text.char_indices() {
            if c == '<' {
                let rest = &text[at + 1..];
                let (is_closing, name) = match rest.strip_prefix('/') {
                    Some(name) => (true, name),
                    None => (false, rest),
                };
                for tag in TAGS {
                    match name.strip_prefix(tag) {
                        Some(after) if after.starts_with('>') => {
                            return match is_closing && !self.is_code() {
                                true => Found::Closing(at, text.len() - after.len() + 1),
                                false => Found::Opening,
                            };
                        }
                        Some("") => return Found::Nothing(text.len() - at),
                        _ if tag.starts_with(name) => return Found::Nothing(text.len() - at),
                        _ => {}
                    }
                }
            }
            self.take(c);
        }
        Found::Nothing(0)
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
                ModelEvent::TextWasThinking => thinking += &std::mem::take(&mut text),
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
            ("Hm.\n</think>\n\nHello", "Hm.\n", "Hello"),
            (
                "Hm. `a` b</thinking>Hello </think> you",
                "Hm. `a` b",
                "Hello </think> you",
            ),
            (
                "The tag `</think>` ends it.</think>",
                "",
                "The tag `</think>` ends it.</think>",
            ),
            ("```\n</think>\n```\n", "", "```\n</think>\n```\n"),
            ("```\na\n```\nb</think>c", "```\na\n```\nb", "c"),
            ("a < b </ c </thin", "", "a < b </ c </thin"),
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
