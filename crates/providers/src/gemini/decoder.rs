//! A decoder from the chunks of a response to model events.

use serde_json::Value;

use super::{
    PROVIDER_KIND,
    content::{SignedText, content_parts},
    finish::{abnormal_end, explain_block, explain_end, is_unspecified, parse_finish_reason},
    function_call::StreamedArguments,
    wire::{Candidate, Chunk, FunctionCall, Part},
};
use crate::{
    answer::Answer,
    transport::event_decoder::{
        DecodeError, EventDecoder, check_error, check_frame_name, frame_data, parse_frame, parse_whole,
    },
};
use parlor_base::settings::EndpointKind;
use parlor_model::{FinishReason, ModelEvent, ProviderDataTarget, UnreadableContent, lenient_json};
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
    answer: Answer,
    /// The index of the chosen answer: the first with content, since only one is requested.
    candidate_index: Option<u64>,
    /// The call whose arguments are streamed.
    open_call: Option<(usize, StreamedArguments)>,
    has_counted_input: bool,
}

impl Default for ContentDecoder {
    fn default() -> Self {
        Self {
            answer: Answer::new(PROVIDER_KIND),
            candidate_index: None,
            open_call: None,
            has_counted_input: false,
        }
    }
}

impl EventDecoder for ContentDecoder {
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
        check_frame_name(frame, data)?;
        self.decode_chunk(parse_frame(data)?, data)
    }

    fn decode_whole(&mut self, json: &str) -> Result<(), DecodeError> {
        let chunks = match json.trim_start().starts_with('[') {
            true => parse_whole::<Vec<RawJson>>(json)?,
            false => vec![parse_whole(json)?],
        };
        for raw in chunks {
            let chunk = lenient_json::parse(raw.as_str()).map_err(|_| DecodeError::NotAStream)?;
            self.decode_chunk(chunk, raw.as_str())?;
        }
        if !self.answer.has_begun {
            return Err(DecodeError::NotAStream);
        }
        self.end();
        Ok(())
    }

    fn end(&mut self) {
        let reason = self.answer.take_reason();
        if reason.is_cut_short() {
            // Its arguments would look complete.
            self.open_call = None;
        }
        self.close_call();
        self.answer.end(reason);
    }
}

impl ContentDecoder {
    /// Decodes a chunk. `data` is its raw text.
    fn decode_chunk(&mut self, chunk: Chunk, data: &str) -> Result<(), DecodeError> {
        let is_known =
            chunk.candidates.is_some() || chunk.prompt_feedback.is_some() || chunk.usage_metadata.is_some();
        self.answer.note_frame(is_known, data, KIND)?;
        if let Some(usage) = chunk.usage_metadata {
            let usage = usage.to_usage();
            if !std::mem::replace(&mut self.has_counted_input, true) {
                self.answer.events.push_back(ModelEvent::InputCounted(usage));
            }
            self.answer.usage = Some(usage);
        }
        let mut failure = None;
        for candidate in chunk.candidates.unwrap_or_default() {
            let has_content = candidate.content.is_some() || candidate.finish_reason.is_some();
            let chosen = match self.candidate_index {
                None if has_content => *self.candidate_index.insert(candidate.index),
                chosen => chosen.unwrap_or(candidate.index),
            };
            if chosen == candidate.index {
                failure = failure.or(self.decode_candidate(candidate, data));
            } else {
                let name = format!("candidate {}", candidate.index);
                self.answer.push_unknown(name, data);
            }
        }
        if failure.is_some() {
            self.answer.flush();
        }
        check_error(failure)?;
        let feedback = chunk.prompt_feedback.unwrap_or_default();
        let blocked = feedback.block_reason.as_deref();
        if let Some(reason) = blocked.filter(|reason| !is_unspecified(reason)) {
            self.answer.refusal =
                explain_block(reason, &feedback.block_reason_message, &feedback.safety_ratings);
            self.answer.finish = Some(match parse_finish_reason(reason) {
                FinishReason::Safety => FinishReason::Safety,
                _ => FinishReason::ContentFilter,
            });
        }
        check_error(chunk.error)
    }

