//! The filter itself: which characters are text, which may be control text, and what of that turns out to be. What becomes of the
//! text is in [`shown`](super::shown).

use serde_json::Value;

use super::{
    Item, Marker,
    body::Body,
    imitation::{self, Imitation},
    is_space,
    json::{self, Step},
    opening::{Kind, Match, Openings, Place},
    read,
    shown::Shown,
};

/// Splits one answer's text into what the person sees and what it asks Parlor to do.
#[derive(Clone, Debug)]
pub struct ControlFilter {
    markers: Vec<Marker>,
    openings: Openings,
    limit: usize,
    state: State,
    /// Looks at the beginning, before all else.
    imitation: Imitation,
    /// Whether the model has seen metadata that it may imitate.
    may_imitate: bool,
    /// Up to here a comment that begins a line has turned out to be text.
    looked_through: u64,
    /// What is shown, and what may be.
    pub(super) shown: Shown,
    /// Whether a comment had sources.
    has_sources: bool,
    /// How many bytes have come.
    taken: u64,
    /// How often a character was looked at.
    pub(super) looked_at: u64,
}

#[derive(Clone, Debug)]
enum State {
    Text,
    /// What is held may be the beginning of an opening.
    Opening(String, Place),
    Body(Body),
    /// What is held began as metadata at the beginning of a line and is not well written: its end shows whether it imitates
    /// those of the history.
    Comment(String),
}

impl ControlFilter {
    /// A filter for one answer. `limit` is the longest control text that is taken, in bytes.
    pub fn new(markers: Vec<Marker>, limit: usize) -> Self {
        Self {
            openings: Openings::new(&markers),
            markers,
            limit,
            state: State::Text,
            imitation: Imitation::default(),
            may_imitate: true,
            looked_through: 0,
            shown: Shown::new(),
            has_sources: false,
            taken: 0,
            looked_at: 0,
        }
    }

    /// The model has seen no metadata: what looks like them is its own.
    pub fn knows_no_metadata(&mut self) {
        self.imitation.skip();
        self.may_imitate = false;
    }

    /// The answer goes on from this text, which was shown before and is not looked at again: it may end in code.
    pub fn go_on_from(&mut self, text: &str) {
        self.imitation.skip();
        self.shown.go_on_from(text);
    }

    /// Takes more of the answer's text and appends what it is to `out`.
    pub fn push(&mut self, delta: &str, out: &mut Vec<Item>) {
        let text = self.imitation.push(delta);
        self.take_all(&text, out);
        self.shown.give(out);
    }

    /// The answer has broken off. White space that was held back is released, so that it can go on from there; what may have been
    /// the beginning of control text was on no screen, and is dropped.
    pub fn break_off(&mut self, out: &mut Vec<Item>) {
        if matches!(self.state, State::Text) && !self.shown.holds_sources() {
            self.shown.show_white_space();
        }
        self.shown.give(out);
    }

    /// The answer has ended: what was held back is released.
    pub fn finish(&mut self, out: &mut Vec<Item>) {
        let text = self.imitation.finish();
        self.take_all(&text, out);
        loop {
            match std::mem::replace(&mut self.state, State::Text) {
                State::Text => break,
                State::Opening(held, _) => self.not_an_opening(&held, out),
                // Only the rest of its end can be behind it.
                State::Body(body) if self.imitates(&body) => self.cut(out),
                State::Body(body) => self.shown.release(&body.held),
                State::Comment(held) => self.no_imitation(&held, out),
            }
        }
        match self.shown.take_last() {
            Some(sources) => {
                self.shown.give(out);
                if !self.has_sources {
                    out.push(Item::Sources(sources));
                }
            }
            None => {
                self.shown.show_white_space();
                self.shown.give(out);
            }
        }
    }

    fn take_all(&mut self, text: &str, out: &mut Vec<Item>) {
        for c in text.chars() {
            self.taken += c.len_utf8() as u64;
            self.take(c, out);
        }
    }

    fn take(&mut self, c: char, out: &mut Vec<Item>) {
        self.looked_at += 1;
        match std::mem::replace(&mut self.state, State::Text) {
            State::Text if is_space(c) => self.shown.space(c),
            State::Text if !self.openings.may_begin(c) => self.shown.show(c.encode_utf8(&mut [0; 4])),
            State::Text => self.open(c.into(), self.shown.place(), out),
            State::Opening(mut held, place) => {
                held.push(c);
                self.open(held, place, out);
            }
            State::Body(mut body) => {
                let step = if body.held.len() + c.len_utf8() > self.limit {
                    Step::Wrong
                } else {
                    body.feed(c)
                };
                match step {
                    Step::More => self.state = State::Body(body),
                    Step::End => self.end(&body, out),
                    Step::Wrong => {
                        self.wrong(body, out);
                        self.take(c, out);
                    }
                }
            }
            State::Comment(mut held) => {
                held.push(c);
                if imitation::is_whole(&held) {
                    self.cut(out);
                } else if imitation::may_go_on(&held) {
                    self.state = State::Comment(held);
                } else {
                    self.no_imitation(&held, out);
                }
            }
        }
    }

