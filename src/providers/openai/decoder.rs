//! A decoder from the bytes of a chat completion to model events. It accepts a stream of chunks or, from a
//! server that does not stream, the whole answer as JSON. It does no I/O: the adapter and the tests supply
//! the bytes.

mod delta;

use std::collections::VecDeque;

use serde_json::Value;

use super::{
    call_assembler::CallAssembler,
    citations::CitationCollector,
    reasoning_details::DetailList,
    unknown_content::detect_protocol,
    wire::{Choice, Chunk},
};
use crate::{
    model::{Cost, FinishReason, ModelEvent, UnreadableContent, Usage},
    protocol::sse::{self, SseFrame},
    providers::think_tags::ThinkFilter,
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
    /// There were no bytes, or only keepalives.
    Empty,
    /// The bytes ended before the end of the answer.
    Incomplete,
}

/// The format of the bytes.
#[derive(Debug, Default)]
enum BodyFormat {
    /// Only white space so far.
    #[default]
    Unknown,
    /// Server-sent events.
    EventStream,
    /// One JSON object.
    WholeJson(Vec<u8>),
}

/// Decodes the bytes of one answer to events.
#[derive(Debug)]
pub struct Decoder {
    format: BodyFormat,
    max_frame_bytes: usize,
    frames: sse::SseDecoder,
    think_filter: ThinkFilter,
    calls: CallAssembler,
    /// Calls arrive in `tool_calls`, not in the older `function_call`.
    calls_in_list: bool,
    citations: CitationCollector,
    reasoning_details: DetailList,
    thinking_blocks: DetailList,
    usage: Option<Usage>,
    finish: Option<FinishReason>,
    /// The index of the chosen answer: the first with content, since only one is requested.
    choice_index: Option<u64>,
    /// A delta had content.
    has_seen_delta: bool,
    /// A description of received audio, and the presence of its transcript.
    audio_note: Option<String>,
    has_transcript: bool,
    /// The names of unreadable pieces.
    unreadable: Vec<String>,
    /// Only keepalives have arrived.
    has_only_keepalives: bool,
    /// An event of the stream was decoded.
    has_begun: bool,
    ended: bool,
}

impl Decoder {
    /// Creates a decoder. An SSE frame or a whole answer of more than `max_frame` bytes is an error.
    pub fn new(max_frame: usize) -> Self {
        Self {
            format: BodyFormat::Unknown,
            max_frame_bytes: max_frame,
            frames: sse::SseDecoder::new(max_frame),
            think_filter: ThinkFilter::default(),
            calls: CallAssembler::default(),
            calls_in_list: false,
            citations: CitationCollector::default(),
            reasoning_details: DetailList::new("reasoning_details"),
            thinking_blocks: DetailList::new("thinking_blocks"),
            usage: None,
            finish: None,
            choice_index: None,
            has_seen_delta: false,
            audio_note: None,
            has_transcript: false,
            unreadable: Vec::new(),
            has_only_keepalives: true,
            has_begun: false,
            ended: false,
        }
    }

