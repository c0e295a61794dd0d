//! Reads one run's event stream and checks the contract: ids grow, deltas are contiguous, every token comes
//! once and in order, and the last event has the whole answer.

use std::{borrow::Cow, time::Instant};

use serde::{Deserialize, Serialize};

use crate::client::Error;

/// The number of digits of a stamp: microseconds since 1970, until 2286.
const STAMP_DIGITS: usize = 16;

/// Violations of the contract. All of them must stay 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Faults {
    pub lost: u64,
    pub duplicated: u64,
    pub reordered: u64,
    /// Deltas that do not begin where the previous one ended.
    pub gaps: u64,
    /// Runs that did not end with a `complete` event, or whose answer is not the sum of its deltas.
    pub incomplete: u64,
}

impl Faults {
    pub fn add(&mut self, other: Self) {
        self.lost += other.lost;
        self.duplicated += other.duplicated;
        self.reordered += other.reordered;
        self.gaps += other.gaps;
        self.incomplete += other.incomplete;
    }
}

/// The result of one run's stream.
#[derive(Debug, Default)]
pub struct RunCheck {
    pub faults: Faults,
    /// The first fault, as text.
    pub first_fault: Option<String>,
    /// From sending the request to the first token.
    pub first_token_micros: Option<u64>,
    /// For each token: from the model server's stamp to the client's receipt, in microseconds.
    pub delays: Vec<u32>,
    /// For each token: the delay behind the pace that the first one sets.
    pub lateness: Vec<u32>,
    pub events: u64,
    pub message_id: Option<String>,
    pub ended: bool,
    /// Position and JSON of each event, if they are recorded.
    pub recorded_events: Option<Vec<(u64, String)>>,
}

impl RunCheck {
    /// Returns the time to the first token in microseconds.
    ///
    /// # Errors
    ///
    /// The first fault of the run, or that it had no token.
    pub fn first_token(self) -> Result<u32, Error> {
        if let Some(fault) = self.first_fault {
            return Err(fault.into());
        }
        let micros = self.first_token_micros.ok_or("an answer without a token")?;
        Ok(u32::try_from(micros).unwrap_or(u32::MAX))
    }
}

#[derive(Deserialize)]
struct Event<'a> {
    position: u64,
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    message_id: Option<Cow<'a, str>>,
    node: Option<u64>,
    part: Option<u64>,
    offset: Option<usize>,
    text: Option<Cow<'a, str>>,
    message: Option<Cow<'a, str>>,
    payload: Option<Payload<'a>>,
}

#[derive(Deserialize)]
struct Payload<'a> {
    message: Cow<'a, str>,
}

/// A chunk of chat completions, as far as it is needed.
#[derive(Deserialize)]
struct CompletionsChunk<'a> {
    #[serde(borrow)]
    choices: Vec<CompletionsChoice<'a>>,
}

#[derive(Deserialize)]
struct CompletionsChoice<'a> {
    #[serde(borrow)]
    delta: CompletionsDelta<'a>,
}

#[derive(Deserialize)]
struct CompletionsDelta<'a> {
    #[serde(borrow)]
    content: Option<Cow<'a, str>>,
}

/// A checker of the bytes of one stream.
pub struct Checker {
    pub run: RunCheck,
    started: Instant,
    /// The expected number of tokens.
    tokens: usize,
    /// The interval between tokens, in microseconds.
    token_interval: f64,
    /// The bytes of an incomplete frame.
    partial_frame: Vec<u8>,
    last_id: u64,
    text: String,
    /// The beginning of the current part in `text`, and its index.
    part: Option<(u64, u64)>,
    part_start: usize,
    /// The length of `text` that was read as tokens.
    consumed: usize,
    seen: Vec<bool>,
    next: usize,
    first_stamp: Option<u64>,
}

impl Checker {
    /// Creates a checker. A `per_second` of 0 is a run without a pace.
    pub fn new(started: Instant, tokens: usize, per_second: f64, keep: bool) -> Self {
        let run = RunCheck {
            delays: Vec::with_capacity(tokens),
            lateness: Vec::with_capacity(tokens),
            recorded_events: keep.then(Vec::new),
            ..RunCheck::default()
        };
        Self {
            run,
            started,
            tokens,
            token_interval: if per_second > 0.0 { 1e6 / per_second } else { 0.0 },
            partial_frame: Vec::new(),
            last_id: 0,
            text: String::new(),
            part: None,
            part_start: 0,
            consumed: 0,
            seen: vec![false; tokens],
            next: 0,
            first_stamp: None,
        }
    }

    /// Adds bytes of Parlor's stream received at `now`, in microseconds since the epoch.
    pub fn push(&mut self, bytes: &[u8], now: u64) {
        self.push_frames(bytes, |checker, frame| checker.frame(frame, now));
    }

    /// Adds bytes of the model server's own stream of chat completions.
    pub fn push_completions(&mut self, bytes: &[u8], now: u64) {
        self.push_frames(bytes, |checker, frame| checker.completions_frame(frame, now));
    }

    fn push_frames(&mut self, bytes: &[u8], mut read: impl FnMut(&mut Self, &str)) {
        self.partial_frame.extend_from_slice(bytes);
        let rest = std::mem::take(&mut self.partial_frame);
        let mut from = 0;
        while let Some(length) = rest[from..].windows(2).position(|pair| pair == b"\n\n") {
            match std::str::from_utf8(&rest[from..from + length]) {
                Ok(frame) => read(self, frame),
                Err(_) => self.record_first_fault("a frame is not UTF-8"),
            }
            from += length + 2;
        }
        self.partial_frame = rest;
        self.partial_frame.drain(..from);
    }

