//! A decoder from the events of a message to model events.

use std::collections::BTreeMap;

use serde_json::json;

use super::{
    PROVIDER_KIND,
    finish::{explain, parse_stop_reason},
    open_block::{OpenBlock, with_content, with_input},
    wire::{Block, Citation, Delta, StopDetails, StreamEvent, Usage},
};
use crate::{
    answer::Answer,
    transport::{
        event_decoder::{
            DecodeError, EventDecoder, check_error, check_frame_name, frame_data, parse_frame, parse_whole,
        },
        other_protocol::foreign_answer,
    },
    unreadable::raw_excerpt,
};
use parlor_base::settings::EndpointKind;
use parlor_model::{FinishReason, ModelEvent, UnreadableContent, lenient_json};
use parlor_protocol::{RawJson, sse::SseFrame};

const KIND: EndpointKind = EndpointKind::Anthropic;

/// Events without content.
const OTHER_EVENTS: [&str; 4] = ["ping", "message_start", "message_delta", "message_stop"];

/// Blocks besides those of the server's own tools that go back to it: the summary of what came before, and files of its container.
const RETURNED_BLOCKS: [&str; 2] = ["compaction", "container_upload"];

/// Blocks that only report a fact about the answer.
const BLOCKS_WITHOUT_CONTENT: [&str; 1] = ["fallback"];

/// Decodes the events of one message.
#[derive(Debug)]
pub struct MessageDecoder {
    /// The id of the message, once it has begun.
    message_id: String,
    /// The blocks that have not ended.
    open: BTreeMap<u64, OpenBlock>,
    usage: Usage,
    answer: Answer,
}

impl Default for MessageDecoder {
    fn default() -> Self {
        Self {
            message_id: String::new(),
            open: BTreeMap::new(),
            usage: Usage::default(),
            answer: Answer::new(PROVIDER_KIND),
        }
    }
}

impl EventDecoder for MessageDecoder {
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
        check_error(event.error)?;
        check_frame_name(frame, data)?;
        let is_own = event.kind.starts_with("content_block_") || OTHER_EVENTS.contains(&&*event.kind);
        let had_begun = self.answer.has_begun;
        self.answer.note_frame(is_own, data, KIND)?;
        match event.kind.as_str() {
            "message_start" => {
                let message = event.message.unwrap_or_default();
                let is_first = self.message_id.is_empty();
                // The blocks of another message have the same indices.
                if !is_first && !message.id.is_empty() && message.id != self.message_id {
                    return Err(DecodeError::invalid_frame(data));
                }
                self.usage.update(message.usage.unwrap_or_default());
                if is_first {
                    self.message_id = message.id;
                    let counted = ModelEvent::InputCounted(self.usage.total());
                    self.answer.events.push_back(counted);
                }
            }
            "content_block_start" => {
                if let Some(raw) = event.content_block {
                    self.begin_block(event.index, raw);
                }
            }
            "content_block_delta" => self.decode_delta(event.index, event.delta, data),
            "content_block_stop" => self.end_block(event.index),
            "message_delta" => {
                if let Some(usage) = event.usage {
                    self.usage.update(usage);
                    self.answer.usage = Some(self.usage.total());
                }
                self.note_end(&event.delta.stop_details, event.delta.stop_reason.as_deref());
            }
            "message_stop" => self.end(),
            "ping" => {}
            _ if !had_begun => {}
            kind => self.answer.push_unknown(kind, data),
        }
        Ok(())
    }

    fn decode_whole(&mut self, json: &str) -> Result<(), DecodeError> {
        let message: StreamEvent = parse_whole(json)?;
        check_error(message.error)?;
        let content = message.content.as_ref().filter(|_| message.kind == "message");
        let blocks = content.map(
            |content| match lenient_json::parse::<Vec<RawJson>>(content.as_str()) {
                Ok(blocks) => blocks,
                // A text alone, or the only block.
                Err(_) => vec![content.clone()],
            },
        );
        let Some(blocks) = blocks else {
            return Err(foreign_answer(json, KIND));
        };
        for (index, block) in (0..).zip(blocks) {
            self.begin_block(index, block);
            self.end_block(index);
        }
        self.usage.update(message.usage.unwrap_or_default());
        self.note_end(&message.stop_details, message.stop_reason.as_deref());
        self.end();
        Ok(())
    }

    fn end(&mut self) {
        let open: Vec<u64> = self.open.keys().copied().collect();
        for index in open {
            self.answer.release_bare_call();
            self.end_block(index);
        }
        let reason = self.answer.take_reason();
        self.answer.end_calls(&reason);
        if reason == FinishReason::PauseTurn {
            self.answer.separate_continuation();
        }
        self.answer.usage = Some(self.usage.total());
        self.answer.end(reason);
    }
}

