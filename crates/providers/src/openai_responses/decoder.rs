//! A decoder from the events of a response to model events.

use std::collections::VecDeque;

use super::{
    PROVIDER_KIND,
    finish::{incomplete_reason, to_error_value},
    items::{ItemState, ItemTable},
    phase::phase_mark,
    wire::{Annotation, ContentPart, OutputItem, Response, StreamEvent},
};
use crate::{
    answer_layout::LayoutRecorder,
    images::image_event,
    sources::CitedPages,
    transport::{
        decoder::{DecodeError, EventDecoder},
        other_protocol::detect_other_protocol,
    },
    unreadable::UnreadablePieces,
};
use parlor_base::settings::EndpointKind;
use parlor_model::{FinishReason, ModelEvent, UnreadableContent, lenient_json};
use parlor_protocol::{RawJson, sse::SseFrame};

const KIND: EndpointKind = EndpointKind::OpenAiResponses;

/// Decodes the events of one response.
#[derive(Debug)]
pub struct ResponseDecoder {
    items: ItemTable,
    /// True if there was audio, and its transcript.
    has_audio: bool,
    has_transcript: bool,
    layout: LayoutRecorder,
    /// The number of calls so far.
    calls: usize,
    /// The index of the ended call without arguments. Only what follows tells whether it was cut off.
    bare_call: Option<usize>,
    /// The last paragraph of a summary: its item and its position.
    last_summary: Option<(u64, u64)>,
    sources: CitedPages,
    unreadable: UnreadablePieces,
    has_begun: bool,
    has_ended: bool,
}

impl Default for ResponseDecoder {
    fn default() -> Self {
        Self {
            items: ItemTable::default(),
            has_audio: false,
            has_transcript: false,
            layout: LayoutRecorder::new(PROVIDER_KIND),
            calls: 0,
            bare_call: None,
            last_summary: None,
            sources: CitedPages::default(),
            unreadable: UnreadablePieces::default(),
            has_begun: false,
            has_ended: false,
        }
    }
}

impl EventDecoder for ResponseDecoder {
    fn decode_frame(
        &mut self,
        frame: &SseFrame,
        events: &mut VecDeque<ModelEvent>,
    ) -> Result<(), DecodeError> {
        let data = frame.data.trim();
        if data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        let event: StreamEvent = serde_json::from_str(data).map_err(|_| DecodeError::invalid_frame(data))?;
        if event.kind == "error" || frame.event.as_deref() == Some("error") {
            return Err(DecodeError::ServerError(to_error_value(event)));
        }
        let is_own = event.kind.starts_with("response.");
        if !self.has_begun && !is_own {
            if let Some(error) = event.error.clone().filter(|error| !error.is_null()) {
                return Err(DecodeError::ServerError(error));
            }
            if let Some(other) = detect_other_protocol(data, KIND) {
                return Err(other);
            }
        }
        self.has_begun |= is_own;
        self.decode_event(event, data, events)
    }

    fn decode_whole(&mut self, json: &str, events: &mut VecDeque<ModelEvent>) -> Result<(), DecodeError> {
        let response: Response = match serde_json::from_str(json) {
            Ok(response) => response,
            Err(error) if error.is_eof() => return Err(DecodeError::Incomplete),
            Err(_) => return Err(DecodeError::NotAStream),
        };
        if response.object != "response" && response.error.is_none() {
            return Err(detect_other_protocol(json, KIND).unwrap_or(DecodeError::NotAStream));
        }
        self.end_response(response, events)
    }

    fn finish(&mut self, events: &mut VecDeque<ModelEvent>) {
        self.layout.close(events);
    }

    fn has_begun(&self) -> bool {
        self.has_begun
    }

    fn is_ending(&self) -> bool {
        self.has_ended
    }

    fn has_ended(&self) -> bool {
        self.has_ended
    }
}

