//! Bytes of a chat completion in, model events out: a stream of chunks, or, from a server that does not stream, the whole answer as
//! JSON. No I/O: the adapter and the tests feed it.

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

/// Why a stream cannot be followed to a clean end.
#[derive(Clone, Debug, PartialEq)]
pub enum DecodeError {
    /// A frame is longer than the limit (in bytes).
    FrameTooLong(usize),
    /// A frame is not the JSON that it should be; its beginning.
    InvalidFrame(String),
    /// The server names an error, in the shape in which it does.
    ServerError(Value),
    /// The answer is one of another protocol, of this name.
    UnsupportedProtocol(&'static str),
    /// The bytes ended, and nothing in them was an event.
    NotAStream,
    /// There were no bytes, or only signs of life.
    Empty,
    /// The bytes ended before the answer did.
    Incomplete,
}

/// What the bytes are.
#[derive(Debug, Default)]
enum BodyFormat {
    /// Only white space has come.
    #[default]
    Unknown,
    /// Events.
    EventStream,
    /// One JSON object.
    WholeJson(Vec<u8>),
}

/// Takes the bytes of one answer, gives its events.
#[derive(Debug)]
pub struct Decoder {
    format: BodyFormat,
    max_frame_bytes: usize,
    frames: sse::SseDecoder,
    think_filter: ThinkFilter,
    calls: CallAssembler,
    /// Calls come in `tool_calls`, not in the older `function_call`.
    calls_in_list: bool,
    citations: CitationCollector,
    reasoning_details: DetailList,
    thinking_blocks: DetailList,
    usage: Option<Usage>,
    finish: Option<FinishReason>,
    /// Which of several answers is taken: the first that says something, since only one is asked for.
    choice_index: Option<u64>,
    /// A delta has said something.
    has_seen_delta: bool,
    /// A sound that came, as far as it can be told, and whether its words did.
    audio_note: Option<String>,
    has_transcript: bool,
    /// Names of pieces that could not be read.
    unreadable: Vec<String>,
    /// A sign of life was all that has come.
    has_keepalive: bool,
    /// Some event of the stream has been understood.
    has_begun: bool,
    ended: bool,
}

impl Decoder {
    /// A decoder that gives up at an SSE frame, or a whole answer, of more than `max_frame` bytes.
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
            has_keepalive: true,
            has_begun: false,
            ended: false,
        }
    }

    /// Whether [`ModelEvent::Finished`] has been given.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Whether the server has said why the model stopped: only its usage may still come.
    pub fn is_ending(&self) -> bool {
        self.finish.is_some()
    }

    /// Takes the next bytes and appends the events that they complete.
    ///
    /// # Errors
    ///
    /// [`Fault`]; the events before it have been given.
    pub fn push(&mut self, mut bytes: &[u8], events: &mut VecDeque<ModelEvent>) -> Result<(), DecodeError> {
        if let BodyFormat::Unknown = self.format {
            bytes = bytes.trim_ascii_start();
            let Some(first) = bytes.first() else {
                return Ok(());
            };
            self.has_keepalive = *first == b':';
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

    /// The bytes have ended.
    ///
    /// # Errors
    ///
    /// [`Fault::BrokeOff`] if the server did not say that the answer is whole.
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
        } else if self.has_keepalive {
            DecodeError::Empty
        } else {
            DecodeError::NotAStream
        })
    }

    /// The answer came in one piece.
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
            // Some servers end with this alone.
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

    /// Takes a chunk, which is `data` on the wire.
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
            // DeepSeek ran out of machines.
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
        // Some servers say "stop" when they ask for a tool.
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

/// The reason by the name that this protocol's servers give it. One that is not known is an end like any other.
fn parse_finish_reason(reason: &str) -> FinishReason {
    match reason {
        "max_tokens" | "model_length" => FinishReason::Length,
        "function_call" => FinishReason::ToolCalls,
        _ => FinishReason::from(reason.to_owned()),
    }
}
