//! Keeps words whole: some servers send a late delta of the thinking in the middle of a word of the text.

use std::collections::VecDeque;

use crate::model::ModelEvent;

/// The maximum bytes of thinking that are held until a word ends. More is thinking of its own, which is shown at once.
const MAX_HELD_BYTES: usize = 64;

/// Holds thinking that arrives within a word until the word has ended.
#[derive(Debug, Default)]
pub struct WordKeeper {
    /// The last character of the text, if a word may go on after it.
    last: Option<char>,
    held: String,
}

impl WordKeeper {
    /// Passes events on, with thinking between words.
    pub fn pass(&mut self, decoded: VecDeque<ModelEvent>, events: &mut VecDeque<ModelEvent>) {
        for event in decoded {
            self.pass_event(event, events);
        }
    }

    fn pass_event(&mut self, event: ModelEvent, events: &mut VecDeque<ModelEvent>) {
        match event {
            ModelEvent::Thinking(text) if self.last.is_some() => {
                self.held.push_str(&text);
                if self.held.len() > MAX_HELD_BYTES {
                    self.release(events);
                }
            }
            ModelEvent::Text(text) => {
                // A capital after a small letter begins another word.
                let begins_word =
                    |first: char| first.is_uppercase() && self.last.is_some_and(char::is_lowercase);
                let word = match self.held.is_empty() || text.starts_with(begins_word) {
                    true => 0,
                    false => text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len()),
                };
                let (word, rest) = text.split_at(word);
                push_text(word, events);
                if !rest.is_empty() {
                    self.release(events);
                }
                self.last = text.chars().next_back().filter(|c| c.is_alphanumeric());
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
        let held = std::mem::take(&mut self.held);
        if !held.is_empty() {
            events.push_back(ModelEvent::Thinking(held));
        }
    }
}

fn push_text(text: &str, events: &mut VecDeque<ModelEvent>) {
    if !text.is_empty() {
        events.push_back(ModelEvent::Text(text.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        FinishReason::Stop,
        ModelEvent::{Finished, Text, Thinking},
    };

    fn passed(events: &[ModelEvent]) -> Vec<ModelEvent> {
        let (mut keeper, mut passed) = (WordKeeper::default(), VecDeque::new());
        keeper.pass(events.iter().cloned().collect(), &mut passed);
        passed.into()
    }

    #[test]
    fn thinking_waits_for_the_end_of_a_word() {
        let (text, thinking) = (|text: &str| Text(text.into()), |text: &str| Thinking(text.into()));
        let long = "so ".repeat(40);
        for (sent, expected) in [
            (
                vec![text("Hel"), thinking("Hm."), text("lo you")],
                vec![text("Hel"), text("lo"), thinking("Hm."), text(" you")],
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
                vec![text("Done"), thinking("Hm."), text("Next")],
                vec![text("Done"), thinking("Hm."), text("Next")],
            ),
            (
                vec![text("Hi."), thinking("Hm."), text("You")],
                vec![text("Hi."), thinking("Hm."), text("You")],
            ),
            (
                vec![text("Hi"), thinking("Hm."), text(" you")],
                vec![text("Hi"), thinking("Hm."), text(" you")],
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
}
