//! The decoder of one protocol's events: its interface, and what its implementations share.

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::answer::Answer;
use parlor_protocol::sse::SseFrame;

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

/// The decoder of one protocol's events. It adds them to its [`Answer`].
pub trait EventDecoder: Debug + Send {
    /// Returns the answer so far.
    fn answer(&self) -> &Answer;

    fn answer_mut(&mut self) -> &mut Answer;

    /// Decodes one event of a stream.
    ///
    /// # Errors
    ///
    /// [`DecodeError`]. The events before it were added.
    fn decode_frame(&mut self, frame: &SseFrame) -> Result<(), DecodeError>;

    /// Decodes a whole answer.
    ///
    /// # Errors
    ///
    /// As [`decode_frame`](Self::decode_frame).
    fn decode_whole(&mut self, json: &str) -> Result<(), DecodeError>;

    /// Ends the answer, whose finish reason has arrived.
    fn end(&mut self) {
        let answer = self.answer_mut();
        let reason = answer.take_reason();
        answer.end(reason);
    }

    /// Releases what is held besides the answer's own text.
    fn release_held(&mut self) {}
}

/// Parses the JSON of a frame.
pub fn parse_frame<T: DeserializeOwned>(data: &str) -> Result<T, DecodeError> {
    serde_json::from_str(data).map_err(|_| DecodeError::invalid_frame(data))
}

/// Parses a whole answer.
pub fn parse_whole<T: DeserializeOwned>(json: &str) -> Result<T, DecodeError> {
    serde_json::from_str(json).map_err(|error| match error.is_eof() {
        true => DecodeError::Incomplete,
        false => DecodeError::NotAStream,
    })
}

/// Checks that a frame has no error.
///
/// # Errors
///
/// The server's error.
pub fn check_error(error: Option<Value>) -> Result<(), DecodeError> {
    error.map_or(Ok(()), |error| Err(DecodeError::ServerError(error)))
}

/// Returns the data of a frame; `None` without content.
pub fn frame_data(frame: &SseFrame) -> Option<&str> {
    let data = frame.data.trim();
    // Some proxies end as OpenAI's servers do.
    (!data.is_empty() && data != "[DONE]").then_some(data)
}

/// Checks that a frame is not named an error.
///
/// # Errors
///
/// The server's error.
pub fn check_frame_name(frame: &SseFrame, data: &str) -> Result<(), DecodeError> {
    match frame.event.as_deref() {
        Some("error") => Err(DecodeError::ServerError(
            serde_json::from_str(data).unwrap_or_else(|_| data.into()),
        )),
        _ => Ok(()),
    }
}
