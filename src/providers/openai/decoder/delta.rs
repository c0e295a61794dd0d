//! The pieces of an answer in one delta, in all the shapes that servers give them.

use std::collections::VecDeque;

use super::{
    super::{
        PROVIDER_KIND,
        unknown_content::{raw_excerpt, unknown_fields},
        wire::{Content, ContentPart, Delta, ToolCall, TypedPart},
    },
    Decoder,
};
use crate::{
    model::{ModelEvent, OpaqueTarget, UnreadableContent},
    protocol::{Opaque, RawJson},
};

/// The most pieces of one answer that are named because they can't be read.
const MAX_UNREADABLE: usize = 20;

impl Decoder {
    /// Takes what a choice adds to the answer; the chunk is `data` on the wire.
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
                        ContentPart::Part(part) => self.decode_part(*part, data, events),
                        ContentPart::Other(_) => {}
                    }
                }
            }
            Some(Content::Part(part)) => self.decode_part(*part, data, events),
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
            self.push_unreadable_image(&image, events);
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
        // What marks a summary of thoughts is nothing to be sent back.
        if let Some(value) = delta
            .extra_content
            .filter(|extra| extra.as_str().contains("signature"))
        {
            let data = Opaque {
                kind: PROVIDER_KIND.into(),
                field: "extra_content".into(),
                value,
            };
            let beside = OpaqueTarget::Answer;
            events.push_back(ModelEvent::Opaque { beside, data });
        }
        let alone = delta.function_call.map(|function| ToolCall {
            function,
            ..ToolCall::default()
        });
        // Some servers send a call in both forms. The one in which the first call gets its name counts.
        if !self.calls.have_begun() {
            self.calls_in_list = !delta.tool_calls.is_empty();
        }
        let calls = match self.calls_in_list {
            true => delta.tool_calls,
            false => alone.into_iter().collect(),
        };
        for call in calls {
            // What the filter holds was said before the call.
            self.think_filter.finish(events);
            self.calls.push(call, events);
        }
    }

    fn decode_part(&mut self, mut part: TypedPart, data: &str, events: &mut VecDeque<ModelEvent>) {
        if part.is_image() {
            self.push_unreadable_image(data, events);
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

    /// Each image is told of.
    fn push_unreadable_image(&mut self, raw: &str, events: &mut VecDeque<ModelEvent>) {
        self.think_filter.finish(events);
        let raw = raw_excerpt(raw);
        let what = UnreadableContent::Image;
        events.push_back(ModelEvent::Unreadable { what, raw });
    }

    /// Tells of a piece that can't be read, once.
    pub(super) fn push_unreadable(
        &mut self,
        what: UnreadableContent,
        raw: &str,
        events: &mut VecDeque<ModelEvent>,
    ) {
        if self.unreadable.len() < MAX_UNREADABLE && !self.unreadable.iter().any(|known| known == what.name())
        {
            self.unreadable.push(what.name().to_owned());
            let raw = raw_excerpt(raw);
            events.push_back(ModelEvent::Unreadable { what, raw });
        }
    }

    /// Tells of the fields of a chunk of which nothing was understood.
    pub(super) fn push_unknown_fields(&mut self, data: &str, events: &mut VecDeque<ModelEvent>) {
        for (name, raw) in unknown_fields(data) {
            self.push_unreadable(UnreadableContent::Unknown(name), &raw, events);
        }
    }
}

/// The entries of a list, or what is no list itself, as they came.
fn raw_entries(list: &RawJson) -> Vec<String> {
    match serde_json::from_str::<Vec<RawJson>>(list.as_str()) {
        Ok(entries) => entries.iter().map(|entry| entry.as_str().to_owned()).collect(),
        Err(_) => vec![list.as_str().to_owned()],
    }
}
