//! The control text filter: separates text from control text and parses the control text. The visible text is
//! in [`visible_text`](super::visible_text).

use serde_json::Value;

use parlor_protocol::CitedSource;

use super::{
    Item, Marker, RejectedPayload,
    echoed_metadata::{self, EchoedMetadata},
    is_space,
    json_scanner::{self, ScanStep},
    opening::{ControlKind, LineContext, OpeningMatch, Openings},
    parse,
    pending::PendingControl,
    visible_text::VisibleText,
};

/// Splits one answer into the visible text and the items addressed to Parlor.
#[derive(Clone, Debug)]
pub struct ControlFilter {
    markers: Vec<Marker>,
    openings: Openings,
    limit: usize,
    state: FilterState,
    /// Removes metadata that the model repeats at the beginning of its answer. Runs before the search for control text.
    leading_metadata: EchoedMetadata,
    /// True if the model has seen metadata that it may echo.
    has_seen_metadata: bool,
    /// The byte position up to which comments at the beginning of a line are known to be text.
    checked_until: u64,
    /// The visible text, and held text that may become visible.
    pub(super) visible: VisibleText,
    /// True if a comment had sources.
    has_sources: bool,
    /// The number of bytes received.
    received: u64,
    /// The number of times that a character was examined.
    pub(super) char_visits: u64,
}

#[derive(Clone, Debug)]
enum FilterState {
    Text,
    /// The held text may be the beginning of an opening.
    MaybeOpening(String, LineContext),
    Body(PendingControl),
    /// The held text began as malformed metadata at the beginning of a line. Its end shows if it is an echo
    /// of the history's metadata.
    MaybeMetadata(String),
}

impl ControlFilter {
    /// Creates the filter of one answer. `limit` is the maximum length of control text in bytes.
    pub fn new(markers: Vec<Marker>, limit: usize) -> Self {
        Self {
            openings: Openings::new(&markers),
            markers,
            limit,
            state: FilterState::Text,
            leading_metadata: EchoedMetadata::default(),
            has_seen_metadata: true,
            checked_until: 0,
            visible: VisibleText::new(),
            has_sources: false,
            received: 0,
            char_visits: 0,
        }
    }

    /// Disables the removal of echoed metadata, for a model that has seen none.
    pub fn disable_metadata(&mut self) {
        self.leading_metadata.disable();
        self.has_seen_metadata = false;
    }

    /// Continues an answer after `text`, which was shown before and is not filtered again. It may end inside
    /// code.
    pub fn continue_from(&mut self, text: &str) {
        self.leading_metadata.disable();
        self.visible.continue_from(text);
    }

    /// Appends text of the answer and adds the resulting items to `out`.
    pub fn push(&mut self, delta: &str, out: &mut Vec<Item>) {
        let text = self.leading_metadata.push(delta);
        self.push_text(&text, out);
        self.visible.flush(out);
    }

    /// Ends an answer that has broken off. Held whitespace is released, so that a continuation fits. A
    /// possible beginning of control text was never shown and is dropped.
    pub fn break_off(&mut self, out: &mut Vec<Item>) {
        if matches!(self.state, FilterState::Text) && !self.visible.has_held_sources() {
            self.visible.flush_white_space();
        }
        self.visible.flush(out);
    }

    /// Ends the answer: held text is released.
    pub fn finish(&mut self, out: &mut Vec<Item>) {
        let text = self.leading_metadata.finish();
        self.push_text(&text, out);
        loop {
            match std::mem::replace(&mut self.state, FilterState::Text) {
                FilterState::Text => break,
                FilterState::MaybeOpening(held, _) => self.reject_opening(&held, out),
                // Only a part of the comment's end can follow the JSON.
                FilterState::Body(body) if self.is_echoed_metadata(&body) => self.remove_metadata(out),
                FilterState::Body(body) => self.visible.release(&body.held),
                FilterState::MaybeMetadata(held) => self.release_comment(&held, out),
            }
        }
        match self.visible.take_held_sources() {
            Some(sources) => {
                self.visible.flush(out);
                if !self.has_sources {
                    out.push(Item::Sources(sources));
                }
            }
            None => {
                self.visible.flush_white_space();
                self.visible.flush(out);
            }
        }
    }