impl ResponseDecoder {
    fn decode_event(
        &mut self,
        event: StreamEvent,
        data: &str,
        events: &mut VecDeque<ModelEvent>,
    ) -> Result<(), DecodeError> {
        let index = self.items.locate(&event);
        let delta = event.delta.unwrap_or_default();
        match event.kind.as_str() {
            "response.output_item.added" => {
                if let Some(item) = event.item {
                    self.begin_item(index, &item, events);
                }
            }
            "response.output_item.done" => {
                if let Some(item) = event.item {
                    self.begin_item(index, &item, events);
                    self.end_item(index, &item, events);
                }
            }
            "response.output_text.delta" | "response.refusal.delta" => {
                self.push_text(index, &delta, events);
            }
            "response.reasoning_summary_text.delta" => {
                // The paragraphs of a summary.
                let place = (index, event.summary_index);
                let is_next = self
                    .last_summary
                    .is_some_and(|(item, last)| item == index && last != place.1);
                self.last_summary = Some(place);
                let gap = if is_next { "\n\n" } else { "" };
                self.push_thinking(index, &format!("{gap}{delta}"), events);
            }
            "response.reasoning_text.delta" => self.push_thinking(index, &delta, events),
            "response.audio.transcript.delta" | "response.output_audio_transcript.delta" => {
                self.has_transcript = true;
                self.push_text(index, &delta, events);
            }
            "response.audio.delta" | "response.output_audio.delta" => self.has_audio = true,
            "response.function_call_arguments.delta" => self.push_arguments(index, delta, events),
            "response.function_call_arguments.done" => {
                let has_arguments = self.items.get(index).is_some_and(|item| item.has_arguments);
                if let Some(arguments) = event.arguments.filter(|_| !has_arguments) {
                    self.push_arguments(index, arguments, events);
                }
            }
            "response.output_text.annotation.added" => {
                self.add_source(event.annotation.unwrap_or_default(), events);
            }
            "response.content_part.done" => {
                for annotation in event.part.unwrap_or_default().annotations {
                    self.add_source(annotation, events);
                }
            }
            "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled" => {
                let response = event
                    .response
                    .and_then(|raw| lenient_json::parse(raw.as_str()).ok());
                return self.end_response(response.unwrap_or_default(), events);
            }
            kind if kind.ends_with(".delta") => {
                let what = UnreadableContent::Unknown(kind.into());
                self.unreadable.push(what, data, events);
            }
            _ => {}
        }
        Ok(())
    }

    /// Begins an item, unless it has begun.
    fn begin_item(&mut self, index: u64, raw: &RawJson, events: &mut VecDeque<ModelEvent>) {
        let item: OutputItem = lenient_json::parse(raw.as_str()).unwrap_or_default();
        if let Some(state) = self.items.get_mut(index) {
            // Its text may have come before it.
            if state.kind.is_empty() {
                (state.id, state.kind) = (item.id, item.kind);
            }
            return;
        }
        self.release_bare_call(events);
        if item.kind == "message" {
            self.layout.end_paragraph(events);
        }
        let mut state = ItemState {
            id: item.id,
            kind: item.kind.clone(),
            ..ItemState::default()
        };
        // A call may begin and end before the reasoning that led to it has ended.
        if item.kind == "reasoning" {
            state.place = Some(self.layout.open_block(events));
        }
        if item.kind == "function_call" {
            let call = self.calls;
            self.calls += 1;
            self.layout.push_call(events);
            let id = Some(item.call_id).filter(|id| !id.is_empty());
            events.push_back(ModelEvent::ToolCall {
                index: call,
                id: id.unwrap_or_else(|| format!("call_{call}")),
                name: item.name,
            });
            state.call = Some(call);
        }
        self.items.insert(index, state);
    }

