//! A decoder from the events of a response to model events.

use super::{
    PROVIDER_KIND,
    finish::{incomplete_reason, to_error_value},
    items::{ItemState, ItemTable},
    phase::phase_mark,
    wire::{Annotation, ContentPart, OutputItem, Response, StreamEvent},
};
use crate::{
    answer::Answer,
    transport::{
        event_decoder::{DecodeError, EventDecoder, check_error, frame_data, parse_frame, parse_whole},
        other_protocol::foreign_answer,
    },
};
use parlor_base::settings::EndpointKind;
use parlor_model::{FinishReason, UnreadableContent, lenient_json};
use parlor_protocol::{RawJson, sse::SseFrame};

const KIND: EndpointKind = EndpointKind::OpenAiResponses;

/// Decodes the events of one response.
#[derive(Debug)]
pub struct ResponseDecoder {
    items: ItemTable,
    /// True if there was audio, and its transcript.
    has_audio: bool,
    has_transcript: bool,
    /// The last paragraph of a summary: its item and its position.
    last_summary: Option<(u64, u64)>,
    answer: Answer,
}

impl Default for ResponseDecoder {
    fn default() -> Self {
        Self {
            items: ItemTable::default(),
            has_audio: false,
            has_transcript: false,
            last_summary: None,
            answer: Answer::new(PROVIDER_KIND),
        }
    }
}

impl EventDecoder for ResponseDecoder {
    fn answer(&self) -> &Answer {
        &self.answer
    }

    fn answer_mut(&mut self) -> &mut Answer {
        &mut self.answer
    }

    fn decode_frame(&mut self, frame: &SseFrame) -> Result<(), DecodeError> {
        let Some(data) = frame_data(frame) else {
            return Ok(());
        };
        let event: StreamEvent = parse_frame(data)?;
        if event.kind == "error" || frame.event.as_deref() == Some("error") {
            return Err(DecodeError::ServerError(to_error_value(event)));
        }
        let is_own = event.kind.starts_with("response.");
        if !self.answer.has_begun && !is_own {
            check_error(event.error.clone())?;
        }
        self.answer.note_frame(is_own, data, KIND)?;
        self.decode_event(event, data)
    }

    fn decode_whole(&mut self, json: &str) -> Result<(), DecodeError> {
        let response: Response = parse_whole(json)?;
        if response.object != "response" && response.error.is_none() {
            return Err(foreign_answer(json, KIND));
        }
        self.end_response(response)
    }
}

impl ResponseDecoder {
    fn decode_event(&mut self, event: StreamEvent, data: &str) -> Result<(), DecodeError> {
        let index = self.items.locate(&event);
        let delta = event.delta.unwrap_or_default();
        match event.kind.as_str() {
            "response.output_item.added" => {
                if let Some(item) = event.item {
                    self.begin_item(index, &item);
                }
            }
            "response.output_item.done" => {
                if let Some(item) = event.item {
                    self.begin_item(index, &item);
                    self.end_item(index, &item);
                }
            }
            "response.output_text.delta" | "response.refusal.delta" => {
                self.push_text(index, &delta);
            }
            "response.reasoning_summary_text.delta" => {
                // The paragraphs of a summary.
                let place = (index, event.summary_index);
                let is_next = self
                    .last_summary
                    .is_some_and(|(item, last)| item == index && last != place.1);
                self.last_summary = Some(place);
                let gap = if is_next { "\n\n" } else { "" };
                self.push_thinking(index, &format!("{gap}{delta}"));
            }
            "response.reasoning_text.delta" => self.push_thinking(index, &delta),
            "response.audio.transcript.delta" | "response.output_audio_transcript.delta" => {
                self.has_transcript = true;
                self.push_text(index, &delta);
            }
            "response.audio.delta" | "response.output_audio.delta" => self.has_audio = true,
            "response.function_call_arguments.delta" => self.push_arguments(index, delta),
            "response.function_call_arguments.done" => {
                let has_arguments = self.items.get(index).is_some_and(|item| item.has_arguments);
                if let Some(arguments) = event.arguments.filter(|_| !has_arguments) {
                    self.push_arguments(index, arguments);
                }
            }
            "response.output_text.annotation.added" => {
                self.add_source(event.annotation.unwrap_or_default());
            }
            "response.content_part.done" => {
                for annotation in event.part.unwrap_or_default().annotations {
                    self.add_source(annotation);
                }
            }
            "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled" => {
                let response = event
                    .response
                    .and_then(|raw| lenient_json::parse(raw.as_str()).ok());
                return self.end_response(response.unwrap_or_default());
            }
            kind if kind.ends_with(".delta") => self.answer.push_unknown(kind, data),
            _ => {}
        }
        Ok(())
    }

