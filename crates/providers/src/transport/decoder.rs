//! The common part of all decoders from the bytes of an answer to model events: the framing of an event
//! stream, or the whole answer as JSON from a server that does not stream. It does no I/O: the adapters and
//! the tests supply the bytes.

use std::collections::VecDeque;

use serde_json::Value;

pub use super::event_decoder::{DecodeError, EventDecoder};
use super::{half_joiner::HalfJoiner, http_errors::find_error};
use parlor_model::{
    ModelEvent,
    lenient_json::{self, Halves},
};
use parlor_protocol::sse::{SseDecoder, SseFrame};

/// The format of the bytes.
#[derive(Debug, Default)]
enum BodyFormat {
    /// The format is not known yet: only whitespace has arrived.
    #[default]
    Unknown,
    /// Server-sent events.
    EventStream,
    /// One JSON value.
    WholeJson(Vec<u8>),
}

/// Decodes the bytes of one answer to events.
#[derive(Debug)]
pub struct Decoder {
    format: BodyFormat,
    max_frame_bytes: usize,
    frames: SseDecoder,
    protocol: Box<dyn EventDecoder>,
    halves: HalfJoiner,
    /// True if only keepalives have arrived.
    has_only_keepalives: bool,
    /// True if the end of the bytes was processed.
    has_closed: bool,
}

impl Decoder {
    /// Creates a decoder. An SSE frame or a whole answer of more than `max_frame` bytes is an error.
    pub fn new(protocol: impl EventDecoder + 'static, max_frame: usize) -> Self {
        Self {
            format: BodyFormat::Unknown,
            max_frame_bytes: max_frame,
            frames: SseDecoder::new(max_frame),
            protocol: Box::new(protocol),
            halves: HalfJoiner::default(),
            has_only_keepalives: true,
            has_closed: false,
        }
    }

    /// Returns true if [`ModelEvent::Finished`] was emitted, or all bytes were processed.
    pub fn has_ended(&self) -> bool {
        self.has_closed || self.protocol.answer().has_ended
    }

    /// Returns true if the server has sent the finish reason. Only the usage may follow.
    pub fn is_ending(&self) -> bool {
        self.protocol.answer().finish.is_some()
    }

    /// Processes the next bytes and appends the completed events.
    ///
    /// # Errors
    ///
    /// [`DecodeError`]. The events before it were appended, and the usage.
    pub fn push(&mut self, bytes: &[u8], events: &mut VecDeque<ModelEvent>) -> Result<(), DecodeError> {
        let result = self.decode_bytes(bytes, events);
        if result.is_err() {
            self.end_failed(events);
        }
        result
    }

    fn decode_bytes(
        &mut self,
        mut bytes: &[u8],
        events: &mut VecDeque<ModelEvent>,
    ) -> Result<(), DecodeError> {
        if let BodyFormat::Unknown = self.format {
            bytes = bytes.trim_ascii_start();
            let Some(first) = bytes.first() else {
                return Ok(());
            };
            self.has_only_keepalives = *first == b':';
            self.format = match first {
                // Gemini's answer without server-sent events is a list.
                b'{' | b'[' => BodyFormat::WholeJson(Vec::new()),
                _ => BodyFormat::EventStream,
            };
        }
        if let BodyFormat::WholeJson(whole) = &mut self.format {
            whole.extend_from_slice(bytes);
            return match whole.len() > self.max_frame_bytes {
                true => Err(DecodeError::FrameTooLong(self.max_frame_bytes)),
                false => Ok(()),
            };
        }
        let mut frames = Vec::new();
        let result = self.frames.push(bytes, &mut frames);
        for frame in frames {
            if !self.protocol.answer().has_ended {
                self.decode_frame(frame, events)?;
            }
        }
        result.map_err(|error| DecodeError::FrameTooLong(error.limit))
    }

    /// Processes the end of the bytes.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Incomplete`] if the server has not sent the end of the answer.
    pub fn end(&mut self, events: &mut VecDeque<ModelEvent>) -> Result<(), DecodeError> {
        self.has_closed = true;
        let result = self.decode_end(events);
        if result.is_err() {
            self.end_failed(events);
        }
        result
    }

    fn decode_end(&mut self, events: &mut VecDeque<ModelEvent>) -> Result<(), DecodeError> {
        if let BodyFormat::WholeJson(whole) = std::mem::take(&mut self.format) {
            return self.decode_whole(&String::from_utf8_lossy(&whole), events);
        }
        if self.protocol.answer().has_ended {
            return Ok(());
        }
        if let Some(frame) = self.frames.take_cut_frame() {
            match self.decode_frame(frame, events) {
                // Its rest is missing.
                Ok(()) | Err(DecodeError::InvalidFrame(_)) => {}
                Err(error) => return Err(error),
            }
            if self.protocol.answer().has_ended {
                return Ok(());
            }
        }
        match self.is_ending() {
            true => self.protocol.end(),
            false => self.protocol.answer_mut().close(),
        }
        self.release_held(events);
        let answer = self.protocol.answer();
        if answer.has_ended {
            return Ok(());
        }
        Err(if answer.has_begun {
            DecodeError::Incomplete
        } else if self.has_only_keepalives {
            DecodeError::Empty
        } else {
            DecodeError::NotAStream
        })
    }

