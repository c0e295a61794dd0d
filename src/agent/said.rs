//! What the model said, once its control text is taken out: text for the person, suggestions, sources.

use super::{
    Agent, Effect,
    control::{self, ControlFilter, Item},
};
use crate::protocol::{AssistantMessage, EventBody, Part, PieceKind, Source};

/// A filter for the next answer of a run that has come to this.
pub(super) fn filter_for(message: &AssistantMessage) -> ControlFilter {
    let mut filter = ControlFilter::new(Vec::new(), control::DEFAULT_LIMIT);
    let mut pieces = message.pieces().into_iter().rev();
    // A text that goes on may have thoughts before that.
    let last = pieces.find(|piece| piece.kind != PieceKind::Thinking);
    if let Some(broken_off) = last.filter(|last| last.kind == PieceKind::Text) {
        filter.go_on_from(&broken_off.texts.concat());
    }
    filter
}

impl Agent {
    pub(super) fn take_in(&mut self, items: Vec<Item>) -> Vec<Effect> {
        let mut effects = Vec::new();
        for item in items {
            // Where a text goes depends on what was logged before it.
            if let Some(event) = self.event_of(item) {
                effects.push(self.log(event));
            }
        }
        effects
    }

    fn event_of(&self, item: Item) -> Option<EventBody> {
        match item {
            Item::Text(text) => {
                let (part, offset) = self.place(|part| matches!(part, Part::Text { .. }));
                Some(EventBody::TextDelta {
                    node: self.node,
                    part,
                    offset,
                    text,
                })
            }
            Item::Values(values) => Some(EventBody::SuggestedValues { values }),
            Item::Actions(actions) => Some(EventBody::SuggestedActions { actions }),
            Item::Sources(sources) => {
                let sources = sources
                    .into_iter()
                    .filter(|source| self.has_seen(source))
                    .collect();
                Some(EventBody::Sources { sources })
            }
            // No markers are given, so there are none.
            Item::Payload { .. } => None,
        }
    }

    /// Whether a source is one that a tool of this run has really had, and can be a link.
    fn has_seen(&self, source: &Source) -> bool {
        let is_link = source.url.starts_with("https://") || source.url.starts_with("http://");
        let has = |text: &str| text.contains(&source.url);
        is_link
            && self
                .message
                .tool_calls()
                .any(|call| has(call.input.as_str()) || call.output.as_deref().is_some_and(has))
    }
}