impl MessageDecoder {
    /// Notes the reason of the end and its explanation, as far as they have come.
    fn note_end(&mut self, details: &StopDetails, reason: Option<&str>) {
        let answer = &mut self.answer;
        answer.refusal = explain(details).or(answer.refusal.take());
        answer.finish = reason.map(parse_stop_reason).or(answer.finish.take());
    }

    fn begin_block(&mut self, index: u64, raw: RawJson) {
        self.answer.release_bare_call();
        let block = Block::parse(&raw);
        let open = match block.kind.as_str() {
            "text" => {
                for citation in block.citations.unwrap_or_default() {
                    self.add_source(citation);
                }
                self.answer.push_text(&block.text);
                OpenBlock::Text
            }
            "thinking" => {
                self.answer.push_thinking(&block.thinking);
                OpenBlock::Thinking {
                    text: block.thinking,
                    signature: block.signature,
                }
            }
            "redacted_thinking" => {
                self.answer.push_block(&raw);
                OpenBlock::Other
            }
            "tool_use" => OpenBlock::Call {
                index: self.answer.begin_call(block.id, block.name),
                input: block.input.map(|input| input.as_str().to_owned()),
                has_arguments: false,
            },
            kind if kind.ends_with("_tool_use")
                || kind.ends_with("_tool_result")
                || RETURNED_BLOCKS.contains(&kind) =>
            {
                OpenBlock::Provider {
                    raw,
                    input: String::new(),
                    content: String::new(),
                }
            }
            kind if BLOCKS_WITHOUT_CONTENT.contains(&kind) => OpenBlock::Other,
            "image" => {
                self.answer.flush();
                let (what, raw) = (UnreadableContent::Image, raw_excerpt(raw.as_str()));
                self.answer.events.push_back(ModelEvent::Unreadable { what, raw });
                OpenBlock::Other
            }
            kind => {
                self.answer.push_unknown(kind, raw.as_str());
                OpenBlock::Other
            }
        };
        self.open.insert(index, open);
    }

    fn decode_delta(&mut self, index: u64, delta: Delta, data: &str) {
        match (delta.kind.as_str(), self.open.get_mut(&index)) {
            ("text_delta", _) => self.answer.push_text(&delta.text),
            ("thinking_delta", open) => {
                self.answer.push_thinking(&delta.thinking);
                if let Some(OpenBlock::Thinking { text, .. }) = open {
                    text.push_str(&delta.thinking);
                }
            }
            ("signature_delta", Some(OpenBlock::Thinking { signature, .. })) => {
                signature.push_str(&delta.signature);
            }
            (
                "input_json_delta",
                Some(OpenBlock::Call {
                    index, has_arguments, ..
                }),
            ) => {
                if !delta.partial_json.is_empty() {
                    *has_arguments = true;
                    self.answer.push_arguments(*index, delta.partial_json);
                }
            }
            ("input_json_delta", Some(OpenBlock::Provider { input, .. })) => {
                input.push_str(&delta.partial_json);
            }
            ("compaction_delta", Some(OpenBlock::Provider { content, .. })) => {
                content.push_str(&delta.content)
            }
            ("citations_delta", _) => self.add_source(delta.citation.unwrap_or_default()),
            ("signature_delta" | "input_json_delta" | "compaction_delta", _) => {}
            (kind, _) => self.answer.push_unknown(kind, data),
        }
    }

    fn end_block(&mut self, index: u64) {
        match self.open.remove(&index) {
            // Without a signature, the server would reject it.
            Some(OpenBlock::Thinking { text, signature }) if !signature.is_empty() => {
                let block = json!({ "type": "thinking", "thinking": text, "signature": signature });
                let raw = RawJson::parse_or_quote(&block.to_string());
                self.answer.push_block(&raw);
            }
            Some(OpenBlock::Call {
                index,
                input,
                has_arguments: false,
            }) => self
                .answer
                .end_bare_call(index, input.unwrap_or_else(|| "{}".into())),
            Some(OpenBlock::Provider { raw, input, content }) => {
                let raw = with_content(with_input(raw, &input), content);
                self.answer.push_tool_block(&raw);
            }
            _ => {}
        }
    }

    fn add_source(&mut self, citation: Citation) {
        let url = citation
            .url
            .or(citation.source)
            .filter(|url| !url.trim().is_empty());
        match url {
            // The source of a search result in the request may be any text.
            Some(url) if url.contains("://") => self.answer.add_page(&url, citation.title.as_deref()),
            Some(name) => self
                .answer
                .add_document([citation.title.as_deref().unwrap_or_default(), &name]),
            None => {
                let number = citation
                    .document_index
                    .map(|index| format!("Document {}", index + 1));
                self.answer.add_document([
                    &*citation.document_title,
                    &citation.title.unwrap_or_default(),
                    &citation.file_id,
                    number.as_deref().unwrap_or_default(),
                ]);
            }
        }
    }
}