    /// Begins an item, unless it has begun.
    fn begin_item(&mut self, index: u64, raw: &RawJson) {
        let item: OutputItem = lenient_json::parse(raw.as_str()).unwrap_or_default();
        if let Some(state) = self.items.get_mut(index) {
            // Its text may have come before it.
            if state.kind.is_empty() {
                (state.id, state.kind) = (item.id, item.kind);
            }
            return;
        }
        self.answer.release_bare_call();
        if item.kind == "message" {
            self.answer.end_paragraph();
        }
        let mut state = ItemState {
            id: item.id,
            kind: item.kind.clone(),
            ..ItemState::default()
        };
        // A call may begin and end before the reasoning that led to it has ended.
        if item.kind == "reasoning" {
            state.place = Some(self.answer.open_block());
        }
        if item.kind == "function_call" {
            state.call = Some(self.answer.begin_call(item.call_id, item.name));
        }
        self.items.insert(index, state);
    }

    /// Ends an item: adds what has not arrived in parts, and keeps what the server needs back.
    fn end_item(&mut self, index: u64, raw: &RawJson) {
        let item: OutputItem = lenient_json::parse(raw.as_str()).unwrap_or_default();
        let Some(state) = self.items.get_mut(index) else {
            return;
        };
        if std::mem::replace(&mut state.is_done, true) {
            return;
        }
        let ItemState {
            place,
            call,
            has_arguments,
            has_text,
            has_thinking,
            ..
        } = *state;
        match item.kind.as_str() {
            "message" => {
                for part in item.content {
                    self.end_message_part(index, part, has_text, raw);
                }
                if !item.phase.is_empty() && self.items.get(index).is_some_and(|state| state.has_text) {
                    self.answer.push_block(&phase_mark(&item.phase));
                }
            }
            "reasoning" => {
                if !has_thinking {
                    let parts = if item.summary.is_empty() {
                        item.content
                    } else {
                        item.summary
                    };
                    let texts: Vec<String> = parts.into_iter().map(|part| part.text).collect();
                    self.push_thinking(index, &texts.join("\n\n"));
                }
                // The server has no other copy of it.
                if item.encrypted_content.is_some_and(|content| !content.is_empty()) {
                    self.answer.close_block(place, raw);
                } else if let Some(place) = place {
                    self.answer.give_up_block(place);
                }
            }
            "function_call" => {
                let arguments = item.arguments.filter(|arguments| !arguments.is_empty());
                match arguments.filter(|_| !has_arguments) {
                    Some(arguments) => self.push_arguments(index, arguments),
                    None if has_arguments || item.status == "incomplete" => {}
                    None => {
                        if let Some(call) = call {
                            self.answer.end_bare_call(call, "{}".into());
                        }
                    }
                }
            }
            "image_generation_call" => self.answer.push_image(raw.as_str()),
            // The server's own tools. Reasoning refers to them.
            kind if kind.ends_with("_call") => self.answer.push_tool_block(raw),
            kind => self.answer.push_unknown(kind, raw.as_str()),
        }
    }

    fn end_message_part(&mut self, index: u64, part: ContentPart, has_text: bool, raw: &RawJson) {
        if !has_text {
            for text in [&part.text, &part.refusal, &part.transcript] {
                self.push_text(index, text);
            }
        }
        if part.is_image() {
            self.answer.push_image(raw.as_str());
        } else if part.kind.contains("audio") {
            self.has_audio = true;
            self.has_transcript |= !part.transcript.is_empty();
        } else if !part.is_text() {
            self.answer.push_unknown(part.kind, raw.as_str());
        }
        for annotation in part.annotations {
            self.add_source(annotation);
        }
    }

    fn push_text(&mut self, index: u64, text: &str) {
        if !text.is_empty() {
            self.items.get_or_begin(index).has_text = true;
            self.answer.push_text(text);
        }
    }

    fn push_thinking(&mut self, index: u64, text: &str) {
        if !text.is_empty() {
            self.items.get_or_begin(index).has_thinking = true;
            self.answer.push_thinking(text);
        }
    }

    fn push_arguments(&mut self, index: u64, delta: String) {
        let Some(item) = self.items.get_mut(index).filter(|_| !delta.is_empty()) else {
            return;
        };
        item.has_arguments = true;
        if let Some(call) = item.call {
            self.answer.push_arguments(call, delta);
        }
    }

    fn add_source(&mut self, annotation: Annotation) {
        let title = annotation.title.as_deref();
        match annotation.url.trim().is_empty() {
            true => self.answer.add_document([
                &*annotation.filename,
                title.unwrap_or_default(),
                &annotation.file_id,
            ]),
            false => self.answer.add_page(&annotation.url, title),
        }
    }

    fn end_response(&mut self, response: Response) -> Result<(), DecodeError> {
        if self.items.is_empty() {
            // The server does not stream, or sends the items only here.
            for (index, item) in (0..).zip(response.output.iter().flatten()) {
                self.begin_item(index, item);
                self.end_item(index, item);
            }
        }
        self.answer.close();
        if self.has_audio && !self.has_transcript {
            self.answer.push_unreadable(UnreadableContent::Audio, "");
        }
        self.answer.usage = response.usage.map(|usage| usage.to_usage());
        check_error(response.error)?;
        let reason = match response.status.as_str() {
            "failed" | "cancelled" => {
                let what = format!("the model server gave up on this answer ({})", response.status);
                return Err(DecodeError::ServerError(what.into()));
            }
            "incomplete" => incomplete_reason(&response.incomplete_details.reason),
            _ => FinishReason::Stop,
        };
        self.answer.end(reason);
        Ok(())
    }
}
