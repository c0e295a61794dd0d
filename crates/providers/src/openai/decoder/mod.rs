//! A decoder from the chunks of a chat completion to model events.

mod delta;

use super::{
    PROVIDER_KIND,
    call_assembler::CallAssembler,
    citations::CitationCollector,
    reasoning_details::DetailList,
    unknown_content::{fields_beside_content, unknown_chunk_fields},
    wire::{Choice, Chunk},
    word_keeper::WordKeeper,
};
use crate::{
    answer::Answer,
    transport::{
        event_decoder::{DecodeError, EventDecoder, check_error, check_frame_name, parse_frame, parse_whole},
        other_protocol::foreign_answer,
    },
};
use parlor_base::settings::EndpointKind;
use parlor_model::{FinishReason, ModelEvent, ReportedUsage, UnreadableContent};
use parlor_protocol::{Dollars, sse::SseFrame};

const KIND: EndpointKind = EndpointKind::OpenAi;

/// Decodes the chunks of one answer to events.
#[derive(Debug)]
pub struct ChunkDecoder {
    answer: Answer,
    calls: CallAssembler,
    /// True if calls arrive in `tool_calls`, not in the older `function_call`.
    calls_in_list: bool,
    citations: CitationCollector,
    reasoning_details: DetailList,
    thinking_blocks: DetailList,
    /// The index of the chosen answer: the first with content, since only one is requested.
    choice_index: Option<u64>,
    /// True if a delta had content.
    has_seen_delta: bool,
    /// A description of received audio, and the presence of its transcript.
    audio_note: Option<String>,
    has_transcript: bool,
    words: WordKeeper,
}

impl Default for ChunkDecoder {
    fn default() -> Self {
        Self {
            answer: Answer::new(PROVIDER_KIND),
            calls: CallAssembler::default(),
            calls_in_list: false,
            citations: CitationCollector::default(),
            reasoning_details: DetailList::new("reasoning_details"),
            thinking_blocks: DetailList::new("thinking_blocks"),
            choice_index: None,
            has_seen_delta: false,
            audio_note: None,
            has_transcript: false,
            words: WordKeeper::default(),
        }
    }
}

impl EventDecoder for ChunkDecoder {
    fn answer(&self) -> &Answer {
        &self.answer
    }

    fn answer_mut(&mut self) -> &mut Answer {
        &mut self.answer
    }

    fn decode_frame(&mut self, frame: &SseFrame) -> Result<(), DecodeError> {
        let result = self.decode_event(frame);
        self.keep_words();
        result
    }

    fn decode_whole(&mut self, text: &str) -> Result<(), DecodeError> {
        let chunk: Chunk = parse_whole(text).map_err(|error| match error {
            // Some protocols have an object on each line.
            DecodeError::NotAStream => foreign_answer(text.lines().next().unwrap_or_default(), KIND),
            error => error,
        })?;
        if chunk.choices.is_none() && chunk.error.is_none() {
            return Err(foreign_answer(text, KIND));
        }
        self.decode_chunk(chunk, text)?;
        self.end();
        Ok(())
    }

    fn end(&mut self) {
        let reason = self.answer.take_reason();
        self.answer.flush();
        if let Some(raw) = self.audio_note.take().filter(|_| !self.has_transcript) {
            let what = UnreadableContent::Audio;
            self.answer.events.push_back(ModelEvent::Unreadable { what, raw });
        }
        for details in [&mut self.reasoning_details, &mut self.thinking_blocks] {
            self.answer.events.extend(details.take_event());
        }
        self.answer.calls = self.calls.len();
        self.answer.end(reason);
    }

    fn release_held(&mut self) {
        self.keep_words();
        self.words.release(&mut self.answer.events);
    }
}

impl ChunkDecoder {
    /// Moves thinking between words.
    fn keep_words(&mut self) {
        let decoded = std::mem::take(&mut self.answer.events);
        self.words.pass(decoded, &mut self.answer.events);
    }

    fn decode_event(&mut self, frame: &SseFrame) -> Result<(), DecodeError> {
        let data = frame.data.trim();
        if data == "[DONE]" {
            // Some servers end with only this marker.
            self.end();
            return Ok(());
        }
        check_frame_name(frame, data)?;
        if data.is_empty() {
            return Ok(());
        }
        let chunk: Chunk = parse_frame(data)?;
        self.answer.note_frame(chunk.choices.is_some(), data, KIND)?;
        self.answer.has_begun = true;
        self.decode_chunk(chunk, data)
    }

    /// Decodes a chunk. `data` is its raw text.
    fn decode_chunk(&mut self, chunk: Chunk, data: &str) -> Result<(), DecodeError> {
        if let Some(usage) = chunk.usage {
            self.answer.usage = Some(ReportedUsage {
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
        self.answer.events.extend(sources.map(ModelEvent::Sources));
        let choices = chunk.choices.unwrap_or_default();
        if choices.is_empty() && chunk.error.is_none() {
            self.push_unknown(unknown_chunk_fields(data));
        }
        for choice in choices {
            match self.choice_index {
                None if choice.is_empty() => self.push_unknown_fields(data),
                None => self.choice_index = Some(choice.index),
                Some(index) if index == choice.index => {}
                Some(_) => {
                    self.answer.push_unknown(format!("choice {}", choice.index), data);
                    continue;
                }
            }
            self.decode_choice(choice, data, chunk.error.is_some())?;
        }
        check_error(chunk.error)
    }

    fn decode_choice(&mut self, mut choice: Choice, data: &str, has_error: bool) -> Result<(), DecodeError> {
        let is_delta = choice.delta.as_ref().is_some_and(|delta| !delta.is_empty());
        let delta = choice.take_delta(self.has_seen_delta);
        self.has_seen_delta |= is_delta;
        if delta.is_empty() {
            if self.choice_index.is_some() && choice.finish_reason.is_none() {
                self.push_unknown_fields(data);
            }
        } else {
            self.decode_delta(delta, data);
            self.push_unknown(fields_beside_content(data));
        }
        // A message that repeats the deltas may be the first to have the sources.
        let late = choice.message.and_then(|message| message.annotations);
        let sources = late.and_then(|annotations| self.citations.take_annotations(annotations));
        self.answer.events.extend(sources.map(ModelEvent::Sources));
        check_error(choice.error)?;
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
            Some(reason) => self.answer.finish = Some(parse_finish_reason(reason)),
        }
        Ok(())
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
