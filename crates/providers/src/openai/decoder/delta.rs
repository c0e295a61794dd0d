//! Decoding of the content of one delta, in the formats of all servers.

use serde_json::Value;

use super::{
    super::{
        PROVIDER_KIND,
        unknown_content::unknown_fields,
        wire::{Content, ContentPart, Delta, ToolCallFragment, TypedPart},
    },
    ChunkDecoder,
};
use crate::unreadable::raw_excerpt;
use parlor_model::{ModelEvent, ProviderDataTarget};
use parlor_protocol::{ProviderData, RawJson};

impl ChunkDecoder {
    /// Decodes the delta of a choice. `data` is the raw text of the chunk.
    pub(super) fn decode_delta(&mut self, mut delta: Box<Delta>, data: &str) {
        if let Some(reasoning) = delta.take_reasoning() {
            self.answer.push_thinking(&reasoning);
        }
        match delta.content {
            Some(Content::Text(text)) => self.answer.push_text(&text),
            Some(Content::Parts(parts)) => {
                for part in parts {
                    match part {
                        ContentPart::Text(text) => self.answer.push_text(&text),
                        ContentPart::Part(part) => self.decode_part(*part),
                        ContentPart::Other(_) => {}
                    }
                }
            }
            Some(Content::Part(part)) => self.decode_part(*part),
            Some(Content::Other(_)) | None => {}
        }
        if let Some(refusal) = delta.refusal {
            self.answer.push_text(&refusal);
        }
        if let Some(audio) = delta.audio {
            if audio.data.is_some() {
                self.audio_note.get_or_insert_with(|| raw_excerpt(data));
            }
            if let Some(words) = audio.transcript {
                self.has_transcript = true;
                self.answer.push_text(&words);
            }
        }
        for image in delta.images.iter().flat_map(raw_entries) {
            self.answer.push_image(&image);
        }
        let sources = delta
            .annotations
            .and_then(|annotations| self.citations.take_annotations(annotations));
        self.answer.events.extend(sources.map(ModelEvent::Sources));
        for (list, details) in [
            (delta.reasoning_details, &mut self.reasoning_details),
            (delta.thinking_blocks, &mut self.thinking_blocks),
        ] {
            if let Some(list) = list {
                details.push(&list);
            }
        }
        // The marker of a thinking summary need not be sent back.
        if let Some(value) = delta
            .extra_content
            .filter(|extra| extra.as_str().contains("signature"))
        {
            let data = ProviderData {
                kind: PROVIDER_KIND.into(),
                field: "extra_content".into(),
                value,
            };
            let target = ProviderDataTarget::Answer;
            self.answer
                .events
                .push_back(ModelEvent::ProviderData { target, data });
        }
        let alone = delta.function_call.map(|function| ToolCallFragment {
            function,
            ..ToolCallFragment::default()
        });
        // Some servers send a call in both forms. The form in which the first call gets its name is used.
        if !self.calls.have_begun() {
            self.calls_in_list = !delta.tool_calls.is_empty();
        }
        let calls = match self.calls_in_list {
            true => delta.tool_calls,
            false => alone.into_iter().collect(),
        };
        for call in calls {
            // The filter's held text precedes the call.
            self.answer.flush();
            self.calls.push(call, &mut self.answer.events);
        }
    }

    fn decode_part(&mut self, mut part: TypedPart) {
        if part.is_image() {
            let image = Value::Object(std::mem::take(&mut part.others));
            self.answer.push_image(&image.to_string());
        }
        let thinking = part.thinking.take().map(|thinking| thinking.into_text());
        let (thinking, text) = match part.is_thinking() {
            true => (thinking.or(part.text.take()), None),
            false => (thinking, part.text.take()),
        };
        self.answer.push_thinking(&thinking.unwrap_or_default());
        for text in text.into_iter().chain(part.refusal) {
            self.answer.push_text(&text);
        }
    }

    /// Reports the fields of a chunk without any known content.
    pub(super) fn push_unknown_fields(&mut self, data: &str) {
        self.push_unknown(unknown_fields(data));
    }

    /// Reports fields by their names, with their raw text.
    pub(super) fn push_unknown(&mut self, fields: Vec<(String, String)>) {
        for (name, raw) in fields {
            self.answer.push_unknown(name, &raw);
        }
    }
}

/// Returns the raw entries of a list, or a value that is not a list.
fn raw_entries(list: &RawJson) -> Vec<String> {
    match serde_json::from_str::<Vec<RawJson>>(list.as_str()) {
        Ok(entries) => entries.iter().map(|entry| entry.as_str().to_owned()).collect(),
        Err(_) => vec![list.as_str().to_owned()],
    }
}