    /// Returns true if [`ModelEvent::Finished`] was emitted.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Returns true if the server has sent the finish reason. Only the usage may follow.
    pub fn is_ending(&self) -> bool {
        self.finish.is_some()
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
                b'{' => BodyFormat::WholeJson(Vec::new()),
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
            if !self.ended {
                self.decode_frame(&frame, events)?;
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
        if let BodyFormat::WholeJson(whole) = std::mem::take(&mut self.format) {
            return self.decode_whole(&whole, events);
        }
        if self.ended {
            return Ok(());
        }
        if let Some(reason) = self.finish.take() {
            self.push_finished(reason, events);
            return Ok(());
        }
        self.think_filter.finish(events);
        self.ended = true;
        Err(if self.has_begun {
            DecodeError::Incomplete
        } else if self.has_only_keepalives {
            DecodeError::Empty
        } else {
            DecodeError::NotAStream
        })
    }

    /// Decodes an answer in one piece.
    fn decode_whole(&mut self, json: &[u8], events: &mut VecDeque<ModelEvent>) -> Result<(), DecodeError> {
        self.ended = true;
        let text = String::from_utf8_lossy(json);
        let chunk = match serde_json::from_str::<Chunk>(&text) {
            Ok(chunk) => chunk,
            Err(error) if error.is_eof() => return Err(DecodeError::Incomplete),
            // Some protocols have an object on each line.
            Err(_) => {
                return Err(detect_other_protocol(text.lines().next().unwrap_or_default())
                    .unwrap_or(DecodeError::NotAStream));
            }
        };
        if chunk.choices.is_none() && chunk.error.is_none() {
            return Err(detect_other_protocol(&text).unwrap_or(DecodeError::NotAStream));
        }
        self.decode_chunk(chunk, &text, events)?;
        let reason = self.finish.take().unwrap_or(FinishReason::Stop);
        self.push_finished(reason, events);
        Ok(())
    }

    fn decode_frame(
        &mut self,
        frame: &SseFrame,
        events: &mut VecDeque<ModelEvent>,
    ) -> Result<(), DecodeError> {
        let data = frame.data.trim();
        if data == "[DONE]" {
            // Some servers end with only this marker.
            let reason = self.finish.take().unwrap_or(FinishReason::Stop);
            self.push_finished(reason, events);
            return Ok(());
        }
        if frame.event.as_deref() == Some("error") {
            return Err(DecodeError::ServerError(
                serde_json::from_str(data).unwrap_or_else(|_| data.into()),
            ));
        }
        if data.is_empty() {
            return Ok(());
        }
        let chunk: Chunk = serde_json::from_str(data)
            .map_err(|_| DecodeError::InvalidFrame(data.chars().take(120).collect()))?;
        if !self.has_begun
            && chunk.choices.is_none()
            && let Some(fault) = detect_other_protocol(data)
        {
            return Err(fault);
        }
        self.has_begun = true;
        self.decode_chunk(chunk, data, events)
    }

    /// Decodes a chunk. `data` is its raw text.
    fn decode_chunk(
        &mut self,
        chunk: Chunk,
        data: &str,
        events: &mut VecDeque<ModelEvent>,
    ) -> Result<(), DecodeError> {
        if let Some(usage) = chunk.usage {
            self.usage = Some(Usage {
                input_tokens: usage.prompt_tokens,
                output_tokens: usage.completion_tokens,
                cost: usage.cost.and_then(Cost::from_dollars),
            });
        }
        let sources = self.citations.take_lists(chunk.citations, chunk.search_results);
        events.extend(sources.map(ModelEvent::Sources));
        for choice in chunk.choices.unwrap_or_default() {
            match self.choice_index {
                None if choice.is_empty() => self.push_unknown_fields(data, events),
                None => self.choice_index = Some(choice.index),
                Some(index) if index == choice.index => {}
                Some(_) => {
                    self.push_unreadable(
                        UnreadableContent::Unknown(format!("choice {}", choice.index)),
                        data,
                        events,
                    );
                    continue;
                }
            }
            self.decode_choice(choice, data, chunk.error.is_some(), events)?;
        }
        match chunk.error {
            None | Some(Value::Null) => Ok(()),
            Some(error) => Err(DecodeError::ServerError(error)),
        }
    }

    fn decode_choice(
        &mut self,
        mut choice: Choice,
        data: &str,
        has_error: bool,
        events: &mut VecDeque<ModelEvent>,
    ) -> Result<(), DecodeError> {
        let is_delta = choice.delta.as_ref().is_some_and(|delta| !delta.is_empty());
        let delta = choice.take_delta(self.has_seen_delta);
        self.has_seen_delta |= is_delta;
        if delta.is_empty() {
            if self.choice_index.is_some() && choice.finish_reason.is_none() {
                self.push_unknown_fields(data, events);
            }
        } else {
            self.decode_delta(delta, data, events);
        }
        match choice.finish_reason.as_deref() {
            None | Some("") => {}
            Some("error") if !has_error => {
                return Err(DecodeError::ServerError(
                    "the model server gave up on this answer".into(),
                ));
            }
            // DeepSeek's servers are overloaded.
            Some("insufficient_system_resource") => {
                return Err(DecodeError::ServerError(
                    "overloaded: insufficient system resource".into(),
                ));
            }
            Some(reason) => self.finish = Some(parse_finish_reason(reason)),
        }
        Ok(())
    }

    fn push_finished(&mut self, reason: FinishReason, events: &mut VecDeque<ModelEvent>) {
        self.think_filter.finish(events);
        if let Some(raw) = self.audio_note.take().filter(|_| !self.has_transcript) {
            let what = UnreadableContent::Audio;
            events.push_back(ModelEvent::Unreadable { what, raw });
        }
        events.extend(self.reasoning_details.take_event());
        events.extend(self.thinking_blocks.take_event());
        events.extend(self.usage.map(ModelEvent::Usage));
        // Some servers send "stop" with tool calls.
        let calls_tools = reason == FinishReason::Stop && !self.calls.is_empty();
        events.push_back(ModelEvent::Finished(if calls_tools {
            FinishReason::ToolCalls
        } else {
            reason
        }));
        self.ended = true;
    }
}

fn detect_other_protocol(data: &str) -> Option<DecodeError> {
    let json = serde_json::from_str::<Value>(data).ok()?;
    detect_protocol(&json).map(DecodeError::UnsupportedProtocol)
}

/// Returns the reason for this protocol's name of it. An unknown name is an ordinary end.
fn parse_finish_reason(reason: &str) -> FinishReason {
    match reason {
        "max_tokens" | "model_length" => FinishReason::Length,
        "function_call" => FinishReason::ToolCalls,
        _ => FinishReason::from(reason.to_owned()),
    }
}
