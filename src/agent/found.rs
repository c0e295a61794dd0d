//! The rest of an answer beside its words: sources, data for the server itself, and pieces that can't be shown.

use super::{Agent, Effect, control::bounded, said::filter_for};
use crate::{
    model::{Beside, ModelEvent, Unread},
    protocol::{EventBody, Opaque, Part, Source},
    web_link,
};

/// The most names of unreadable pieces that are told.
const MAX_NAMES: usize = 10;

const IMAGE: &str = "*(There is an image here, which can’t be shown yet.)*";
const AUDIO: &str = "*(There is a sound here, which can’t be played yet.)*";

impl Agent {
    /// The model server names sources.
    pub(super) fn is_given(&mut self, sources: Vec<Source>) -> Vec<Effect> {
        let named = sources.into_iter();
        let named = named.filter(|source| web_link::parse(&source.url).is_some());
        vec![self.add_sources(named.collect())]
    }

    /// Adds sources to those of the message. A known one keeps its number, by which the text before cites it; a new one whose
    /// number is taken gets the next free one.
    pub(super) fn add_sources(&mut self, named: Vec<Source>) -> Effect {
        let mut sources = self.message.sources.clone();
        let numbers = sources.iter().chain(&named).map(|source| source.number);
        let mut free = numbers.max().unwrap_or(0) + 1;
        for mut source in named {
            if sources.iter().any(|known| known.url == source.url) {
                continue;
            }
            if sources.iter().any(|known| known.number == source.number) {
                source.number = free;
                free += 1;
            }
            sources.push(source);
        }
        let sources = bounded(sources);
        self.log(EventBody::Sources { sources })
    }

    /// Keeps what only the provider understands.
    pub(super) fn keeps(&mut self, beside: Beside, data: Opaque) -> Vec<Effect> {
        let part = match beside {
            // Its place is known when the call is logged.
            Beside::ToolCall(place) => {
                if let Some(asked) = self.asked.iter_mut().find(|asked| asked.place == place) {
                    asked.opaque.push(data);
                }
                return Vec::new();
            }
            Beside::Answer => None,
            Beside::LastPart => {
                let node = self.message.nodes.get(self.node);
                node.and_then(|node| node.parts.len().checked_sub(1))
            }
        };
        vec![Effect::KeepOpaque {
            node: self.node,
            part,
            data,
        }]
    }

    /// Makes thinking of the present answer's text so far.
    pub(super) fn takes_text_for_thinking(&mut self) -> Vec<Effect> {
        let mut items = Vec::new();
        self.filter.finish(&mut items);
        let mut effects = self.take_in(items);
        let is_text = |part: &Part| matches!(part, Part::Text { .. });
        let node = self.message.nodes.get(self.node);
        if node.is_some_and(|node| node.parts.iter().any(is_text)) {
            effects.push(self.log(EventBody::TextWasThinking { node: self.node }));
        }
        self.filter = filter_for(&self.message, self.workshop.markers(), self.terms.has_metadata);
        effects
    }

    /// Says in the answer that there is something in it that can't be shown, and remembers the name of what can't be read.
    pub(super) fn cannot_show(&mut self, what: &Unread) -> Vec<Effect> {
        let note = match what {
            Unread::Image => IMAGE,
            Unread::Audio => AUDIO,
            Unread::Unknown(name) => {
                if self.unread.len() < MAX_NAMES && !self.unread.contains(name) {
                    self.unread.push(name.clone());
                }
                return Vec::new();
            }
            Unread::TooLarge(_) => return Vec::new(),
        };
        let (_, before) = self.place(|part| matches!(part, Part::Text { .. }));
        let is_first = before == 0 || self.has_note;
        let note = [if is_first { "" } else { "\n\n" }, note].concat();
        let effects = self.model_said(ModelEvent::Text(note), self.began_at);
        self.has_note = true;
        effects
    }

    /// A text that comes behind a note begins a paragraph.
    pub(super) fn after_note(&mut self, text: String) -> String {
        match std::mem::take(&mut self.has_note) {
            true => ["\n\n", &text].concat(),
            false => text,
        }
    }
}
