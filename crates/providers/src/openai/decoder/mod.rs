//! A decoder from the chunks of a chat completion to model events.

mod delta;

use std::collections::VecDeque;

use serde_json::Value;

use super::{
    call_assembler::CallAssembler,
    citations::CitationCollector,
    reasoning_details::DetailList,
    unknown_content::{fields_beside_content, unknown_chunk_fields},
    wire::{Choice, Chunk},
    word_keeper::WordKeeper,
};
use crate::{
    think_tags::ThinkFilter,
    transport::{
        decoder::{DecodeError, EventDecoder},
        other_protocol::detect_other_protocol,
    },
    unreadable::UnreadablePieces,
};
use parlor_base::settings::EndpointKind;
use parlor_model::{FinishReason, ModelEvent, ReportedUsage, UnreadableContent};
use parlor_protocol::{Dollars, sse::SseFrame};

const KIND: EndpointKind = EndpointKind::OpenAi;

/// Decodes the chunks of one answer to events.
#[derive(Debug)]
pub struct ChunkDecoder {
    think_filter: ThinkFilter,
    calls: CallAssembler,
    /// True if calls arrive in `tool_calls`, not in the older `function_call`.
    calls_in_list: bool,
    citations: CitationCollector,
    reasoning_details: DetailList,
    thinking_blocks: DetailList,
    usage: Option<ReportedUsage>,
    finish: Option<FinishReason>,
    /// The index of the chosen answer: the first with content, since only one is requested.
    choice_index: Option<u64>,
    /// True if a delta had content.
    has_seen_delta: bool,
    /// A description of received audio, and the presence of its transcript.
    audio_note: Option<String>,
    has_transcript: bool,
    unreadable: UnreadablePieces,
    words: WordKeeper,
    /// True if an event of the stream was decoded.
    has_begun: bool,
    ended: bool,
}

impl Default for ChunkDecoder {
    fn default() -> Self {
        Self {
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
            unreadable: UnreadablePieces::default(),
            words: WordKeeper::default(),
            has_begun: false,
            ended: false,
        }
    }
}

impl EventDecoder for ChunkDecoder {
    fn has_begun(&self) -> bool {
        self.has_begun
    }

    fn has_ended(&self) -> bool {
        self.ended
    }

    fn is_ending(&self) -> bool {
        self.finish.is_some()
    }

    fn take_usage(&mut self) -> Option<ReportedUsage> {
        self.usage.take()
    }

    fn release_held(&mut self, events: &mut VecDeque<ModelEvent>) {
        self.words.release(events);
    }

    fn finish(&mut self, events: &mut VecDeque<ModelEvent>) {
        let mut decoded = VecDeque::new();
        match self.finish.take() {
            Some(reason) => self.push_finished(reason, &mut decoded),
            None => self.think_filter.finish(&mut decoded),
        }
        self.words.pass(decoded, events);
        self.words.release(events);
    }

    fn decode_whole(&mut self, text: &str, events: &mut VecDeque<ModelEvent>) -> Result<(), DecodeError> {
        self.ended = true;
        let chunk = match serde_json::from_str::<Chunk>(text) {
            Ok(chunk) => chunk,
            Err(error) if error.is_eof() => return Err(DecodeError::Incomplete),
            // Some protocols have an object on each line.
            Err(_) => {
                let first = text.lines().next().unwrap_or_default();
                return Err(detect_other_protocol(first, KIND).unwrap_or(DecodeError::NotAStream));
            }
        };
        if chunk.choices.is_none() && chunk.error.is_none() {
            return Err(detect_other_protocol(text, KIND).unwrap_or(DecodeError::NotAStream));
        }
        self.decode_chunk(chunk, text, events)?;
        let reason = self.finish.take().unwrap_or(FinishReason::Stop);
        self.push_finished(reason, events);
        Ok(())
    }

    fn decode_frame(
        &mut self,
        frame: &SseFrame,
        events: &mut VecDeque<ModelEvent>,
    ) -> Result<(), DecodeError> {
        let mut decoded = VecDeque::new();
        let result = self.decode_event(frame, &mut decoded);
        self.words.pass(decoded, events);
        result
    }
}

impl ChunkDecoder {
    fn decode_event(
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
        let chunk: Chunk = serde_json::from_str(data).map_err(|_| DecodeError::invalid_frame(data))?;
        if !self.has_begun
            && chunk.choices.is_none()
            && let Some(fault) = detect_other_protocol(data, KIND)
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
            self.usage = Some(ReportedUsage {
                input_tokens: usage.prompt_tokens,
                output_tokens: usage.output_tokens(),
                cost: usage.cost.and_then(Dollars::from_f64),
                cached_input_tokens: usage.prompt_tokens_details.cached_tokens,
                cache_write_tokens: usage.prompt_tokens_details.cache_write_tokens,
                thinking_tokens: usage.completion_tokens_details.reasoning_tokens,
                image_input_tokens: usage.prompt_tokens_details.image_tokens,
                image_output_tokens: usage.completion_tokens_details.image_tokens,
            });
        }
        let sources = self.citations.take_lists(chunk.citations, chunk.search_results);
        events.extend(sources.map(ModelEvent::Sources));
        let choices = chunk.choices.unwrap_or_default();
        if choices.is_empty() && chunk.error.is_none() {
            self.push_unknown(unknown_chunk_fields(data), events);
        }
        for choice in choices {
            match self.choice_index {
                None if choice.is_empty() => self.push_unknown_fields(data, events),
                None => self.choice_index = Some(choice.index),
                Some(index) if index == choice.index => {}
                Some(_) => {
                    let what = UnreadableContent::Unknown(format!("choice {}", choice.index));
                    self.unreadable.push(what, data, events);
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
            self.push_unknown(fields_beside_content(data), events);
        }
        // A message that repeats the deltas may be the first to have the sources.
        let late = choice.message.and_then(|message| message.annotations);
        let sources = late.and_then(|annotations| self.citations.take_annotations(annotations));
        events.extend(sources.map(ModelEvent::Sources));
        if let Some(error) = choice.error.filter(|error| !error.is_null()) {
            return Err(DecodeError::ServerError(error));
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
        events.extend(self.usage.take().map(ModelEvent::Usage));
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

/// Returns the reason for this protocol's name of it. An unknown name is an ordinary end.
fn parse_finish_reason(reason: &str) -> FinishReason {
    match reason {
        "max_tokens" | "model_length" => FinishReason::Length,
        "function_call" => FinishReason::ToolCalls,
        _ => FinishReason::from(reason.to_owned()),
    }
}
