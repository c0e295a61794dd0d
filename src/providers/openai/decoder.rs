//! Bytes of a streamed chat completion in, model events out. No I/O: the adapter and the tests feed it.

use std::collections::VecDeque;

use serde_json::Value;

use super::wire::{Chunk, Content, ContentPart, Delta, Thinking, ToolCall};
use crate::{
    protocol::sse::{self, Frame},
    providers::{Cost, FinishReason, ModelEvent, Usage, think::ThinkFilter},
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
    /// The bytes ended, and nothing in them was an event.
    NotAStream,
    /// The bytes ended before the answer did.
    BrokeOff,
}

/// Takes the bytes of one answer, gives its events.
#[derive(Debug)]
pub struct Decoder {
    frames: sse::Decoder,
    think: ThinkFilter,
    calls: Vec<Call>,
    usage: Option<Usage>,
    finish: Option<FinishReason>,
    /// Some event of the stream has been understood.
    begun: bool,
    ended: bool,
}

/// A tool call that has begun. Its place in the list is its index in the events.
#[derive(Debug)]
struct Call {
    wire_index: Option<u64>,
    wire_id: Option<String>,
    /// What came before the name.
    waiting: Option<String>,
}

impl Decoder {
    /// A decoder that gives up at an SSE frame of more than `max_frame` bytes.
    pub fn new(max_frame: usize) -> Self {
        Self {
            frames: sse::Decoder::new(max_frame),
            think: ThinkFilter::default(),
            calls: Vec::new(),
            usage: None,
            finish: None,
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
    pub fn push(&mut self, bytes: &[u8], events: &mut VecDeque<ModelEvent>) -> Result<(), Fault> {
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
        match self.finish {
            _ if self.ended => Ok(()),
            Some(reason) => {
                self.finished(reason, events);
                Ok(())
            }
            None => {
                self.think.finish(events);
                self.ended = true;
                Err(if self.begun {
                    Fault::BrokeOff
                } else {
                    Fault::NotAStream
                })
            }
        }
    }

    fn frame(&mut self, frame: &Frame, events: &mut VecDeque<ModelEvent>) -> Result<(), Fault> {
        let data = frame.data.trim();
        if data == "[DONE]" {
            // Some servers end with this alone.
            self.finished(self.finish.unwrap_or(FinishReason::Stop), events);
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
        self.begun = true;
        self.chunk(chunk, events)
    }

    fn chunk(&mut self, chunk: Chunk, events: &mut VecDeque<ModelEvent>) -> Result<(), Fault> {
        if let Some(usage) = chunk.usage {
            self.usage = Some(Usage {
                input_tokens: usage.prompt_tokens,
                output_tokens: usage.completion_tokens,
                cost: usage.cost.and_then(Cost::from_dollars),
            });
        }
        // Only one answer is asked for.
        for choice in chunk.choices.into_iter().filter(|choice| choice.index == 0) {
            self.delta(choice.delta, events);
            match choice.finish_reason.as_deref() {
                None | Some("") => {}
                Some("error") if chunk.error.is_none() => {
                    return Err(Fault::Error("the model server gave up on this answer".into()));
                }
                // DeepSeek ran out of machines.
                Some("insufficient_system_resource") => {
                    return Err(Fault::Error("overloaded: insufficient system resource".into()));
                }
                Some(reason) => self.finish = Some(finish_reason(reason)),
            }
        }
        match chunk.error {
            None | Some(Value::Null) => Ok(()),
            Some(error) => Err(Fault::Error(error)),
        }
    }

    fn delta(&mut self, mut delta: Delta, events: &mut VecDeque<ModelEvent>) {
        if let Some(reasoning) = delta.take_reasoning() {
            events.push_back(ModelEvent::Thinking(reasoning));
        }
        match delta.content {
            Some(Content::Text(text)) => self.think.push(&text, events),
            Some(Content::Parts(parts)) => self.parts(parts, events),
            Some(Content::Other(_)) | None => {}
        }
        if let Some(refusal) = delta.refusal {
            self.think.push(&refusal, events);
        }
        for call in delta.tool_calls {
            // What the filter holds was said before the call.
            self.think.finish(events);
            self.tool_call(call, events);
        }
    }

    fn parts(&mut self, parts: Vec<ContentPart>, events: &mut VecDeque<ModelEvent>) {
        for part in parts {
            let thinking = match part.thinking {
                Some(Thinking::Text(text)) => text,
                Some(Thinking::Parts(parts)) => parts.into_iter().filter_map(|part| part.text).collect(),
                Some(Thinking::Other(_)) | None => String::new(),
            };
            if !thinking.is_empty() {
                events.push_back(ModelEvent::Thinking(thinking));
            }
            if let Some(text) = part.text {
                self.think.push(&text, events);
            }
        }
    }

    fn tool_call(&mut self, mut fragment: ToolCall, events: &mut VecDeque<ModelEvent>) {
        let id = fragment.id.take().filter(|id| !id.is_empty());
        let name = fragment.function.name.take().filter(|name| !name.is_empty());
        let arguments = fragment.function.take_arguments();

        let index = self.call_of(fragment.index, id.as_deref(), name.is_some());
        let call = &mut self.calls[index];
        call.wire_id = call.wire_id.take().or(id);
        if let Some(waiting) = &mut call.waiting {
            waiting.push_str(&arguments);
            let Some(name) = name else { return };
            let delta = std::mem::take(waiting);
            call.waiting = None;
            let id = call.wire_id.clone().unwrap_or_else(|| format!("call_{index}"));
            events.push_back(ModelEvent::ToolCall { index, id, name });
            if !delta.is_empty() {
                events.push_back(ModelEvent::ToolArguments { index, delta });
            }
        } else if !arguments.is_empty() {
            events.push_back(ModelEvent::ToolArguments {
                index,
                delta: arguments,
            });
        }
    }

    /// Which call a fragment belongs to. Some servers leave out the index, some say 0 for each of several calls.
    fn call_of(&mut self, wire_index: Option<u64>, id: Option<&str>, named: bool) -> usize {
        let found = match wire_index {
            Some(_) => self.calls.iter().rposition(|call| call.wire_index == wire_index),
            None if id.is_some() => self.calls.iter().rposition(|call| call.wire_id.as_deref() == id),
            None if named => None,
            None => self.calls.len().checked_sub(1),
        };
        let same = found.filter(|&index| match (id, &self.calls[index].wire_id) {
            (Some(id), Some(known)) => id == known,
            _ => true,
        });
        same.unwrap_or_else(|| {
            self.calls.push(Call {
                wire_index,
                wire_id: None,
                waiting: Some(String::new()),
            });
            self.calls.len() - 1
        })
    }

    fn finished(&mut self, reason: FinishReason, events: &mut VecDeque<ModelEvent>) {
        self.think.finish(events);
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

/// A reason that is not known yet is an end like any other.
fn finish_reason(reason: &str) -> FinishReason {
    match reason {
        "length" | "max_tokens" | "model_length" => FinishReason::Length,
        "tool_calls" | "function_call" => FinishReason::ToolCalls,
        "content_filter" => FinishReason::ContentFilter,
        _ => FinishReason::Stop,
    }
}
