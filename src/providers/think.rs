//! Thinking that a model writes into its text, as `<think>…</think>` at the very start.
//!
//! The filter takes text as it comes, cut anywhere, and says which of it is thinking. It looks for the opening tag at the start of
//! an answer only: one that comes later, or inside code, is text. Templates may begin an answer inside the block, so that only its
//! end comes: the first tag, if it is a closing one that stands apart ([`Before::is_end`]), makes thinking of all text before it. A tag
//! that is only mentioned makes text of all that follows. The filter holds back no more than it needs to tell a tag from text, and
//! what it held when the stream ends is released.

use super::ModelEvent;
use crate::markdown::CodeTracker;

/// The tags, without their brackets.
const TAGS: [&str; 3] = ["think", "thinking", "thought"];

/// White space that may stand before a tag; an answer that begins with more is text.
const MAX_INDENT: usize = 256;

/// How much text is kept to know what is code.
const MAX_KEPT: usize = 16 << 10;

/// Splits one answer's text into thinking and text.
#[derive(Debug, Default)]
pub struct ThinkFilter {
    state: State,
    /// What may be the beginning of a tag: at most [`MAX_INDENT`] and a tag's length.
    held: String,
    /// The text so far, while a closing tag is looked for.
    before: Before,
    /// The model thinks in a field of its own.
    thinks_apart: bool,
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
        if self.state == State::Text && self.held.is_empty() {
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
                        self.state = if self.thinks_apart {
                            State::Text
                        } else {
                            State::Unsure
                        };
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
                State::Unsure => {
                    let (text, tail) = rest.split_at(tag_in(rest));
                    emit(ModelEvent::Text, text, events);
                    self.before.push(text);
                    match whole_tag(tail) {
                        // The character behind the tag counts as well.
                        Some(end) if end < tail.len() => self.after_tag(tail, end, events),
                        _ => return self.held.push_str(tail),
                    }
                }
                State::Text => return emit(ModelEvent::Text, rest, events),
            }
        }
    }

    /// Decides about a tag at the beginning of a text that may be thinking; gives what is left of the text.
    fn after_tag<'a>(&mut self, text: &'a str, end: usize, events: &mut impl Extend<ModelEvent>) -> &'a str {
        let (tag, rest) = text.split_at(end);
        if self.before.is_end(tag, rest.chars().next()) {
            events.extend([ModelEvent::TextWasThinking]);
            self.state = State::Closed;
            return rest;
        }
        self.state = State::Text;
        text
    }

    /// The model has thought in a field of its own: only a block at the very start is thinking as well.
    pub fn has_thought(&mut self) {
        self.thinks_apart = true;
        if self.state == State::Unsure {
            self.state = State::Text;
        }
    }

    /// The text has ended: what was held back is released. A block that was not closed stays thinking.
    pub fn finish(&mut self, events: &mut impl Extend<ModelEvent>) {
        let held = std::mem::take(&mut self.held);
        let mut rest = held.as_str();
        if self.state == State::Unsure
            && let Some(end) = whole_tag(rest)
        {
            rest = self.after_tag(rest, end, events);
        }
        match std::mem::replace(&mut self.state, State::Text) {
            State::Thinking(_) => emit(ModelEvent::Thinking, rest, events),
            _ => emit(ModelEvent::Text, rest, events),
        }
    }
}

/// The text before a tag.
#[derive(Debug)]
struct Before {
    code: CodeTracker,
    /// Its last character.
    last: Option<char>,
    /// The last one on its last line that is no white space.
    visible: Option<char>,
}

impl Default for Before {
    fn default() -> Self {
        Self {
            code: CodeTracker::new(MAX_KEPT),
            last: None,
            visible: None,
        }
    }
}

impl Before {
    fn push(&mut self, text: &str) {
        self.code.push(text);
        for c in text.chars() {
            self.last = Some(c);
            match c {
                '\n' => self.visible = None,
                c if c.is_whitespace() => {}
                c => self.visible = Some(c),
            }
        }
    }

    /// Whether a tag ends thinking here, rather than being mentioned: it is a closing one outside code, begins a line or follows a word
    /// directly (or, at a line's end, a sentence), is not quoted, and no sentence goes on behind it. `after` is the character there;
    /// `None` at the text's end.
    fn is_end(&mut self, tag: &str, after: Option<char>) -> bool {
        let stands_apart = match (self.last, self.visible) {
            (Some(last), Some(visible)) if last.is_whitespace() => {
                matches!(visible, '.' | '!' | '?' | '…' | '。' | '！' | '？')
                    && matches!(after, Some('\n' | '\r'))
            }
            (Some(last), Some(_)) => {
                let is_quoted = !last.is_alphanumeric() && after == Some(last);
                !is_quoted && !matches!(last, '(' | '[' | '{' | '<' | '“' | '„' | '‘' | '«' | '`' | '\\')
            }
            _ => true,
        };
        let goes_on = |c| {
            matches!(
                c,
                '.' | ',' | ';' | ':' | '?' | ')' | ']' | '}' | '”' | '’' | '»' | '。' | '，' | '、'
            )
        };
        tag.starts_with("</") && stands_apart && !after.is_some_and(goes_on) && !self.code.is_code("", tag)
    }
}

