//! The filter itself: which characters are text, which may be control text, and what of that turns out to be. What becomes of the
//! text is in [`shown`](super::shown).

use serde_json::Value;

use super::{
    Item, Marker,
    echoed_metadata::{self, EchoedMetadata},
    is_space,
    json_scanner::{self, ScanStep},
    opening::{ControlKind, LineContext, OpeningMatch, Openings},
    parse,
    pending::PendingControl,
    visible_text::VisibleText,
};

/// Splits one answer's text into what the person sees and what it asks Parlor to do.
#[derive(Clone, Debug)]
pub struct ControlFilter {
    markers: Vec<Marker>,
    openings: Openings,
    limit: usize,
    state: FilterState,
    /// Looks at the beginning, before all else.
    leading_metadata: EchoedMetadata,
    /// Whether the model has seen metadata that it may imitate.
    has_seen_metadata: bool,
    /// Up to here a comment that begins a line has turned out to be text.
    checked_until: u64,
    /// What is shown, and what may be.
    pub(super) visible: VisibleText,
    /// Whether a comment had sources.
    has_sources: bool,
    /// How many bytes have come.
    received: u64,
    /// How often a character was looked at.
    pub(super) char_visits: u64,
}

#[derive(Clone, Debug)]
enum FilterState {
    Text,
    /// What is held may be the beginning of an opening.
    MaybeOpening(String, LineContext),
    Body(PendingControl),
    /// What is held began as metadata at the beginning of a line and is not well written: its end shows whether it imitates
    /// those of the history.
    MaybeMetadata(String),
}

impl ControlFilter {
    /// A filter for one answer. `limit` is the longest control text that is taken, in bytes.
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

    /// The model has seen no metadata: what looks like them is its own.
    pub fn disable_metadata(&mut self) {
        self.leading_metadata.skip();
        self.has_seen_metadata = false;
    }

    /// The answer goes on from this text, which was shown before and is not looked at again: it may end in code.
    pub fn continue_from(&mut self, text: &str) {
        self.leading_metadata.skip();
        self.visible.continue_from(text);
    }

    /// Takes more of the answer's text and appends what it is to `out`.
    pub fn push(&mut self, delta: &str, out: &mut Vec<Item>) {
        let text = self.leading_metadata.push(delta);
        self.push_text(&text, out);
        self.visible.flush(out);
    }

    /// The answer has broken off. White space that was held back is released, so that it can go on from there; what may have been
    /// the beginning of control text was on no screen, and is dropped.
    pub fn break_off(&mut self, out: &mut Vec<Item>) {
        if matches!(self.state, FilterState::Text) && !self.visible.has_held_sources() {
            self.visible.flush_white_space();
        }
        self.visible.flush(out);
    }

    /// The answer has ended: what was held back is released.
    pub fn finish(&mut self, out: &mut Vec<Item>) {
        let text = self.leading_metadata.finish();
        self.push_text(&text, out);
        loop {
            match std::mem::replace(&mut self.state, FilterState::Text) {
                FilterState::Text => break,
                FilterState::MaybeOpening(held, _) => self.reject_opening(&held, out),
                // Only the rest of its end can be behind it.
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
            FilterState::MaybeOpening(mut held, place) => {
                held.push(c);
                self.try_opening(held, place, out);
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

    /// What was held can't be control text as it should be, and the next character shows that.
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

    /// Whether these are the history's metadata, at the beginning of a line, whose comment has no end.
    fn is_echoed_metadata(&self, body: &PendingControl) -> bool {
        self.has_seen_metadata
            && body.kind == ControlKind::Metadata
            && body.is_at_line_start
            && echoed_metadata::is_history_metadata(body.json())
    }

    /// Takes out what is held up to the end of its JSON: the rest of it is text.
    fn remove_control_text(&mut self, body: &PendingControl, out: &mut Vec<Item>) {
        self.remove_metadata(out);
        for c in body.after_json().chars() {
            self.push_char(c, out);
        }
    }

    /// Metadata are taken out here.
    fn remove_metadata(&mut self, out: &mut Vec<Item>) {
        self.visible.flush(out);
        self.visible.mark_metadata_removed();
    }

    /// A comment that began a line imitates nothing. There may be control text in it.
    fn release_comment(&mut self, held: &str, out: &mut Vec<Item>) {
        self.checked_until = self.received;
        self.reject_opening(held, out);
    }

    /// `held` may be an opening, or the beginning of one.
    fn try_opening(&mut self, held: String, place: LineContext, out: &mut Vec<Item>) {
        match self.openings.find(&held, place) {
            OpeningMatch::Partial => self.state = FilterState::MaybeOpening(held, place),
            OpeningMatch::Found(kind) if !self.visible.is_code(&held, self.received) => {
                let begins_line =
                    kind == ControlKind::Metadata && (place.is_line_start || !self.visible.has_begun());
                self.state = FilterState::Body(PendingControl::new(kind, held, begins_line));
            }
            OpeningMatch::Found(_) | OpeningMatch::No => self.reject_opening(&held, out),
        }
    }

    /// The first character is text; with the others it may begin again.
    fn reject_opening(&mut self, held: &str, out: &mut Vec<Item>) {
        let mut characters = held.chars();
        if let Some(c) = characters.next() {
            self.visible.push_text(c.encode_utf8(&mut [0; 4]));
        }
        for c in characters {
            self.push_char(c, out);
        }
    }

    /// Control text has ended, if it is any.
    fn complete_body(&mut self, body: &PendingControl, out: &mut Vec<Item>) {
        let Some(read) = json_scanner::parse(body.json()).and_then(|json| self.parse_item(body, json)) else {
            return self.visible.release(&body.held);
        };
        match (body.kind, read) {
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

    /// What the JSON of control text is; `None` if it is not of the right type.
    fn parse_item(&self, body: &PendingControl, json: Value) -> Option<Option<Item>> {
        match body.kind {
            ControlKind::Values => parse::parse_values(json).map(|values| Some(Item::Values(values))),
            ControlKind::Actions => parse::parse_actions(json).map(|actions| Some(Item::Actions(actions))),
            ControlKind::Metadata | ControlKind::Sources { .. } => {
                parse::parse_metadata(json).map(|sources| sources.map(Item::Sources))
            }
            ControlKind::Payload(index) => {
                let marker = self.markers.get(index)?;
                let data = (marker.parse)(&json).ok()?;
                Some(Some(Item::Payload {
                    kind: marker.kind.clone(),
                    data,
                    written: self.visible.pending_white_space() + &body.held,
                }))
            }
        }
    }

    /// The type of the payload that is being held until it is whole, if it is one.
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

    /// How many bytes are kept here: a measure of the memory used.
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