    /// Ends the check. Missing tokens are lost.
    pub fn finish(mut self) -> RunCheck {
        self.run.faults.lost = self.seen.iter().filter(|seen| !**seen).count() as u64;
        if self.run.faults.lost > 0 {
            self.record_first_fault(&format!("{} tokens did not come", self.run.faults.lost));
        }
        if !self.run.ended {
            self.run.faults.incomplete = 1;
            self.record_first_fault("the stream ended without a last event");
        }
        self.run
    }

    fn frame(&mut self, frame: &str, now: u64) {
        let (mut id, mut data) = (None, None);
        for line in frame.lines() {
            match line.split_once(": ") {
                Some(("id", value)) => id = value.parse::<u64>().ok(),
                Some(("data", value)) => data = Some(value),
                // A comment.
                _ => {}
            }
        }
        let Some(data) = data else { return };
        let event: Event = match serde_json::from_str(data) {
            Ok(event) => event,
            Err(error) => return self.record_first_fault(&format!("not an event ({error}): {data}")),
        };
        self.run.events += 1;
        if id != Some(event.position) || event.position <= self.last_id {
            self.run.faults.reordered += 1;
            self.record_first_fault(&format!("after position {} came id {id:?}: {data}", self.last_id));
        }
        if self.run.ended {
            self.run.faults.incomplete += 1;
            self.record_first_fault(&format!("after the last event came {data}"));
        }
        self.last_id = self.last_id.max(event.position);
        if self.run.message_id.is_none() {
            self.run.message_id = event.message_id.as_deref().map(str::to_owned);
        }
        self.event(event, now);
        if let Some(kept) = &mut self.run.recorded_events {
            kept.push((self.last_id, data.to_owned()));
        }
    }

    fn completions_frame(&mut self, frame: &str, now: u64) {
        let Some(data) = frame.strip_prefix("data: ") else {
            return;
        };
        if data == "[DONE]" {
            self.run.ended = true;
            return;
        }
        let chunk: CompletionsChunk = match serde_json::from_str(data) {
            Ok(chunk) => chunk,
            Err(error) => return self.record_first_fault(&format!("not a chunk ({error}): {data}")),
        };
        self.run.events += 1;
        for choice in chunk.choices {
            self.text += choice.delta.content.as_deref().unwrap_or_default();
        }
        self.read_tokens(now);
    }

    fn event(&mut self, event: Event, now: u64) {
        match &*event.kind {
            "text_delta" => {
                let place = event.node.zip(event.part);
                if self.part != place {
                    self.part = place;
                    self.part_start = self.text.len();
                }
                let expected = self.text.len() - self.part_start;
                if event.offset != Some(expected) {
                    self.run.faults.gaps += 1;
                    self.record_first_fault(&format!("a delta at {:?} instead of {expected}", event.offset));
                }
                self.text += event.text.as_deref().unwrap_or_default();
                self.read_tokens(now);
            }
            "complete" => {
                self.run.ended = true;
                if event.payload.map(|payload| payload.message).as_deref() != Some(&self.text) {
                    self.run.faults.incomplete += 1;
                    self.record_first_fault("the last event's message is not the sum of the deltas");
                }
            }
            "error" | "cancelled" => {
                self.run.ended = true;
                self.run.faults.incomplete += 1;
                let message = event.message.as_deref().unwrap_or("cancelled");
                self.record_first_fault(&format!("the run ended: {message}"));
            }
            _ => {}
        }
    }

    fn read_tokens(&mut self, now: u64) {
        loop {
            let rest = &self.text[self.consumed..];
            let text = rest.trim_start_matches(' ');
            // The whitespace after a token arrives with the following text, since no page shows it before.
            let space = text.find(' ');
            let whole = text.find('@').map(|at| at + 1 + STAMP_DIGITS);
            let length = match (space, whole) {
                (Some(space), whole) => space.min(whole.unwrap_or(space)),
                (None, Some(whole)) if whole <= text.len() => whole,
                (None, _) => return,
            };
            let parsed = text
                .get(..length)
                .unwrap_or_default()
                .split_once('@')
                .and_then(|(number, stamp)| number.parse().ok().zip(stamp.parse().ok()));
            self.consumed += rest.len() - text.len() + length;
            match parsed {
                Some((number, stamp)) => self.token(number, stamp, now),
                None => self.record_first_fault("a token is damaged"),
            }
        }
    }

    fn token(&mut self, number: usize, stamp: u64, now: u64) {
        match self.seen.get_mut(number) {
            Some(seen) if !*seen => *seen = true,
            _ => {
                self.run.faults.duplicated += 1;
                return self.record_first_fault(&format!("token {number} came again"));
            }
        }
        if number < self.next {
            self.run.faults.reordered += 1;
            self.record_first_fault(&format!("token {number} came after token {}", self.next - 1));
        }
        self.next = self.next.max(number + 1);
        if self.run.first_token_micros.is_none() {
            self.run.first_token_micros = u64::try_from(self.started.elapsed().as_micros()).ok();
        }
        self.run.delays.push(to_u32(now.saturating_sub(stamp)));
        let first = *self.first_stamp.get_or_insert(stamp);
        if self.token_interval > 0.0 {
            let due = first + (number as f64 * self.token_interval) as u64;
            self.run.lateness.push(to_u32(now.saturating_sub(due)));
        }
    }

    fn record_first_fault(&mut self, complaint: &str) {
        let (tokens, next) = (self.tokens, self.next);
        self.run.first_fault.get_or_insert_with(|| {
            format!("{complaint} (after {next} of {tokens} tokens)")
                .chars()
                .take(300)
                .collect()
        });
    }
}

fn to_u32(micros: u64) -> u32 {
    u32::try_from(micros).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