/// The place of the first tag in a text, or of what may be the beginning of one at its end; else the text's end.
fn tag_in(text: &str) -> usize {
    let may_be_tag = |rest: &str| {
        let name = rest[1..].strip_prefix('/').unwrap_or(&rest[1..]);
        TAGS.iter().any(|tag| tag.starts_with(name)) || whole_tag(rest).is_some()
    };
    let mut places = text.match_indices('<').map(|(at, _)| at);
    places.find(|at| may_be_tag(&text[*at..])).unwrap_or(text.len())
}

/// The end of the tag that a text begins with.
fn whole_tag(text: &str) -> Option<usize> {
    let name = text.strip_prefix('<')?;
    let name = name.strip_prefix('/').unwrap_or(name);
    let behind = TAGS
        .iter()
        .find_map(|tag| name.strip_prefix(tag)?.strip_prefix('>'))?;
    Some(text.len() - behind.len())
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
            // With nothing behind it, too.
            ("Hm.\n</think>", "Hm.\n", ""),
            ("Say \"Hi\"</think>Hi", "Say \"Hi\"", "Hi"),
            ("42</think>42", "42", "42"),
            ("Done. </think>\nHi", "Done. ", "Hi"),
            ("It ends with </think> then.", "", "It ends with </think> then."),
            ("It ends with </think>", "", "It ends with </think>"),
            ("The tag (</think>) ends it.", "", "The tag (</think>) ends it."),
            ("The \"</think>\" tag.", "", "The \"</think>\" tag."),
            (
                "The last tag,\n</think>, ends it.",
                "",
                "The last tag,\n</think>, ends it.",
            ),
            ("``a ` </think>`` b", "", "``a ` </think>`` b"),
            ("~~~\n</think>\n~~~\n", "", "~~~\n</think>\n~~~\n"),
            ("```a``` b\n</think>\nc", "```a``` b\n", "c"),
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

    #[test]
    fn tags_are_text_where_the_model_thinks_in_a_field_of_its_own() {
        let answer = "It thinks.\n</think>\n\nSo.";
        for cut in 0..=15 {
            let (mut filter, mut events) = (ThinkFilter::default(), Vec::new());
            filter.push(&answer[..cut], &mut events);
            filter.has_thought();
            filter.push(&answer[cut..], &mut events);
            filter.finish(&mut events);
            let text: String = events
                .iter()
                .map(|event| match event {
                    ModelEvent::Text(text) => text.as_str(),
                    other => panic!("{other:?}"),
                })
                .collect();
            assert_eq!(text, answer, "{cut}");
        }
    }

    properties! {
        256;

        #[test]
        fn a_mentioned_tag_leaves_its_text_whole(
            words in "[a-z]{1,6}( [a-z]{1,6}){0,4}",
            mention in prop::sample::select(vec![
                "`</think>`", "``</think>``", "\"</think>\"", "(</think>)", "“</think>”", "</think> tag",
                "</think>.", "</think>, the tag,", "\n```\n</think>\n```\n", "\n~~~xml\na</think>\n\n</think>\n~~~\n",
                "\n\n    </think>\n",
            ]),
            more in "( [a-z]{1,6}){0,4}(\n</think>\n\nb)?",
        ) {
            let answer = format!("{words} {mention}{more}");
            prop_assert_eq!(split([answer.as_str()]), (String::new(), answer));
        }

        #[test]
        fn thinking_without_its_opening_tag_is_found(
            thinking in "[a-z \n.,]{0,20}[a-z.!]",
            closing in prop::sample::select(vec!["</think>", "\n</think>\n\n", "\n</thinking>\n"]),
            text in "[a-zA-Z*#\"(!]{1}[a-z \n.,`<>/]{0,20}",
        ) {
            let answer = format!("{thinking}{closing}{text}");
            let is_code = |line: &str| line.starts_with("    ");
            prop_assume!(!thinking.lines().any(is_code) && thinking.chars().last() != text.chars().next());
            prop_assert_eq!(split([answer.as_str()]), (
                format!("{thinking}{}", closing.split_once('<').map_or("", |(before, _)| before)),
                text,
            ));
        }

        #[test]
        fn it_does_not_matter_where_the_answer_is_cut(
            answer in "(\n| )?(<think>|<thinking>)?[a<>/`.\u{e9} \n]{0,8}(</think>|</thinking>)?[thinkg<>/`., \n]{0,12}",
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
