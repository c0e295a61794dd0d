//! Bytes of a chat completion in, model events out: a stream of chunks, or, from a server that does not stream, the whole answer as
//! JSON. No I/O: the adapter and the tests feed it.

mod delta;

use std::collections::VecDeque;

use serde_json::Value;

use super::{
    calls::Calls,
    cited::Cited,
    details::Details,
    others::protocol_of,
    wire::{Choice, Chunk},
};
use crate::{
    model::{Cost, FinishReason, ModelEvent, Unread, Usage},
    protocol::sse::{self, Frame},
    providers::think::ThinkFilter,
};

/// Why a stream cannot be followed to a clean end.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// A frame is longer than the limit (in bytes).
    FrameTooLong(usize),
    /// A frame is not the JSON that it should be; its beginning.
    BadFrame(String),
    /// The server names an error, in the shape in which it does.
    Error(Value),
    /// The answer is one of another protocol, of this name.
    OtherProtocol(&'static str),
    /// The bytes ended, and nothing in them was an event.
    NotAStream,
    /// There were no bytes, or only signs of life.
    Nothing,
    /// The bytes ended before the answer did.
    BrokeOff,
}

/// What the bytes are.
#[derive(Debug, Default)]
enum Shape {
    /// Only white space has come.
    #[default]
    Unknown,
    /// Events.
    Stream,
    /// One JSON object.
    Whole(Vec<u8>),
}

/// Takes the bytes of one answer, gives its events.
#[derive(Debug)]
pub struct Decoder {
    shape: Shape,
    max_frame: usize,
    frames: sse::Decoder,
    think: ThinkFilter,
    calls: Calls,
    /// Calls come in `tool_calls`, not in the older `function_call`.
    calls_in_list: bool,
    cited: Cited,
    reasoning_details: Details,
    thinking_blocks: Details,
    usage: Option<Usage>,
    finish: Option<FinishReason>,
    /// Which of several answers is taken: the first that says something, since only one is asked for.
    choice: Option<u64>,
    /// A delta has said something.
    had_deltas: bool,
    /// A sound that came, as far as it can be told, and whether its words did.
    sound: Option<String>,
    has_transcript: bool,
    /// Names of pieces that could not be read.
    unread: Vec<String>,
    /// A sign of life was all that has come.
    is_comment: bool,
    /// Some event of the stream has been understood.
    begun: bool,
    ended: bool,
}

