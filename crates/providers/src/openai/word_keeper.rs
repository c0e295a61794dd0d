//! Keeps words whole: some servers send a late delta of the thinking in the middle of a word of the text.

use std::collections::VecDeque;

use parlor_model::ModelEvent;

/// The maximum bytes of thinking that are held until a word ends. More is thinking of its own, which is shown at once.
const MAX_HELD_BYTES: usize = 64;

/// Holds thinking that arrives within a word until the word has ended.
///
/// Only the rest of earlier thinking interrupts a word: a single chunk between two of text, which begins no sentence. Other
/// thinking separates two texts, whose words must not be joined.
#[derive(Debug, Default)]
pub struct WordKeeper {
    /// The last character of the text, if a word may go on after it.
    last: Option<char>,
    held: String,
    /// The number of chunks so far.
    chunk: usize,
    /// The chunk of the thinking since the last text.
    thinking_chunk: Option<usize>,
}

impl WordKeeper {
    /// Passes the events of a chunk on, with thinking between words.
    pub fn pass(&mut self, decoded: VecDeque<ModelEvent>, events: &mut VecDeque<ModelEvent>) {
        self.chunk += 1;
        for event in decoded {
            self.pass_event(event, events);
        }
    }

    fn pass_event(&mut self, event: ModelEvent, events: &mut VecDeque<ModelEvent>) {
        match event {
            ModelEvent::Thinking(text) if self.last.is_some() => {
                let earlier = self.thinking_chunk.replace(self.chunk);
                let is_second = earlier.is_some_and(|earlier| earlier != self.chunk);
                let begins_sentence = text.starts_with(char::is_uppercase);
                self.held.push_str(&text);
                if is_second || begins_sentence || self.held.len() > MAX_HELD_BYTES {
                    self.release(events);
                }
            }
            ModelEvent::Text(text) if text.is_empty() => {}
            ModelEvent::Text(text) => {
                self.thinking_chunk = None;
                // A capital after a small letter begins another word.
                let begins_word =
                    |first: char| first.is_uppercase() && self.last.is_some_and(char::is_lowercase);
                let word = match self.held.is_empty() || text.starts_with(begins_word) {
                    true => 0,
                    false => text.find(|c| !is_word_part(c)).unwrap_or(text.len()),
                };
                let (word, rest) = text.split_at(word);
                push_text(word, events);
                if !rest.is_empty() {
                    self.release(events);
                }
                self.last = text.chars().next_back().filter(|c| is_word_part(*c));
                push_text(rest, events);
            }
            ModelEvent::Usage(_)
            | ModelEvent::InputCounted(_)
            | ModelEvent::Sources(_)
            | ModelEvent::ProviderData { .. } => events.push_back(event),
            event => {
                self.release(events);
                events.push_back(event);
            }
        }
    }

    /// Passes on what is held.
    pub fn release(&mut self, events: &mut VecDeque<ModelEvent>) {
        self.last = None;
        self.thinking_chunk = None;
        let held = std::mem::take(&mut self.held);
        if !held.is_empty() {
            events.push_back(ModelEvent::Thinking(held));
        }
    }
}

/// Returns true for a character that belongs to one word with its neighbour. Scripts without spaces have no such words.
fn is_word_part(c: char) -> bool {
    c.is_alphanumeric() && !is_cjk(c)
}

/// Returns true for characters of Chinese, Japanese and Korean.
fn is_cjk(c: char) -> bool {
    matches!(
        c,
        '\u{1100}'..='\u{11ff}'
            | '\u{2e80}'..='\u{a4cf}'
            | '\u{a960}'..='\u{a97f}'
            | '\u{ac00}'..='\u{d7ff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{ff66}'..='\u{ffdc}'
            | '\u{20000}'..='\u{3ffff}'
    )
}

fn push_text(text: &str, events: &mut VecDeque<ModelEvent>) {
    if !text.is_empty() {
        events.push_back(ModelEvent::Text(text.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_model::{
        FinishReason::Stop,
        ModelEvent::{Finished, Text, Thinking},
    };

    /// Passes events, each in a chunk of its own.
    fn passed(events: &[ModelEvent]) -> Vec<ModelEvent> {
        let (mut keeper, mut passed) = (WordKeeper::default(), VecDeque::new());
        for event in events {
            keeper.pass([event.clone()].into(), &mut passed);
        }
        passed.into()
    }

    #[test]
    fn thinking_waits_for_the_end_of_a_word() {
        let (text, thinking) = (|text: &str| Text(text.into()), |text: &str| Thinking(text.into()));
        let long = "so ".repeat(40);
        for (sent, expected) in [
            (
                vec![text("Hel"), thinking(" hm."), text("lo you")],
                vec![text("Hel"), text("lo"), thinking(" hm."), text(" you")],
            ),
            (
                vec![
                    text("H"),
                    thinking("a"),
                    text("e"),
                    thinking("b"),
                    text("y"),
                    Finished(Stop),
                ],
                vec![text("H"), text("e"), text("y"), thinking("ab"), Finished(Stop)],
            ),
            (
                vec![text("Done"), thinking(" hm."), text("Next")],
                vec![text("Done"), thinking(" hm."), text("Next")],
            ),
            (
                vec![text("Hi."), thinking(" hm."), text("you")],
                vec![text("Hi."), thinking(" hm."), text("you")],
            ),
            (
                vec![text("Hi"), thinking(" hm."), text(" you")],
                vec![text("Hi"), thinking(" hm."), text(" you")],
            ),
            (
                vec![text("Hi"), thinking(&long), text("you")],
                vec![text("Hi"), thinking(&long), text("you")],
            ),
            (
                vec![thinking("Hm."), text("Hi")],
                vec![thinking("Hm."), text("Hi")],
            ),
        ] {
            assert_eq!(passed(&sent), expected, "{sent:?}");
        }
    }

    #[test]
    fn separate_texts_stay_apart() {
        let (text, thinking) = (|text: &str| Text(text.into()), |text: &str| Thinking(text.into()));
        for sent in [
            vec![text("Let me check"), thinking("Ok."), text("so the answer")],
            vec![text("看看"), thinking("."), text("答案是")],
            vec![text("see"), thinking("."), text("答案是")],
            vec![text("看看"), thinking("."), text("so")],
            vec![text("보자"), thinking("."), text("그래서")],
        ] {
            assert_eq!(passed(&sent), sent);
        }
        let sent = [
            text("check"),
            thinking("so"),
            thinking(" it is"),
            text("the answer"),
        ];
        let expected = [text("check"), thinking("so it is"), text("the answer")];
        assert_eq!(passed(&sent), expected);
    }

    #[test]
    fn thinking_of_one_chunk_interrupts_a_word() {
        let (mut keeper, mut passed) = (WordKeeper::default(), VecDeque::new());
        keeper.pass([Text("Hel".into())].into(), &mut passed);
        let chunk = [
            Thinking(" it".into()),
            Thinking(" is.".into()),
            Text("lo 你".into()),
        ];
        keeper.pass(chunk.into(), &mut passed);
        let expected = [
            Text("Hel".into()),
            Text("lo".into()),
            Thinking(" it is.".into()),
            Text(" 你".into()),
        ];
        assert_eq!(passed, expected);
    }
}
