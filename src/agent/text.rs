//! What the model said, once its control text is taken out: text for the person, suggestions, sources.

use super::{
    Agent, Effect,
    control::{self, ControlFilter, Item, Marker},
};
use crate::{
    protocol::{
        ActionHandler, AssistantMessage, CitedSource, EventBody, MessagePieceKind, Part, SuggestedAction,
        ToolCall, ToolStatus,
    },
    web_link,
};

/// A filter for the next answer of a run that has come to this, by a model that is shown metadata or not.
pub(super) fn filter_for(
    message: &AssistantMessage,
    markers: Vec<Marker>,
    has_metadata: bool,
) -> ControlFilter {
    let mut filter = ControlFilter::new(markers, control::DEFAULT_MAX_CONTROL_BYTES);
    if !has_metadata {
        filter.disable_metadata();
    }
    let mut pieces = message.pieces().into_iter().rev();
    // A text that goes on may have thoughts before that.
    let last = pieces.find(|piece| piece.kind != MessagePieceKind::Thinking);
    if let Some(broken_off) = last.filter(|last| last.kind == MessagePieceKind::Text) {
        filter.continue_from(&broken_off.texts.concat());
    }
    filter
}

impl Agent {
    /// Adds to the run what the filter makes of the model's words.
    pub(super) fn apply_items(&mut self, items: Vec<Item>) -> Vec<Effect> {
        let mut effects = Vec::new();
        for item in items {
            // Where a text goes depends on what was logged before it.
            let event = match item {
                Item::Text(text) => match self.trim_after_payload(&text) {
                    "" => continue,
                    text => self.text_delta(text.to_owned()),
                },
                Item::Values(values) => EventBody::SuggestedValues { values },
                Item::Actions(actions) => EventBody::SuggestedActions {
                    actions: actions
                        .into_iter()
                        .filter(|action| self.is_known_action(action))
                        .collect(),
                },
                Item::Sources(sources) => {
                    let seen = sources
                        .into_iter()
                        .filter(|source| self.is_trusted_source(source));
                    let seen = seen.collect();
                    effects.push(self.add_sources(seen));
                    continue;
                }
                Item::Payload { kind, data, written } => {
                    match self.payload_factory.create_payload(&kind, data) {
                        Ok(payload) => {
                            let (part, _) = self.delta_position(|_| false);
                            let reference = payload.to_ref();
                            effects.push(Effect::StorePayload(payload));
                            self.has_announced_payload = false;
                            EventBody::PayloadMade {
                                node: self.node,
                                part,
                                payload: reference,
                            }
                        }
                        Err(_) => self.text_delta(written),
                    }
                }
            };
            effects.push(self.log(event));
        }
        effects
    }

    /// A text that begins behind a payload's card stands for itself, without what was between the two. Its first line stays
    /// indented: it may be code.
    fn trim_after_payload<'a>(&self, text: &'a str) -> &'a str {
        let node = self.message.nodes.get(self.node);
        let Some(Part::Payload { .. }) = node.and_then(|node| node.parts.last()) else {
            return text;
        };
        let trimmed = text.trim_start();
        let between = &text[..text.len() - trimmed.len()];
        match between.rfind('\n') {
            Some(end) if !trimmed.is_empty() => &text[end + 1..],
            _ => trimmed,
        }
    }

    fn text_delta(&self, text: String) -> EventBody {
        let (part, offset) = self.delta_position(|part| matches!(part, Part::Text { .. }));
        EventBody::TextDelta {
            node: self.node,
            part,
            offset,
            text,
        }
    }

    /// While something is written for the panel nothing of it is shown: the person is told what they wait for.
    pub(super) fn announce_payload(&mut self) -> Option<Effect> {
        let kind = self.filter.pending_payload_kind()?;
        if std::mem::replace(&mut self.has_announced_payload, true) {
            return None;
        }
        let message = self.payload_factory.status_text(kind);
        Some(self.log(EventBody::Status { message }))
    }

    /// Whether there is somebody who does it: the server takes any action as the person's next turn.
    fn is_known_action(&self, action: &SuggestedAction) -> bool {
        match action.handler {
            ActionHandler::Server => true,
            ActionHandler::Client => self.payload_factory.supports_action(&action.action),
        }
    }

    /// Whether a source is one that a tool has really given, in this run or in an earlier turn, and can be a link.
    fn is_trusted_source(&self, source: &CitedSource) -> bool {
        let given = |call: &ToolCall| {
            let output = call.output.as_deref().unwrap_or_default();
            call.status == ToolStatus::Complete && web_link::contains_address(&source.url, output)
        };
        web_link::parse(&source.url).is_some()
            && (self.message.tool_calls().any(given) || self.payload_factory.is_earlier_source(&source.url))
    }
}
