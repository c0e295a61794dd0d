//! Decoding of the content of one delta, in the formats of all servers.

use std::collections::VecDeque;

use serde_json::Value;

use super::{
    super::{
        PROVIDER_KIND,
        unknown_content::unknown_fields,
        wire::{Content, ContentPart, Delta, ToolCallFragment, TypedPart},
    },
    ChunkDecoder,
};
use crate::{images::image_event, unreadable::raw_excerpt};
use parlor_model::{ModelEvent, ProviderDataTarget, UnreadableContent};
use parlor_protocol::{ProviderData, RawJson};

impl ChunkDecoder {
    /// Decodes the delta of a choice. `data` is the raw text of the chunk.
    pub(super) fn decode_delta(&mut self, mut delta: Delta, data: &str, events: &mut VecDeque<ModelEvent>) {
        if let Some(reasoning) = delta.take_reasoning() {
            self.think_filter.set_separate_thinking();
            events.push_back(ModelEvent::Thinking(reasoning));
        }
        match delta.content {
            Some(Content::Text(text)) => self.think_filter.push(&text, events),
            Some(Content::Parts(parts)) => {
                for part in parts {
                    match part {
                        ContentPart::Text(text) => self.think_filter.push(&text, events),
                        ContentPart::Part(part) => self.decode_part(*part, events),
                        ContentPart::Other(_) => {}
                    }
                }
            }
            Some(Content::Part(part)) => self.decode_part(*part, events),
            Some(Content::Other(_)) | None => {}
        }
        if let Some(refusal) = delta.refusal {
            self.think_filter.push(&refusal, events);
        }
        if let Some(audio) = delta.audio {
            if audio.data.is_some() {
                self.audio_note.get_or_insert_with(|| raw_excerpt(data));
            }
            if let Some(words) = audio.transcript {
                self.has_transcript = true;
                self.think_filter.push(&words, events);
            }
        }
        for image in delta.images.iter().flat_map(raw_entries) {
            self.push_image(&image, events);
        }
        let sources = delta
            .annotations
            .and_then(|annotations| self.citations.take_annotations(annotations));
        events.extend(sources.map(ModelEvent::Sources));
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
            events.push_back(ModelEvent::ProviderData { target, data });
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
            self.think_filter.finish(events);
            self.calls.push(call, events);
        }
    }

    fn decode_part(&mut self, mut part: TypedPart, events: &mut VecDeque<ModelEvent>) {
        if part.is_image() {
            let image = Value::Object(std::mem::take(&mut part.others));
            self.push_image(&image.to_string(), events);
        }
        let thinking = part.thinking.take().map(|thinking| thinking.into_text());
        let (thinking, text) = match part.is_thinking() {
            true => (thinking.or(part.text.take()), None),
            false => (thinking, part.text.take()),
        };
        if let Some(thinking) = thinking.filter(|thinking| !thinking.is_empty()) {
            self.think_filter.set_separate_thinking();
            events.push_back(ModelEvent::Thinking(thinking));
        }
        for text in text.into_iter().chain(part.refusal) {
            self.think_filter.push(&text, events);
        }
    }

    /// Adds an image.
    fn push_image(&mut self, raw: &str, events: &mut VecDeque<ModelEvent>) {
        self.think_filter.finish(events);
        events.push_back(image_event(raw));
    }

    /// Reports the fields of a chunk without any known content.
    pub(super) fn push_unknown_fields(&mut self, data: &str, events: &mut VecDeque<ModelEvent>) {
        self.push_unknown(unknown_fields(data), events);
    }

    /// Reports fields by their names, with their raw text.
    pub(super) fn push_unknown(&mut self, fields: Vec<(String, String)>, events: &mut VecDeque<ModelEvent>) {
        for (name, raw) in fields {
            self.unreadable
                .push(UnreadableContent::Unknown(name), &raw, events);
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
