//! A decoder from the chunks of a response to model events.

use std::collections::VecDeque;

use serde_json::Value;

use super::{
    PROVIDER_KIND,
    content::{SignedText, content_parts},
    finish::{abnormal_end, explain_block, explain_end, is_unspecified, parse_finish_reason},
    function_call::StreamedArguments,
    wire::{Candidate, Chunk, FunctionCall, Part, UsageMetadata},
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
use parlor_model::{
    FinishReason, ModelEvent, ProviderDataTarget, ReportedUsage, UnreadableContent, lenient_json,
};
use parlor_protocol::{ProviderData, RawJson, sse::SseFrame};

const KIND: EndpointKind = EndpointKind::Gemini;

/// Parts of the server's own tools: their calls and results. They go back to it unchanged.
pub const SERVER_PARTS: [&str; 4] = [
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
];

/// The fields of a call's data.
pub const SIGNATURE_FIELD: &str = "thoughtSignature";
pub const ID_FIELD: &str = "id";

/// Decodes the chunks of one response.
#[derive(Debug)]
pub struct ContentDecoder {
    layout: LayoutRecorder,
    /// The number of calls so far.
    calls: usize,
    /// The index of the chosen answer: the first with content, since only one is requested.
    candidate_index: Option<u64>,
    /// The call whose arguments are streamed.
    open_call: Option<(usize, StreamedArguments)>,
    sources: CitedPages,
    has_counted_input: bool,
    usage: Option<UsageMetadata>,
    finish: Option<FinishReason>,
    /// The explanation of a withheld answer.
    refusal: Option<ModelEvent>,
    unreadable: UnreadablePieces,
    has_begun: bool,
    has_ended: bool,
}

impl Default for ContentDecoder {
    fn default() -> Self {
        Self {
            layout: LayoutRecorder::new(PROVIDER_KIND),
            calls: 0,
            candidate_index: None,
            open_call: None,
            sources: CitedPages::default(),
            has_counted_input: false,
            usage: None,
            finish: None,
            refusal: None,
            unreadable: UnreadablePieces::default(),
            has_begun: false,
            has_ended: false,
        }
    }
}

impl EventDecoder for ContentDecoder {
    fn decode_frame(
        &mut self,
        frame: &SseFrame,
        events: &mut VecDeque<ModelEvent>,
    ) -> Result<(), DecodeError> {
        let data = frame.data.trim();
        // Some proxies end as OpenAI's servers do.
        if data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        if frame.event.as_deref() == Some("error") {
            let error = serde_json::from_str(data).unwrap_or_else(|_| data.into());
            return Err(DecodeError::ServerError(error));
        }
        let chunk: Chunk = serde_json::from_str(data).map_err(|_| DecodeError::invalid_frame(data))?;
        self.decode_chunk(chunk, data, events)
    }

    fn decode_whole(&mut self, json: &str, events: &mut VecDeque<ModelEvent>) -> Result<(), DecodeError> {
        let chunks = match json.trim_start().starts_with('[') {
            true => serde_json::from_str::<Vec<RawJson>>(json),
            false => serde_json::from_str::<RawJson>(json).map(|chunk| vec![chunk]),
        };
        let chunks = chunks.map_err(|error| match error.is_eof() {
            true => DecodeError::Incomplete,
            false => DecodeError::NotAStream,
        })?;
        for raw in chunks {
            let chunk = lenient_json::parse(raw.as_str()).map_err(|_| DecodeError::NotAStream)?;
            self.decode_chunk(chunk, raw.as_str(), events)?;
        }
        if !self.has_begun {
            return Err(DecodeError::NotAStream);
        }
        self.finish.get_or_insert(FinishReason::Stop);
        self.push_finished(events);
        Ok(())
    }

    fn finish(&mut self, events: &mut VecDeque<ModelEvent>) {
        match self.finish.is_some() {
            true => self.push_finished(events),
            false => self.layout.flush(events),
        }
    }

    fn has_begun(&self) -> bool {
        self.has_begun
    }

    fn is_ending(&self) -> bool {
        self.finish.is_some()
    }

    fn take_usage(&mut self) -> Option<ReportedUsage> {
        self.usage.take().map(|usage| usage.to_usage())
    }

    fn has_ended(&self) -> bool {
        self.has_ended
    }
}

impl ContentDecoder {
    /// Decodes a chunk. `data` is its raw text.
    fn decode_chunk(
        &mut self,
        chunk: Chunk,
        data: &str,
        events: &mut VecDeque<ModelEvent>,
    ) -> Result<(), DecodeError> {
        let is_known =
            chunk.candidates.is_some() || chunk.prompt_feedback.is_some() || chunk.usage_metadata.is_some();
        if !self.has_begun
            && !is_known
            && let Some(other) = detect_other_protocol(data, KIND)
        {
            return Err(other);
        }
        self.has_begun |= is_known;
        if let Some(usage) = chunk.usage_metadata {
            if !std::mem::replace(&mut self.has_counted_input, true) {
                events.push_back(ModelEvent::InputCounted(usage.to_usage()));
            }
            self.usage = Some(usage);
        }
        let mut failure = None;
        for candidate in chunk.candidates.unwrap_or_default() {
            let has_content = candidate.content.is_some() || candidate.finish_reason.is_some();
            let chosen = match self.candidate_index {
                None if has_content => *self.candidate_index.insert(candidate.index),
                chosen => chosen.unwrap_or(candidate.index),
            };
            if chosen == candidate.index {
                failure = failure.or(self.decode_candidate(candidate, data, events));
            } else {
                let what = UnreadableContent::Unknown(format!("candidate {}", candidate.index));
                self.unreadable.push(what, data, events);
            }
        }
        if let Some(failure) = failure {
            self.layout.flush(events);
            return Err(DecodeError::ServerError(failure));
        }
        let feedback = chunk.prompt_feedback.unwrap_or_default();
        let blocked = feedback.block_reason.as_deref();
        if let Some(reason) = blocked.filter(|reason| !is_unspecified(reason)) {
            self.refusal = explain_block(reason, &feedback.block_reason_message, &feedback.safety_ratings);
            self.finish = Some(match parse_finish_reason(reason) {
                FinishReason::Safety => FinishReason::Safety,
                _ => FinishReason::ContentFilter,
            });
        }
        match chunk.error.filter(|error| !error.is_null()) {
            Some(error) => Err(DecodeError::ServerError(error)),
            None => Ok(()),
        }
    }

    /// Decodes an answer. Returns the error if the model ended it for an abnormal reason.
    fn decode_candidate(
        &mut self,
        candidate: Candidate,
        data: &str,
        events: &mut VecDeque<ModelEvent>,
    ) -> Option<Value> {
        for part in candidate.content.iter().flat_map(content_parts) {
            match lenient_json::parse::<String>(part.as_str()) {
                Ok(text) => self.layout.push_text(&text, events),
                Err(_) => match lenient_json::parse::<Part>(part.as_str()) {
                    Ok(known) => self.decode_part(known, &part, events),
                    Err(_) => {
                        let what = UnreadableContent::Unknown("part".into());
                        self.unreadable.push(what, data, events);
                    }
                },
            }
        }
        let grounding = candidate.grounding_metadata.unwrap_or_default();
        let found = grounding.grounding_chunks.into_iter().filter_map(|chunk| {
            chunk
                .web
                .or(chunk.retrieved_context)
                .or(chunk.maps)
                .or(chunk.image)
        });
        let cited = candidate.citation_metadata.unwrap_or_default().citation_sources;
        for page in found.chain(cited) {
            let title = page.title.as_deref();
            // Documents of stores have addresses that no browser opens.
            let source = match page.uri.trim().starts_with("http") {
                true => self.sources.add(&page.uri, title),
                false => {
                    self.sources
                        .add_document([title.unwrap_or_default(), &page.document_name, &page.uri])
                }
            };
            events.extend(source);
        }
        let reason = candidate.finish_reason.filter(|reason| !is_unspecified(reason))?;
        match parse_finish_reason(&reason) {
            FinishReason::Other(_) => Some(abnormal_end(&reason, candidate.finish_message.as_deref())),
            known => {
                let message = candidate.finish_message.unwrap_or_default();
                self.refusal = explain_end(&reason, &message, &candidate.safety_ratings);
                self.finish = Some(known);
                None
            }
        }
    }

    fn decode_part(&mut self, mut part: Part, raw: &RawJson, events: &mut VecDeque<ModelEvent>) {
        let signature = part.thought_signature.take();
        if let Some(call) = part.function_call {
            self.decode_call(call, signature, events);
            return;
        }
        let media = part.inline_data.or(part.file_data).map(|media| media.mime_type);
        let is_image = part.image_url.is_some()
            || part.kind.as_deref().is_some_and(|kind| kind.contains("image"))
            || media.as_deref().is_some_and(|media| media.starts_with("image/"));
        let thinks = part.thought || matches!(part.kind.as_deref(), Some("thinking" | "reasoning"));
        if is_image && !thinks {
            self.layout.flush(events);
            events.push_back(image_event(raw.as_str()));
        } else if let Some(media) = media.filter(|_| !thinks) {
            let what = match media.starts_with("audio/") {
                true => UnreadableContent::Audio,
                false => UnreadableContent::Unknown(media),
            };
            self.unreadable.push(what, raw.as_str(), events);
        } else if thinks || part.thinking.is_some() {
            let thinking = part.thinking.or(part.text).unwrap_or_default();
            self.layout.push_thinking(&thinking, events);
        } else if let Some(text) = part.text {
            let has_text = !text.is_empty();
            if has_text && signature.is_some() {
                self.layout.split_text(events);
            }
            self.layout.push_text(&text, events);
            self.push_signature(signature, has_text, events);
        } else if part
            .others
            .keys()
            .any(|name| SERVER_PARTS.contains(&name.as_str()))
        {
            self.layout.push_block(raw, events);
            self.layout.end_paragraph(events);
        } else {
            self.push_unknown_part(raw, events);
            self.push_signature(signature, false, events);
        }
    }

    /// Decodes a call, or a part of one that is streamed.
    fn decode_call(
        &mut self,
        call: FunctionCall,
        signature: Option<RawJson>,
        events: &mut VecDeque<ModelEvent>,
    ) {
        if let Some(name) = call.name.filter(|name| !name.is_empty()) {
            self.close_call(events);
            let index = self.calls;
            self.calls += 1;
            self.layout.push_call(events);
            let own_id = call.id.filter(|id| !id.is_empty());
            events.push_back(ModelEvent::ToolCall {
                index,
                id: own_id.clone().unwrap_or_else(|| format!("call_{index}")),
                name,
            });
            let own_id = own_id.map(|id| RawJson::parse_or_quote(&Value::from(id).to_string()));
            for (field, value) in [(ID_FIELD, own_id), (SIGNATURE_FIELD, signature)] {
                events.extend(value.map(|value| ModelEvent::ProviderData {
                    target: ProviderDataTarget::ToolCall(index),
                    data: ProviderData {
                        kind: PROVIDER_KIND.into(),
                        field: field.into(),
                        value,
                    },
                }));
            }
            if !call.will_continue && call.partial_args.is_empty() {
                let arguments = call.args.filter(Value::is_object).map(|args| args.to_string());
                events.push_back(ModelEvent::ToolArguments {
                    index,
                    delta: arguments.unwrap_or_else(|| "{}".into()),
                });
                return;
            }
            self.open_call = Some((index, StreamedArguments::default()));
        }
        if let Some((_, arguments)) = &mut self.open_call {
            for part in call.partial_args {
                arguments.push(part);
            }
        }
        if !call.will_continue {
            self.close_call(events);
        }
    }

    /// Ends the call whose arguments are streamed.
    fn close_call(&mut self, events: &mut VecDeque<ModelEvent>) {
        if let Some((index, arguments)) = self.open_call.take() {
            let delta = arguments.into_json();
            events.push_back(ModelEvent::ToolArguments { index, delta });
        }
    }

    /// Keeps the signature of a text, or one that came alone.
    fn push_signature(
        &mut self,
        signature: Option<RawJson>,
        has_text: bool,
        events: &mut VecDeque<ModelEvent>,
    ) {
        if let Some(signature) = signature {
            let signed = SignedText { signature, has_text };
            self.layout.push_block(&signed.to_raw(), events);
        }
    }

    /// Reports the fields of a part without any known content.
    fn push_unknown_part(&mut self, raw: &RawJson, events: &mut VecDeque<ModelEvent>) {
        let Ok(Value::Object(fields)) = serde_json::from_str(raw.as_str()) else {
            return;
        };
        let is_content = |(name, value): &(&String, &Value)| *name != SIGNATURE_FIELD && !value.is_null();
        for (name, value) in fields.iter().filter(is_content) {
            let what = UnreadableContent::Unknown(name.clone());
            self.unreadable.push(what, &value.to_string(), events);
        }
    }

    fn push_finished(&mut self, events: &mut VecDeque<ModelEvent>) {
        let reason = self.finish.take().unwrap_or(FinishReason::Stop);
        if reason.is_cut_short() {
            // Its arguments would look complete.
            self.open_call = None;
        }
        self.close_call(events);
        self.layout.flush(events);
        events.extend(self.refusal.take().filter(|_| reason.is_withheld()));
        events.extend(self.take_usage().map(ModelEvent::Usage));
        let calls_tools = reason == FinishReason::Stop && self.calls > 0;
        events.push_back(ModelEvent::Finished(match calls_tools {
            true => FinishReason::ToolCalls,
            false => reason,
        }));
        self.has_ended = true;
    }
}
