//! The content of an answer besides its text: sources, provider data, and what can't be shown.

use super::{Agent, Effect, Phase, control::limit_sources, text::filter_for};
use parlor_markup::web_link;
use parlor_model::{ModelEvent, ProviderDataTarget, UnreadableContent};
use parlor_protocol::{Attachment, CitedSource, Part, ProviderData, RunEvent, Timestamp};

/// The maximum number of names of unreadable contents in an error.
const MAX_UNREADABLE_NAMES: usize = 10;

const IMAGE_NOTE: &str = "*(There is an image here, which can’t be shown.)*";
const AUDIO_NOTE: &str = "*(There is a sound here, which can’t be played yet.)*";

impl Agent {
    /// Adds the sources that the model server lists.
    pub(super) fn add_server_sources(&mut self, sources: Vec<CitedSource>) -> Vec<Effect> {
        let new_sources = sources.into_iter();
        // A document has no URL.
        let can_be_shown = |source: &CitedSource| match source.url.is_empty() {
            true => !source.title.is_empty(),
            false => web_link::parse(&source.url).is_some(),
        };
        let new_sources = new_sources.filter(can_be_shown);
        vec![self.add_sources(new_sources.collect())]
    }

    /// Adds sources to those of the message. A known source keeps its number, which the preceding text cites.
    /// A new source whose number is taken gets the next free one.
    pub(super) fn add_sources(&mut self, new_sources: Vec<CitedSource>) -> Effect {
        let mut sources = self.message.sources.clone();
        let mut unknown: Vec<CitedSource> = Vec::new();
        for source in new_sources {
            if !sources
                .iter()
                .chain(&unknown)
                .any(|known| is_same(known, &source))
            {
                unknown.push(source);
            }
        }
        // Those that are left out leave no gap.
        let numbers = sources.iter().chain(&unknown).map(|source| source.number);
        let mut free = numbers.max().unwrap_or(0) + 1;
        for mut source in unknown {
            if sources.iter().any(|known| known.number == source.number) {
                source.number = free;
                free += 1;
            }
            sources.push(source);
        }
        let sources = limit_sources(sources);
        self.log(RunEvent::Sources { sources })
    }

    /// Stores provider data of the answer or its last part; that of a call is kept until the call is logged.
    pub(super) fn store_provider_data(
        &mut self,
        target: ProviderDataTarget,
        data: ProviderData,
    ) -> Vec<Effect> {
        let part = match target {
            // The call's position is known when its start is logged.
            ProviderDataTarget::ToolCall(index) => {
                if let Some(call) = self.incoming_calls.iter_mut().find(|call| call.index == index) {
                    call.provider_data.push(data);
                }
                return Vec::new();
            }
            ProviderDataTarget::Answer => None,
            ProviderDataTarget::LastPart => {
                let node = self.message.nodes.get(self.node);
                node.and_then(|node| node.parts.len().checked_sub(1))
            }
        };
        vec![Effect::StoreProviderData {
            node: self.node,
            part,
            data,
        }]
    }

    /// Converts the current answer's text so far to thinking.
    pub(super) fn convert_text_to_thinking(&mut self, at: Timestamp) -> Vec<Effect> {
        let mut items = Vec::new();
        self.filter.finish(&mut items);
        let mut effects = self.apply_items(items);
        let is_text = |part: &Part| matches!(part, Part::Text { .. });
        let node = self.message.nodes.get(self.node);
        if node.is_some_and(|node| node.parts.iter().any(is_text)) {
            effects.push(self.log(RunEvent::TextWasThinking { node: self.node }));
            self.thinking_since = self.output_since;
            effects.extend(self.end_thinking(at));
        }
        self.filter = filter_for(
            &self.message,
            self.payload_factory.markers(),
            self.limits.has_metadata,
        );
        effects
    }

    /// Adds a stored image at its position.
    pub(super) fn add_image(&mut self, file: Attachment) -> Vec<Effect> {
        self.phase = Phase::Streaming;
        self.ends_with_note = false;
        let mut items = Vec::new();
        self.filter.finish(&mut items);
        let mut effects = self.apply_items(items);
        self.filter = filter_for(
            &self.message,
            self.payload_factory.markers(),
            self.limits.has_metadata,
        );
        let (part, _) = self.delta_position(|_| false);
        let node = self.node;
        effects.push(self.log(RunEvent::FileMade { node, part, file }));
        effects
    }

    /// Adds a note to the answer about content that can't be shown, and records the name of content that
    /// can't be read.
    pub(super) fn add_unreadable_note(&mut self, content: &UnreadableContent) -> Vec<Effect> {
        let note = match content {
            UnreadableContent::Image => IMAGE_NOTE,
            UnreadableContent::Audio => AUDIO_NOTE,
            UnreadableContent::Unknown(name) => {
                if self.unreadable.len() < MAX_UNREADABLE_NAMES && !self.unreadable.contains(name) {
                    self.unreadable.push(name.clone());
                }
                return Vec::new();
            }
            UnreadableContent::TooLarge(_) => return Vec::new(),
        };
        self.add_note(note)
    }

    /// Adds a note as a paragraph of its own.
    pub(super) fn add_note(&mut self, note: &str) -> Vec<Effect> {
        let (_, before) = self.delta_position(|part| matches!(part, Part::Text { .. }));
        let is_first = before == 0 || self.ends_with_note;
        let note = [if is_first { "" } else { "\n\n" }, note].concat();
        let effects = self.model_event(ModelEvent::Text(note), self.started_at);
        self.ends_with_note = true;
        effects
    }

    /// Starts a new paragraph for text that follows a note.
    pub(super) fn separate_from_note(&mut self, text: String) -> String {
        match std::mem::take(&mut self.ends_with_note) {
            true => ["\n\n", &text].concat(),
            false => text,
        }
    }
}

/// Returns true for two citations of one page or document, and of the same passage.
fn is_same(one: &CitedSource, other: &CitedSource) -> bool {
    one.url == other.url && one.passage == other.passage && (!one.url.is_empty() || one.title == other.title)
}