    /// What was held can't be control text as it should be, and the next character shows that.
    fn wrong(&mut self, body: Body, out: &mut Vec<Item>) {
        if self.imitates(&body) {
            self.take_out(&body, out);
        } else if self.may_imitate
            && body.begins_line
            && self.taken > self.looked_through
            && body.json().is_empty()
            && imitation::may_go_on(&body.held)
        {
            self.state = State::Comment(body.held);
        } else {
            self.shown.release(&body.held);
        }
    }

    /// Whether these are the history's metadata, at the beginning of a line, whose comment has no end.
    fn imitates(&self, body: &Body) -> bool {
        self.may_imitate
            && body.kind == Kind::Metadata
            && body.begins_line
            && imitation::is_of_history(body.json())
    }

    /// Takes out what is held up to the end of its JSON: the rest of it is text.
    fn take_out(&mut self, body: &Body, out: &mut Vec<Item>) {
        self.cut(out);
        for c in body.behind_json().chars() {
            self.take(c, out);
        }
    }

    /// Metadata are taken out here.
    fn cut(&mut self, out: &mut Vec<Item>) {
        self.shown.give(out);
        self.shown.cut_metadata();
    }

    /// A comment that began a line imitates nothing. There may be control text in it.
    fn no_imitation(&mut self, held: &str, out: &mut Vec<Item>) {
        self.looked_through = self.taken;
        self.not_an_opening(held, out);
    }

    /// `held` may be an opening, or the beginning of one.
    fn open(&mut self, held: String, place: Place, out: &mut Vec<Item>) {
        match self.openings.find(&held, place) {
            Match::Possible => self.state = State::Opening(held, place),
            Match::Found(kind) if !self.shown.is_code(&held, self.taken) => {
                let begins_line = kind == Kind::Metadata && (place.line || !self.shown.has_begun());
                self.state = State::Body(Body::new(kind, held, begins_line));
            }
            Match::Found(_) | Match::No => self.not_an_opening(&held, out),
        }
    }

    /// The first character is text; with the others it may begin again.
    fn not_an_opening(&mut self, held: &str, out: &mut Vec<Item>) {
        let mut characters = held.chars();
        if let Some(c) = characters.next() {
            self.shown.show(c.encode_utf8(&mut [0; 4]));
        }
        for c in characters {
            self.take(c, out);
        }
    }

    /// Control text has ended, if it is any.
    fn end(&mut self, body: &Body, out: &mut Vec<Item>) {
        let Some(read) = json::parse(body.json()).and_then(|json| self.read(body, json)) else {
            return self.shown.release(&body.held);
        };
        match (body.kind, read) {
            (Kind::Sources { .. }, Some(Item::Sources(sources))) => self.shown.hold(&body.held, sources),
            (kind, item) => {
                self.has_sources |= kind == Kind::Metadata && item.is_some();
                self.shown.give(out);
                out.extend(item);
                if kind == Kind::Metadata {
                    self.cut(out);
                } else {
                    self.shown.cut();
                }
            }
        }
    }

    /// What the JSON of control text is; `None` if it is not of the right type.
    fn read(&self, body: &Body, json: Value) -> Option<Option<Item>> {
        match body.kind {
            Kind::Values => read::values(json).map(|values| Some(Item::Values(values))),
            Kind::Actions => read::actions(json).map(|actions| Some(Item::Actions(actions))),
            Kind::Metadata | Kind::Sources { .. } => {
                read::metadata(json).map(|sources| sources.map(Item::Sources))
            }
            Kind::Payload(index) => {
                let marker = self.markers.get(index)?;
                let data = (marker.parse)(&json).ok()?;
                Some(Some(Item::Payload {
                    kind: marker.kind.clone(),
                    data,
                    written: self.shown.white_space() + &body.held,
                }))
            }
        }
    }

    /// The type of the payload that is being held until it is whole, if it is one.
    pub fn writing(&self) -> Option<&str> {
        match &self.state {
            State::Body(
                body @ Body {
                    kind: Kind::Payload(index),
                    ..
                },
            ) if body.is_json() => self.markers.get(*index).map(|marker| marker.kind.as_str()),
            _ => None,
        }
    }

    /// How many bytes are kept here: a measure of the memory used.
    #[cfg(test)]
    pub(super) fn held_bytes(&self) -> usize {
        let held = match &self.state {
            State::Text => 0,
            State::Opening(held, _) | State::Comment(held) => held.len(),
            State::Body(body) => body.held.len(),
        };
        held + self.imitation.held_bytes() + self.shown.held_bytes()
    }
}