    fn push_text(&mut self, text: &str, out: &mut Vec<Item>) {
        for c in text.chars() {
            self.received += c.len_utf8() as u64;
            self.push_char(c, out);
        }
    }

    fn push_char(&mut self, c: char, out: &mut Vec<Item>) {
        self.char_visits += 1;
        match std::mem::replace(&mut self.state, FilterState::Text) {
            FilterState::Text if is_space(c) => self.visible.push_space(c),
            FilterState::Text if !self.openings.may_begin(c) => {
                self.visible.push_text(c.encode_utf8(&mut [0; 4]))
            }
            FilterState::Text => self.try_opening(c.into(), self.visible.line_context(), out),
            FilterState::MaybeOpening(mut held, context) => {
                held.push(c);
                self.try_opening(held, context, out);
            }
            FilterState::Body(mut body) => {
                let step = if body.held.len() + c.len_utf8() > self.limit {
                    ScanStep::Invalid
                } else {
                    body.feed(c)
                };
                match step {
                    ScanStep::Continue => self.state = FilterState::Body(body),
                    ScanStep::End => self.complete_body(&body, out),
                    ScanStep::Invalid => {
                        self.reject_body(body, out);
                        self.push_char(c, out);
                    }
                }
            }
            FilterState::MaybeMetadata(mut held) => {
                held.push(c);
                if echoed_metadata::is_complete_echo(&held) {
                    self.remove_metadata(out);
                } else if echoed_metadata::may_become_echo(&held) {
                    self.state = FilterState::MaybeMetadata(held);
                } else {
                    self.release_comment(&held, out);
                }
            }
        }
    }

    /// Handles control text that the next character has made invalid.
    fn reject_body(&mut self, body: PendingControl, out: &mut Vec<Item>) {
        if self.is_echoed_metadata(&body) {
            self.remove_control_text(&body, out);
        } else if self.has_seen_metadata
            && body.is_at_line_start
            && self.received > self.checked_until
            && body.json().is_empty()
            && echoed_metadata::may_become_echo(&body.held)
        {
            self.state = FilterState::MaybeMetadata(body.held);
        } else {
            self.visible.release(&body.held);
        }
    }

    /// Returns true for echoed metadata at the beginning of a line whose comment has no end.
    fn is_echoed_metadata(&self, body: &PendingControl) -> bool {
        self.has_seen_metadata
            && body.kind == ControlKind::Metadata
            && body.is_at_line_start
            && echoed_metadata::is_history_metadata(body.json())
    }

    /// Removes the held text up to the end of its JSON. The rest is filtered as text.
    fn remove_control_text(&mut self, body: &PendingControl, out: &mut Vec<Item>) {
        self.remove_metadata(out);
        for c in body.after_json().chars() {
            self.push_char(c, out);
        }
    }

    /// Removes metadata at the current position.
    fn remove_metadata(&mut self, out: &mut Vec<Item>) {
        self.visible.flush(out);
        self.visible.mark_metadata_removed();
    }

    /// Returns a held comment to the filter, since it echoes no metadata. It may contain control text.
    fn release_comment(&mut self, held: &str, out: &mut Vec<Item>) {
        self.checked_until = self.received;
        self.reject_opening(held, out);
    }

    /// Checks if `held` is an opening, or the beginning of one.
    fn try_opening(&mut self, held: String, context: LineContext, out: &mut Vec<Item>) {
        match self.openings.find(&held, context) {
            OpeningMatch::Partial => self.state = FilterState::MaybeOpening(held, context),
            OpeningMatch::Found(kind) if !self.visible.is_code(&held, self.received) => {
                let is_at_line_start =
                    kind == ControlKind::Metadata && (context.is_line_start || !self.visible.has_begun());
                self.state = FilterState::Body(PendingControl::new(kind, held, is_at_line_start));
            }
            OpeningMatch::Found(_) | OpeningMatch::No => self.reject_opening(&held, out),
        }
    }