    /// Decodes an answer. Returns the error if the model ended it for an abnormal reason.
    fn decode_candidate(&mut self, candidate: Candidate, data: &str) -> Option<Value> {
        for part in candidate.content.iter().flat_map(content_parts) {
            match lenient_json::parse::<String>(part.as_str()) {
                Ok(text) => self.answer.push_text(&text),
                Err(_) => match lenient_json::parse::<Part>(part.as_str()) {
                    Ok(known) => self.decode_part(known, &part),
                    Err(_) => self.answer.push_unknown("part", data),
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
            match page.web_address() {
                Some(address) => self.answer.add_page(address, title),
                None => self.answer.add_document([
                    title.unwrap_or_default(),
                    &page.document_name,
                    &page.uri,
                    &page.file_search_store,
                ]),
            }
        }
        let reason = candidate.finish_reason.filter(|reason| !is_unspecified(reason))?;
        match parse_finish_reason(&reason) {
            FinishReason::Other(_) => Some(abnormal_end(&reason, candidate.finish_message.as_deref())),
            known => {
                let message = candidate.finish_message.unwrap_or_default();
                self.answer.refusal = explain_end(&reason, &message, &candidate.safety_ratings);
                self.answer.finish = Some(known);
                None
            }
        }
    }

    fn decode_part(&mut self, mut part: Part, raw: &RawJson) {
        let signature = part.thought_signature.take();
        if let Some(call) = part.function_call {
            self.decode_call(call, signature);
            return;
        }
        let media = part.inline_data.or(part.file_data).map(|media| media.mime_type);
        let is_image = part.image_url.is_some()
            || part.kind.as_deref().is_some_and(|kind| kind.contains("image"))
            || media.as_deref().is_some_and(|media| media.starts_with("image/"));
        let thinks = part.thought || matches!(part.kind.as_deref(), Some("thinking" | "reasoning"));
        if is_image && !thinks {
            self.answer.push_image(raw.as_str());
        } else if let Some(media) = media.filter(|_| !thinks) {
            let what = match media.starts_with("audio/") {
                true => UnreadableContent::Audio,
                false => UnreadableContent::Unknown(media),
            };
            self.answer.push_unreadable(what, raw.as_str());
        } else if thinks || part.thinking.is_some() {
            let thinking = part.thinking.or(part.text).unwrap_or_default();
            self.answer.push_thinking(&thinking);
        } else if let Some(text) = part.text {
            let has_text = !text.is_empty();
            if has_text && signature.is_some() {
                self.answer.split_text();
            }
            self.answer.push_text(&text);
            self.push_signature(signature, has_text);
        } else if part
            .others
            .keys()
            .any(|name| SERVER_PARTS.contains(&name.as_str()))
        {
            self.answer.push_tool_block(raw);
        } else {
            self.push_unknown_part(raw);
            self.push_signature(signature, false);
        }
    }

    /// Decodes a call, or a part of one that is streamed.
    fn decode_call(&mut self, call: FunctionCall, signature: Option<RawJson>) {
        if let Some(name) = call.name.filter(|name| !name.is_empty()) {
            self.close_call();
            let own_id = call.id.unwrap_or_default();
            let index = self.answer.begin_call(own_id.clone(), name);
            let own_id = Some(own_id).filter(|id| !id.is_empty());
            let own_id = own_id.map(|id| RawJson::parse_or_quote(&Value::from(id).to_string()));
            for (field, value) in [(ID_FIELD, own_id), (SIGNATURE_FIELD, signature)] {
                let event = value.map(|value| ModelEvent::ProviderData {
                    target: ProviderDataTarget::ToolCall(index),
                    data: ProviderData {
                        kind: PROVIDER_KIND.into(),
                        field: field.into(),
                        value,
                    },
                });
                self.answer.events.extend(event);
            }
            if !call.will_continue && call.partial_args.is_empty() {
                let arguments = call.args.filter(Value::is_object).map(|args| args.to_string());
                let arguments = arguments.unwrap_or_else(|| "{}".into());
                self.answer.push_arguments(index, arguments);
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
            self.close_call();
        }
    }

    /// Ends the call whose arguments are streamed.
    fn close_call(&mut self) {
        if let Some((index, arguments)) = self.open_call.take() {
            self.answer.push_arguments(index, arguments.into_json());
        }
    }

    /// Keeps the signature of a text, or one that came alone.
    fn push_signature(&mut self, signature: Option<RawJson>, has_text: bool) {
        if let Some(signature) = signature {
            let signed = SignedText { signature, has_text };
            self.answer.push_block(&signed.to_raw());
        }
    }

    /// Reports the fields of a part without any known content.
    fn push_unknown_part(&mut self, raw: &RawJson) {
        let Ok(Value::Object(fields)) = serde_json::from_str(raw.as_str()) else {
            return;
        };
        let is_content = |(name, value): &(&String, &Value)| *name != SIGNATURE_FIELD && !value.is_null();
        for (name, value) in fields.iter().filter(is_content) {
            self.answer.push_unknown(name, &value.to_string());
        }
    }
}