    /// Decodes one event. JSON that is not valid is mended.
    fn decode_frame(
        &mut self,
        mut frame: SseFrame,
        events: &mut VecDeque<ModelEvent>,
    ) -> Result<(), DecodeError> {
        // Some fields are kept as they came, so the protocol may not notice.
        if lenient_json::has_lone_half(&frame.data)
            && let Some(mended) = lenient_json::mend(&frame.data, Halves::Mark)
        {
            self.halves.has_marks |= mended.has_marks;
            frame.data = mended.text.into_owned();
        }
        let mut decoded = VecDeque::new();
        let result = match self.decode_json(&frame, &mut decoded) {
            Err(DecodeError::InvalidFrame(data)) => self.decode_mended(&frame, data, &mut decoded),
            result => result,
        };
        // What could not be read may be the error.
        let is_unread = |event: &ModelEvent| matches!(event, ModelEvent::Unreadable { .. });
        if result.is_ok()
            && decoded.iter().all(is_unread)
            && let Some(error) = unread_error(&frame.data)
        {
            return Err(DecodeError::ServerError(error));
        }
        self.halves.join(decoded, events);
        result
    }

    /// Decodes one event of valid JSON, as far as is known.
    fn decode_json(
        &mut self,
        frame: &SseFrame,
        decoded: &mut VecDeque<ModelEvent>,
    ) -> Result<(), DecodeError> {
        let result = self.protocol.decode_frame(frame);
        decoded.append(&mut self.protocol.answer_mut().events);
        result
    }

    /// Decodes an event that the protocol could not read. One without content is ignored.
    fn decode_mended(
        &mut self,
        frame: &SseFrame,
        excerpt: String,
        decoded: &mut VecDeque<ModelEvent>,
    ) -> Result<(), DecodeError> {
        let mended = lenient_json::mend(&frame.data, Halves::Mark);
        let unescaped = || lenient_json::mend(frame.unescaped_data.as_deref()?, Halves::Mark);
        let mended = mended.or_else(unescaped);
        if frame.event.as_deref() == Some("error") {
            let error = mended.and_then(|mended| serde_json::from_str(&mended.text).ok());
            return Err(DecodeError::ServerError(
                error.unwrap_or_else(|| frame.data.trim().into()),
            ));
        }
        let Some(mended) = mended else {
            return Err(DecodeError::InvalidFrame(excerpt));
        };
        self.halves.has_marks |= mended.has_marks;
        let again = |data: String| SseFrame {
            data,
            ..frame.clone()
        };
        match mended.text.trim_start().as_bytes().first() {
            Some(b'{') => self.decode_json(&again(mended.text.into_owned()), decoded),
            Some(b'[') => {
                let entries: Vec<Value> = serde_json::from_str(&mended.text).unwrap_or_default();
                for entry in entries.iter().filter(|entry| entry.is_object()) {
                    self.decode_json(&again(entry.to_string()), decoded)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Decodes a whole answer. JSON that is not valid is mended.
    fn decode_whole(&mut self, json: &str, events: &mut VecDeque<ModelEvent>) -> Result<(), DecodeError> {
        let mended = || lenient_json::mend(json, Halves::Replace);
        let has_lone_half = lenient_json::has_lone_half(json);
        let whole = mended().filter(|_| has_lone_half);
        let whole = whole.map_or(json.into(), |mended| mended.text);
        let mut result = self.protocol.decode_whole(&whole);
        if result == Err(DecodeError::NotAStream) && self.protocol.answer().events.is_empty() {
            let mended = mended().map_or(whole, |mended| mended.text);
            result = self.protocol.decode_whole(&mended);
            if result.is_err()
                && let Some(error) = serde_json::from_str(&mended).ok().and_then(find_error)
            {
                result = Err(DecodeError::ServerError(error));
            }
        }
        events.append(&mut self.protocol.answer_mut().events);
        result
    }

    /// Releases what is held of an answer that fails, and reports what it has used.
    fn end_failed(&mut self, events: &mut VecDeque<ModelEvent>) {
        self.protocol.answer_mut().close();
        self.release_held(events);
        self.halves.end(events);
        let usage = self.protocol.answer_mut().usage.take();
        events.extend(usage.map(ModelEvent::Usage));
    }

    fn release_held(&mut self, events: &mut VecDeque<ModelEvent>) {
        self.protocol.release_held();
        let held = std::mem::take(&mut self.protocol.answer_mut().events);
        self.halves.join(held, events);
    }
}

/// Returns the error in an event of which the protocol has read nothing.
fn unread_error(data: &str) -> Option<Value> {
    // Most events without content have none of these names.
    const NAMES: [&str; 6] = [
        "\"error",
        "\"detail\"",
        "\"msg\"",
        "\"message\"",
        "\"fault\"",
        "\"base_resp\"",
    ];
    let may_be = NAMES.iter().any(|name| data.contains(name));
    let json = may_be.then(|| serde_json::from_str(data).ok()).flatten()?;
    find_error(json)
}