    /// Releases the first character as text and filters the others again.
    fn reject_opening(&mut self, held: &str, out: &mut Vec<Item>) {
        let mut characters = held.chars();
        if let Some(c) = characters.next() {
            self.visible.push_text(c.encode_utf8(&mut [0; 4]));
        }
        for c in characters {
            self.push_char(c, out);
        }
    }

    /// Handles the end of control text, which may turn out to be text.
    fn complete_body(&mut self, body: &PendingControl, out: &mut Vec<Item>) {
        let json = json_scanner::parse(body.json());
        if let Some(rejected) = json.as_ref().and_then(|json| self.rejection(body, json)) {
            self.visible.flush(out);
            out.push(Item::Rejected(rejected));
            return self.visible.mark_removed();
        }
        let Some(parsed) = json.and_then(|json| self.parse_item(body, json)) else {
            return self.visible.release(&body.held);
        };
        match (body.kind, parsed) {
            (ControlKind::Sources { .. }, Some(Item::Sources(sources))) => {
                self.visible.hold_sources(&body.held, sources)
            }
            (kind, item) => {
                self.has_sources |= kind == ControlKind::Metadata && item.is_some();
                self.visible.flush(out);
                out.extend(item);
                if kind == ControlKind::Metadata {
                    self.remove_metadata(out);
                } else {
                    self.visible.mark_removed();
                }
            }
        }
    }

    /// Returns the payload if its data are rejected, and the model corrects such payloads.
    fn rejection(&self, body: &PendingControl, json: &Value) -> Option<RejectedPayload> {
        let ControlKind::Payload(index) = body.kind else {
            return None;
        };
        let marker = self.markers.get(index).filter(|marker| marker.is_corrected)?;
        Some(RejectedPayload {
            marker: marker.marker.clone(),
            reason: (marker.parse)(json).err()?,
            raw: self.visible.pending_white_space() + &body.held,
        })
    }

    /// Converts the JSON of control text to its item. Returns `None` if it is of the wrong type.
    fn parse_item(&self, body: &PendingControl, json: Value) -> Option<Option<Item>> {
        match body.kind {
            ControlKind::Values => parse::parse_values(json).map(|values| Some(Item::Values(values))),
            ControlKind::Actions => parse::parse_actions(json).map(|actions| Some(Item::Actions(actions))),
            ControlKind::Metadata => parse::parse_metadata(json).map(|sources| sources.map(Item::Sources)),
            ControlKind::Sources { .. } => {
                let sources = parse::parse_metadata(json)?;
                // Without a comment around it, JSON with titles alone may be the answer itself.
                let are_cited = |list: &Vec<CitedSource>| {
                    list.iter()
                        .all(|source| !source.url.is_empty() || source.passage.is_some())
                };
                let is_list = sources.as_ref().is_none_or(are_cited);
                is_list.then(|| sources.map(Item::Sources))
            }
            ControlKind::Payload(index) => {
                let marker = self.markers.get(index)?;
                let data = (marker.parse)(&json).ok()?;
                Some(Some(Item::Payload {
                    kind: marker.kind.clone(),
                    data,
                    raw: self.visible.pending_white_space() + &body.held,
                }))
            }
        }
    }

    /// Returns the type of the payload that is being received, if any.
    pub fn pending_payload_kind(&self) -> Option<&str> {
        match &self.state {
            FilterState::Body(
                body @ PendingControl {
                    kind: ControlKind::Payload(index),
                    ..
                },
            ) if body.has_json() => self.markers.get(*index).map(|marker| marker.kind.as_str()),
            _ => None,
        }
    }

    /// Returns the number of bytes held, as a measure of memory use.
    #[cfg(test)]
    pub(super) fn held_bytes(&self) -> usize {
        let held = match &self.state {
            FilterState::Text => 0,
            FilterState::MaybeOpening(held, _) | FilterState::MaybeMetadata(held) => held.len(),
            FilterState::Body(body) => body.held.len(),
        };
        held + self.leading_metadata.held_bytes() + self.visible.held_bytes()
    }
}
