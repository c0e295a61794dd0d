//! The common part of all decoders from the bytes of an answer to model events: the framing of an event
//! stream, or the whole answer as JSON from a server that does not stream. It does no I/O: the adapters and
//! the tests supply the bytes.

use std::{collections::VecDeque, fmt::Debug};

use serde_json::Value;

use crate::{
    model::ModelEvent,
    protocol::sse::{SseDecoder, SseFrame},
};

/// The error of a stream that can't be decoded to a clean end.
#[derive(Clone, Debug, PartialEq)]
pub enum DecodeError {
    /// A frame exceeds this limit in bytes.
    FrameTooLong(usize),
    /// A frame is not the expected JSON; the beginning of it.
    InvalidFrame(String),
    /// The server reports an error, in its own format.
    ServerError(Value),
    /// The answer has another protocol, of this name.
    UnsupportedProtocol(&'static str),
    /// The bytes ended without any event.
    NotAStream,
    /// The answer had no bytes, or only keepalives.
    Empty,
    /// The bytes ended before the end of the answer.
    Incomplete,
}

impl DecodeError {
    /// Returns the error of a frame that can't be parsed.
    pub fn invalid_frame(data: &str) -> Self {
        Self::InvalidFrame(data.chars().take(120).collect())
    }
}

/// The decoder of one protocol's events.
pub trait EventDecoder: Debug + Send {
    /// Decodes one event of a stream.
    ///
    /// # Errors
    ///
    /// [`DecodeError`]. The events before it were appended.
    fn decode_frame(
        &mut self,
        frame: &SseFrame,
        events: &mut VecDeque<ModelEvent>,
    ) -> Result<(), DecodeError>;

    /// Decodes an answer in one piece.
    ///
    /// # Errors
    ///
    /// As [`decode_frame`](Self::decode_frame).
    fn decode_whole(&mut self, json: &str, events: &mut VecDeque<ModelEvent>) -> Result<(), DecodeError>;

    /// Processes the end of the bytes: releases held text and, if the finish reason has arrived, ends the
    /// answer.
    fn finish(&mut self, events: &mut VecDeque<ModelEvent>);

    /// Returns true if an event of this protocol was decoded.
    fn has_begun(&self) -> bool;

    /// Returns true if the server has sent the finish reason. Only the usage may follow.
    fn is_ending(&self) -> bool;

    /// Returns true if [`ModelEvent::Finished`] was emitted.
    fn has_ended(&self) -> bool;
}

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
            has_only_keepalives: true,
            has_closed: false,
        }
    }

    /// Returns true if [`ModelEvent::Finished`] was emitted, or all bytes were processed.
    pub fn has_ended(&self) -> bool {
        self.has_closed || self.protocol.has_ended()
    }

    /// Returns true if the server has sent the finish reason. Only the usage may follow.
    pub fn is_ending(&self) -> bool {
        self.protocol.is_ending()
    }

    /// Processes the next bytes and appends the completed events.
    ///
    /// # Errors
    ///
    /// [`DecodeError`]. The events before it were appended.
    pub fn push(&mut self, mut bytes: &[u8], events: &mut VecDeque<ModelEvent>) -> Result<(), DecodeError> {
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
            if !self.protocol.has_ended() {
                self.protocol.decode_frame(&frame, events)?;
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
        if let BodyFormat::WholeJson(whole) = std::mem::take(&mut self.format) {
            return self
                .protocol
                .decode_whole(&String::from_utf8_lossy(&whole), events);
        }
        if self.protocol.has_ended() {
            return Ok(());
        }
        self.protocol.finish(events);
        if self.protocol.has_ended() {
            return Ok(());
        }
        Err(if self.protocol.has_begun() {
            DecodeError::Incomplete
        } else if self.has_only_keepalives {
            DecodeError::Empty
        } else {
            DecodeError::NotAStream
        })
    }
}
