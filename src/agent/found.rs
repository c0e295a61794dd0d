//! What a model server says beside the words of an answer: sources, data for itself, and what can't be shown.

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
    /// The model server names sources. They replace those that it named before.
    pub(super) fn is_given(&mut self, sources: Vec<Source>) -> Vec<Effect> {
        self.given = bounded(sources);
        self.given.retain(|source| web_link::parse(&source.url).is_some());
        let sources = self.with_given(Vec::new());
        vec![self.log(EventBody::Sources { sources })]
    }

    /// The sources that the model server named, and then those others that have numbers of their own.
    pub(super) fn with_given(&self, others: Vec<Source>) -> Vec<Source> {
        let mut all = self.given.clone();
        for other in others {
            let is_new = |known: &Source| known.number != other.number && known.url != other.url;
            if all.iter().all(is_new) {
                all.push(other);
            }
        }
        all
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

    /// What was taken for text was thinking, in the present answer so far.
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