    /// Ends an item: adds what has not arrived in parts, and keeps what the server needs back.
    fn end_item(&mut self, index: u64, raw: &RawJson, events: &mut VecDeque<ModelEvent>) {
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
                    self.end_message_part(index, part, has_text, raw, events);
                }
                if !item.phase.is_empty() && self.items.get(index).is_some_and(|state| state.has_text) {
                    self.layout.push_block(&phase_mark(&item.phase), events);
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
                    self.push_thinking(index, &texts.join("\n\n"), events);
                }
                // The server has no other copy of it.
                if item.encrypted_content.is_some_and(|content| !content.is_empty()) {
                    self.layout.close_block(place, raw, events);
                } else if let Some(place) = place {
                    self.layout.give_up_block(place, events);
                }
            }
            "function_call" => {
                let arguments = item.arguments.filter(|arguments| !arguments.is_empty());
                match arguments.filter(|_| !has_arguments) {
                    Some(arguments) => self.push_arguments(index, arguments, events),
                    None if has_arguments || item.status == "incomplete" => {}
                    None => {
                        self.release_bare_call(events);
                        self.bare_call = call;
                    }
                }
            }
            "image_generation_call" => {
                self.layout.flush(events);
                events.push_back(image_event(raw.as_str()));
            }
            // The server's own tools. Reasoning refers to them.
            kind if kind.ends_with("_call") => {
                self.layout.push_block(raw, events);
                self.layout.end_paragraph(events);
            }
            kind => {
                let what = UnreadableContent::Unknown(kind.into());
                self.unreadable.push(what, raw.as_str(), events);
            }
        }
    }

    fn end_message_part(
        &mut self,
        index: u64,
        part: ContentPart,
        has_text: bool,
        raw: &RawJson,
        events: &mut VecDeque<ModelEvent>,
    ) {
        if !has_text {
            for text in [&part.text, &part.refusal, &part.transcript] {
                self.push_text(index, text, events);
            }
        }
        if part.is_image() {
            self.layout.flush(events);
            events.push_back(image_event(raw.as_str()));
        } else if part.kind.contains("audio") {
            self.has_audio = true;
            self.has_transcript |= !part.transcript.is_empty();
        } else if !part.is_text() {
            let what = UnreadableContent::Unknown(part.kind);
            self.unreadable.push(what, raw.as_str(), events);
        }
        for annotation in part.annotations {
            self.add_source(annotation, events);
        }
    }

    fn push_text(&mut self, index: u64, text: &str, events: &mut VecDeque<ModelEvent>) {
        if !text.is_empty() {
            self.items.get_or_begin(index).has_text = true;
            self.layout.push_text(text, events);
        }
    }

    fn push_thinking(&mut self, index: u64, text: &str, events: &mut VecDeque<ModelEvent>) {
        if !text.is_empty() {
            self.items.get_or_begin(index).has_thinking = true;
            self.layout.push_thinking(text, events);
        }
    }

    fn push_arguments(&mut self, index: u64, delta: String, events: &mut VecDeque<ModelEvent>) {
        let Some(item) = self.items.get_mut(index).filter(|_| !delta.is_empty()) else {
            return;
        };
        item.has_arguments = true;
        events.extend(item.call.map(|index| ModelEvent::ToolArguments { index, delta }));
    }

    /// Emits the arguments of a call that has ended without any.
    fn release_bare_call(&mut self, events: &mut VecDeque<ModelEvent>) {
        events.extend(self.bare_call.take().map(|index| ModelEvent::ToolArguments {
            index,
            delta: "{}".into(),
        }));
    }

    fn add_source(&mut self, annotation: Annotation, events: &mut VecDeque<ModelEvent>) {
        let title = annotation.title.as_deref();
        let source = match annotation.url.trim().is_empty() {
            true => self.sources.add_document([
                &*annotation.filename,
                title.unwrap_or_default(),
                &annotation.file_id,
            ]),
            false => self.sources.add(&annotation.url, title),
        };
        events.extend(source);
    }

    fn end_response(
        &mut self,
        response: Response,
        events: &mut VecDeque<ModelEvent>,
    ) -> Result<(), DecodeError> {
        if self.items.is_empty() {
            // The server does not stream, or sends the items only here.
            for (index, item) in (0..).zip(response.output.iter().flatten()) {
                self.begin_item(index, item, events);
                self.end_item(index, item, events);
            }
        }
        self.layout.close(events);
        if self.has_audio && !self.has_transcript {
            let what = UnreadableContent::Audio;
            self.unreadable.push(what, "", events);
        }
        let usage = response.usage.map(|usage| ModelEvent::Usage(usage.to_usage()));
        let error = response.error.filter(|error| !error.is_null());
        let reason = match (error, response.status.as_str()) {
            (Some(error), _) => {
                events.extend(usage);
                return Err(DecodeError::ServerError(error));
            }
            (None, "failed" | "cancelled") => {
                events.extend(usage);
                let what = format!("the model server gave up on this answer ({})", response.status);
                return Err(DecodeError::ServerError(what.into()));
            }
            (None, "incomplete") => incomplete_reason(&response.incomplete_details.reason),
            _ if self.calls > 0 => FinishReason::ToolCalls,
            _ => FinishReason::Stop,
        };
        if !reason.is_cut_short() {
            self.release_bare_call(events);
        }
        events.extend(usage);
        events.push_back(ModelEvent::Finished(reason));
        self.has_ended = true;
        Ok(())
    }
}
