//! The model's text after filtering: visible text, suggestions, sources and payloads.

use super::{
    Agent, Effect, LeftOut, Unchecked,
    control::{self, ControlFilter, Item, Marker},
};
use parlor_markup::web_link;
use parlor_pages::actions;
use parlor_protocol::{
    ActionHandler, AssistantMessage, CitedSource, JoinedPartKind, Part, RunEvent, SuggestedAction, Timestamp,
    ToolCall, ToolStatus,
};

/// Creates the filter for the next answer of a run. `message` is the run's output so far.
pub(super) fn filter_for(
    message: &AssistantMessage,
    markers: Vec<Marker>,
    has_metadata: bool,
) -> ControlFilter {
    let mut filter = ControlFilter::new(markers, control::DEFAULT_MAX_CONTROL_BYTES);
    if !has_metadata {
        filter.disable_metadata();
    }
    let mut joined_parts = message.joined_parts().into_iter().rev();
    // The continuation of a text may have been preceded by thinking.
    let last = joined_parts.find(|joined| joined.kind != JoinedPartKind::Thinking);
    if let Some(broken_off) = last.filter(|last| last.kind == JoinedPartKind::Text) {
        filter.continue_from(&broken_off.texts.concat());
    }
    filter
}

/// The maximum length of the text of one event, in bytes.
const MAX_DELTA_BYTES: usize = 256 * 1024;

impl Agent {
    /// Adds the filter's items to the run.
    pub(super) fn apply_items(&mut self, items: Vec<Item>) -> Vec<Effect> {
        let mut effects = Vec::new();
        for item in items {
            // The position of a text depends on the preceding log entries.
            let event = match item {
                Item::Text(text) => {
                    let text = self.trim_after_payload(&text).to_owned();
                    self.log_text(&text, &mut effects);
                    continue;
                }
                Item::Values(values) => RunEvent::SuggestedValues { values },
                Item::Actions(actions) => {
                    let (known, unknown) = actions.into_iter().partition(is_known_action);
                    let unknown: Vec<SuggestedAction> = unknown;
                    effects.extend(unknown.iter().map(|action| {
                        let reason = "the page has no such action";
                        Effect::LeaveOut(LeftOut::action(action, reason))
                    }));
                    if known.iter().any(opens_something) {
                        self.open_checks += 1;
                        effects.push(Effect::Check(Unchecked::Actions(known)));
                        continue;
                    }
                    RunEvent::SuggestedActions { actions: known }
                }
                Item::Sources(sources) => {
                    if sources.iter().any(may_have_text) {
                        self.open_checks += 1;
                        effects.push(Effect::Check(Unchecked::Sources(sources)));
                    } else {
                        effects.push(self.add_trusted_sources(sources));
                    }
                    continue;
                }
                Item::Rejected(rejected) => {
                    if let Some(raw) = self.correction.reject(rejected) {
                        self.log_text(&raw, &mut effects);
                    }
                    continue;
                }
                Item::Payload { kind, data, raw } => match self.payload_factory.create_payload(&kind, data) {
                    Ok(payload) => {
                        let (part, _) = self.delta_position(|_| false);
                        let reference = self.payload_factory.to_ref(&payload);
                        effects.push(Effect::StorePayload(payload));
                        self.has_announced_payload = false;
                        RunEvent::PayloadMade {
                            node: self.node,
                            part,
                            payload: reference,
                        }
                    }
                    Err(_) => {
                        self.log_text(&raw, &mut effects);
                        continue;
                    }
                },
            };
            effects.push(self.log(event));
        }
        effects
    }

    /// Logs a text. What was held back may be longer than clients read an event.
    fn log_text(&mut self, mut text: &str, effects: &mut Vec<Effect>) {
        while !text.is_empty() {
            let (delta, rest) = text.split_at(text.floor_char_boundary(MAX_DELTA_BYTES));
            effects.push(self.log(self.text_delta(delta.to_owned())));
            text = rest;
        }
    }

    /// Removes the whitespace between a payload's card or an image and the text after it. The indent of the first line
    /// stays, because it may be code.
    fn trim_after_payload<'a>(&self, text: &'a str) -> &'a str {
        let node = self.message.nodes.get(self.node);
        let Some(Part::Payload { .. } | Part::File { .. }) = node.and_then(|node| node.parts.last()) else {
            return text;
        };
        let trimmed = text.trim_start();
        let between = &text[..text.len() - trimmed.len()];
        match between.rfind('\n') {
            Some(end) if !trimmed.is_empty() => &text[end + 1..],
            _ => trimmed,
        }
    }

    fn text_delta(&self, text: String) -> RunEvent {
        let (part, offset) = self.delta_position(|part| matches!(part, Part::Text { .. }));
        RunEvent::TextDelta {
            node: self.node,
            part,
            offset,
            text,
        }
    }

    /// Announces a payload that is being written. Nothing of it is shown until it is complete, so the status
    /// says what the user is waiting for.
    pub(super) fn announce_payload(&mut self) -> Option<Effect> {
        let kind = self.filter.pending_payload_kind()?;
        if std::mem::replace(&mut self.has_announced_payload, true) {
            return None;
        }
        let message = self.payload_factory.status_text(kind);
        Some(self.log(RunEvent::Status { message }))
    }

    /// Adds what was checked. The model's answer ends after the last check.
    pub(super) fn checked(&mut self, checked: Unchecked, at: Timestamp) -> Vec<Effect> {
        self.open_checks = self.open_checks.saturating_sub(1);
        let mut effects = match checked {
            Unchecked::Actions(actions) => vec![self.log(RunEvent::SuggestedActions { actions })],
            Unchecked::Sources(sources) => vec![self.add_trusted_sources(sources)],
        };
        if self.open_checks == 0
            && let Some(reason) = self.finish_after_checks.take()
        {
            effects.extend(self.model_finished(reason, at));
        }
        effects
    }

    /// Adds the sources that a tool has returned, and those with a passage that was looked for.
    fn add_trusted_sources(&mut self, mut sources: Vec<CitedSource>) -> Effect {
        sources.retain(|source| source.passage.is_some() || self.is_trusted_source(source));
        self.add_sources(sources)
    }

    /// Returns true if a tool that finds sources has returned this one, in this run or an earlier turn, and it is a valid link.
    fn is_trusted_source(&self, source: &CitedSource) -> bool {
        let is_returned = |call: &ToolCall| {
            let output = call.output.as_deref().unwrap_or_default();
            call.status == ToolStatus::Complete
                && self.tools.finds_sources(&call.tool)
                && web_link::contains_url(&source.url, output)
        };
        web_link::parse(&source.url).is_some()
            && (self.message.tool_calls().any(is_returned)
                || self.payload_factory.is_known_url(&source.url, &*self.tools))
    }
}

/// Returns true if the source has a quote, or may be a text that Parlor has: something of a page, or a file.
fn may_have_text(source: &CitedSource) -> bool {
    source.passage.is_some() || source.url.is_empty() || web_link::parse(&source.url).is_none()
}

/// Returns true if the page opens something by the action.
pub fn opens_something(action: &SuggestedAction) -> bool {
    action.handler == ActionHandler::Client && action.action == actions::OPEN
}

/// Returns true if a suggested action has a handler. The server handles every action as the user's next turn.
fn is_known_action(action: &SuggestedAction) -> bool {
    match action.handler {
        ActionHandler::Server => true,
        ActionHandler::Client => actions::CLIENT_ACTIONS.contains(&action.action.as_str()),
    }
}