impl Decoder {
    /// A decoder that gives up at an SSE frame, or a whole answer, of more than `max_frame` bytes.
    pub fn new(max_frame: usize) -> Self {
        Self {
            shape: Shape::Unknown,
            max_frame,
            frames: sse::Decoder::new(max_frame),
            think: ThinkFilter::default(),
            calls: Calls::default(),
            calls_in_list: false,
            cited: Cited::default(),
            reasoning_details: Details::new("reasoning_details"),
            thinking_blocks: Details::new("thinking_blocks"),
            usage: None,
            finish: None,
            choice: None,
            had_deltas: false,
            sound: None,
            has_transcript: false,
            unread: Vec::new(),
            is_comment: true,
            begun: false,
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
    pub fn push(&mut self, mut bytes: &[u8], events: &mut VecDeque<ModelEvent>) -> Result<(), Fault> {
        if let Shape::Unknown = self.shape {
            bytes = bytes.trim_ascii_start();
            let Some(first) = bytes.first() else {
                return Ok(());
            };
            self.is_comment = *first == b':';
            self.shape = match first {
                b'{' => Shape::Whole(Vec::new()),
                _ => Shape::Stream,
            };
        }
        if let Shape::Whole(whole) = &mut self.shape {
            whole.extend_from_slice(bytes);
            return match whole.len() > self.max_frame {
                true => Err(Fault::FrameTooLong(self.max_frame)),
                false => Ok(()),
            };
        }
        let mut frames = Vec::new();
        let result = self.frames.push(bytes, &mut frames);
        for frame in frames {
            if !self.ended {
                self.frame(&frame, events)?;
            }
        }
        result.map_err(|error| Fault::FrameTooLong(error.limit))
    }

    /// The bytes have ended.
    ///
    /// # Errors
    ///
    /// [`Fault::BrokeOff`] if the server did not say that the answer is whole.
    pub fn end(&mut self, events: &mut VecDeque<ModelEvent>) -> Result<(), Fault> {
        if let Shape::Whole(whole) = std::mem::take(&mut self.shape) {
            return self.whole(&whole, events);
        }
        if self.ended {
            return Ok(());
        }
        if let Some(reason) = self.finish.take() {
            self.finished(reason, events);
            return Ok(());
        }
        self.think.finish(events);
        self.ended = true;
        Err(if self.begun {
            Fault::BrokeOff
        } else if self.is_comment {
            Fault::Nothing
        } else {
            Fault::NotAStream
        })
    }

    /// The answer came in one piece.
    fn whole(&mut self, json: &[u8], events: &mut VecDeque<ModelEvent>) -> Result<(), Fault> {
        self.ended = true;
        let text = String::from_utf8_lossy(json);
        let chunk = match serde_json::from_str::<Chunk>(&text) {
            Ok(chunk) => chunk,
            Err(error) if error.is_eof() => return Err(Fault::BrokeOff),
            // Some protocols have an object on each line.
            Err(_) => {
                return Err(
                    other_protocol(text.lines().next().unwrap_or_default()).unwrap_or(Fault::NotAStream)
                );
            }
        };
        if chunk.choices.is_none() && chunk.error.is_none() {
            return Err(other_protocol(&text).unwrap_or(Fault::NotAStream));
        }
        self.chunk(chunk, &text, events)?;
        let reason = self.finish.take().unwrap_or(FinishReason::Stop);
        self.finished(reason, events);
        Ok(())
    }

    fn frame(&mut self, frame: &Frame, events: &mut VecDeque<ModelEvent>) -> Result<(), Fault> {
        let data = frame.data.trim();
        if data == "[DONE]" {
            // Some servers end with this alone.
            let reason = self.finish.take().unwrap_or(FinishReason::Stop);
            self.finished(reason, events);
            return Ok(());
        }
        if frame.event.as_deref() == Some("error") {
            return Err(Fault::Error(
                serde_json::from_str(data).unwrap_or_else(|_| data.into()),
            ));
        }
        if data.is_empty() {
            return Ok(());
        }
        let chunk: Chunk =
            serde_json::from_str(data).map_err(|_| Fault::BadFrame(data.chars().take(120).collect()))?;
        if !self.begun
            && chunk.choices.is_none()
            && let Some(fault) = other_protocol(data)
        {
            return Err(fault);
        }
        self.begun = true;
        self.chunk(chunk, data, events)
    }

    /// Takes a chunk, which is `data` on the wire.
    fn chunk(&mut self, chunk: Chunk, data: &str, events: &mut VecDeque<ModelEvent>) -> Result<(), Fault> {
        if let Some(usage) = chunk.usage {
            self.usage = Some(Usage {
                input_tokens: usage.prompt_tokens,
                output_tokens: usage.completion_tokens,
                cost: usage.cost.and_then(Cost::from_dollars),
            });
        }
        let sources = self.cited.lists(chunk.citations, chunk.search_results);
        events.extend(sources.map(ModelEvent::Sources));
        for choice in chunk.choices.unwrap_or_default() {
            match self.choice {
                None if choice.is_silent() => self.unknown(data, events),
                None => self.choice = Some(choice.index),
                Some(index) if index == choice.index => {}
                Some(_) => {
                    self.cannot_read(Unread::Unknown(format!("choice {}", choice.index)), data, events);
                    continue;
                }
            }
            self.take(choice, data, chunk.error.is_some(), events)?;
        }
        match chunk.error {
            None | Some(Value::Null) => Ok(()),
            Some(error) => Err(Fault::Error(error)),
        }
    }

    fn take(
        &mut self,
        mut choice: Choice,
        data: &str,
        has_error: bool,
        events: &mut VecDeque<ModelEvent>,
    ) -> Result<(), Fault> {
        let is_delta = choice.delta.as_ref().is_some_and(|delta| !delta.is_silent());
        let delta = choice.take_delta(self.had_deltas);
        self.had_deltas |= is_delta;
        if delta.is_silent() {
            if self.choice.is_some() && choice.finish_reason.is_none() {
                self.unknown(data, events);
            }
        } else {
            self.delta(delta, data, events);
        }
        match choice.finish_reason.as_deref() {
            None | Some("") => {}
            Some("error") if !has_error => {
                return Err(Fault::Error("the model server gave up on this answer".into()));
            }
            // DeepSeek ran out of machines.
            Some("insufficient_system_resource") => {
                return Err(Fault::Error("overloaded: insufficient system resource".into()));
            }
            Some(reason) => self.finish = Some(finish_reason(reason)),
        }
        Ok(())
    }

    fn finished(&mut self, reason: FinishReason, events: &mut VecDeque<ModelEvent>) {
        self.think.finish(events);
        if let Some(raw) = self.sound.take().filter(|_| !self.has_transcript) {
            let what = Unread::Audio;
            events.push_back(ModelEvent::Unread { what, raw });
        }
        events.extend(self.reasoning_details.finish());
        events.extend(self.thinking_blocks.finish());
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

fn other_protocol(data: &str) -> Option<Fault> {
    let json = serde_json::from_str::<Value>(data).ok()?;
    protocol_of(&json).map(Fault::OtherProtocol)
}

/// The reason by the name that this protocol's servers give it. One that is not known is an end like any other.
fn finish_reason(reason: &str) -> FinishReason {
    match reason {
        "max_tokens" | "model_length" => FinishReason::Length,
        "function_call" => FinishReason::ToolCalls,
        _ => FinishReason::from(reason.to_owned()),
    }
}
