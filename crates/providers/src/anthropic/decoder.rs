//! A decoder from the events of a message to model events.

use std::collections::{BTreeMap, VecDeque};

use serde_json::json;

use super::{
    PROVIDER_KIND,
    open_block::{OpenBlock, is_empty_object, with_content, with_input},
    wire::{Block, Citation, Delta, StopDetails, StreamEvent, Usage},
};
use crate::{
    answer_layout::LayoutRecorder,
    refusal::{constant_words, refusal_event},
    sources::CitedPages,
    transport::{
        decoder::{DecodeError, EventDecoder},
        other_protocol::detect_other_protocol,
    },
    unreadable::UnreadablePieces,
};
use parlor_base::settings::EndpointKind;
use parlor_model::{FinishReason, ModelEvent, ReportedUsage, UnreadableContent, lenient_json};
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
    layout: LayoutRecorder,
    /// The number of calls so far.
    calls: usize,
    /// The index of the ended call without arguments, and its input. Only what follows tells whether it was cut
    /// off: a server also ends a block at the maximum length.
    bare_call: Option<(usize, String)>,
    sources: CitedPages,
    usage: Usage,
    /// True if the usage of the answer was reported, and no event has it.
    has_unsent_usage: bool,
    /// The explanation of a refusal.
    refusal: Option<ModelEvent>,
    finish: Option<FinishReason>,
    unreadable: UnreadablePieces,
    has_begun: bool,
    has_ended: bool,
}

impl Default for MessageDecoder {
    fn default() -> Self {
        Self {
            message_id: String::new(),
            open: BTreeMap::new(),
            layout: LayoutRecorder::new(PROVIDER_KIND),
            calls: 0,
            bare_call: None,
            sources: CitedPages::default(),
            usage: Usage::default(),
            has_unsent_usage: false,
            refusal: None,
            finish: None,
            unreadable: UnreadablePieces::default(),
            has_begun: false,
            has_ended: false,
        }
    }
}

impl EventDecoder for MessageDecoder {
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
        let event: StreamEvent = serde_json::from_str(data).map_err(|_| DecodeError::invalid_frame(data))?;
        if let Some(error) = event.error.filter(|error| !error.is_null()) {
            return Err(DecodeError::ServerError(error));
        }
        if frame.event.as_deref() == Some("error") {
            let error = serde_json::from_str(data).unwrap_or_else(|_| data.into());
            return Err(DecodeError::ServerError(error));
        }
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
                    events.push_back(ModelEvent::InputCounted(self.usage.total()));
                }
            }
            "content_block_start" => {
                if let Some(raw) = event.content_block {
                    self.begin_block(event.index, raw, events);
                }
            }
            "content_block_delta" => self.decode_delta(event.index, event.delta, data, events),
            "content_block_stop" => self.end_block(event.index, events),
            "message_delta" => {
                self.has_unsent_usage |= event.usage.is_some();
                self.usage.update(event.usage.unwrap_or_default());
                self.refusal = explain(&event.delta.stop_details).or(self.refusal.take());
                self.finish = event
                    .delta
                    .stop_reason
                    .as_deref()
                    .map(parse_stop_reason)
                    .or(self.finish.take());
            }
            "message_stop" => self.push_finished(events),
            "ping" => {}
            _ if !self.has_begun => {
                if let Some(other) = detect_other_protocol(data, KIND) {
                    return Err(other);
                }
            }
            kind => self
                .unreadable
                .push(UnreadableContent::Unknown(kind.into()), data, events),
        }
        self.has_begun |= event.kind.starts_with("content_block_") || OTHER_EVENTS.contains(&&*event.kind);
        Ok(())
    }

    fn decode_whole(&mut self, json: &str, events: &mut VecDeque<ModelEvent>) -> Result<(), DecodeError> {
        let message: StreamEvent = match serde_json::from_str(json) {
            Ok(message) => message,
            Err(error) if error.is_eof() => return Err(DecodeError::Incomplete),
            Err(_) => return Err(DecodeError::NotAStream),
        };
        if let Some(error) = message.error.filter(|error| !error.is_null()) {
            return Err(DecodeError::ServerError(error));
        }
        let content = message.content.as_ref().filter(|_| message.kind == "message");
        let blocks = content.map(
            |content| match lenient_json::parse::<Vec<RawJson>>(content.as_str()) {
                Ok(blocks) => blocks,
                // A text alone, or the only block.
                Err(_) => vec![content.clone()],
            },
        );
        let Some(blocks) = blocks else {
            return Err(detect_other_protocol(json, KIND).unwrap_or(DecodeError::NotAStream));
        };
        for (index, block) in (0..).zip(blocks) {
            self.begin_block(index, block, events);
            self.end_block(index, events);
        }
        self.usage.update(message.usage.unwrap_or_default());
        self.refusal = explain(&message.stop_details);
        self.finish = message.stop_reason.as_deref().map(parse_stop_reason);
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
        std::mem::take(&mut self.has_unsent_usage).then(|| self.usage.total())
    }

    fn has_ended(&self) -> bool {
        self.has_ended
    }
}

impl MessageDecoder {
    fn begin_block(&mut self, index: u64, raw: RawJson, events: &mut VecDeque<ModelEvent>) {
        self.release_bare_call(events);
        let block = Block::parse(&raw);
        let open = match block.kind.as_str() {
            "text" => {
                for citation in block.citations.unwrap_or_default() {
                    self.add_source(citation, events);
                }
                self.layout.push_text(&block.text, events);
                OpenBlock::Text
            }
            "thinking" => {
                self.layout.push_thinking(&block.thinking, events);
                OpenBlock::Thinking {
                    text: block.thinking,
                    signature: block.signature,
                }
            }
            "redacted_thinking" => {
                self.layout.push_block(&raw, events);
                OpenBlock::Other
            }
            "tool_use" => {
                let index = self.calls;
                self.calls += 1;
                self.layout.push_call(events);
                let id = Some(block.id).filter(|id| !id.is_empty());
                events.push_back(ModelEvent::ToolCall {
                    index,
                    id: id.unwrap_or_else(|| format!("call_{index}")),
                    name: block.name,
                });
                OpenBlock::Call {
                    index,
                    input: block.input.map(|input| input.as_str().to_owned()),
                    has_arguments: false,
                }
            }
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
                self.layout.flush(events);
                let what = UnreadableContent::Image;
                let raw = crate::unreadable::raw_excerpt(raw.as_str());
                events.push_back(ModelEvent::Unreadable { what, raw });
                OpenBlock::Other
            }
            kind => {
                let what = UnreadableContent::Unknown(kind.into());
                self.unreadable.push(what, raw.as_str(), events);
                OpenBlock::Other
            }
        };
        self.open.insert(index, open);
    }

    fn decode_delta(&mut self, index: u64, delta: Delta, data: &str, events: &mut VecDeque<ModelEvent>) {
        match (delta.kind.as_str(), self.open.get_mut(&index)) {
            ("text_delta", _) => self.layout.push_text(&delta.text, events),
            ("thinking_delta", open) => {
                self.layout.push_thinking(&delta.thinking, events);
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
                    events.push_back(ModelEvent::ToolArguments {
                        index: *index,
                        delta: delta.partial_json,
                    });
                }
            }
            ("input_json_delta", Some(OpenBlock::Provider { input, .. })) => {
                input.push_str(&delta.partial_json);
            }
            ("compaction_delta", Some(OpenBlock::Provider { content, .. })) => {
                content.push_str(&delta.content)
            }
            ("citations_delta", _) => self.add_source(delta.citation.unwrap_or_default(), events),
            ("signature_delta" | "input_json_delta" | "compaction_delta", _) => {}
            (kind, _) => {
                let what = UnreadableContent::Unknown(kind.into());
                self.unreadable.push(what, data, events);
            }
        }
    }

    fn end_block(&mut self, index: u64, events: &mut VecDeque<ModelEvent>) {
        match self.open.remove(&index) {
            // Without a signature, the server would reject it.
            Some(OpenBlock::Thinking { text, signature }) if !signature.is_empty() => {
                let block = json!({ "type": "thinking", "thinking": text, "signature": signature });
                let raw = RawJson::parse_or_quote(&block.to_string());
                self.layout.push_block(&raw, events);
            }
            Some(OpenBlock::Call {
                index,
                input,
                has_arguments: false,
            }) => {
                self.release_bare_call(events);
                self.bare_call = Some((index, input.unwrap_or_else(|| "{}".into())));
            }
            Some(OpenBlock::Provider { raw, input, content }) => {
                let raw = with_content(with_input(raw, &input), content);
                self.layout.push_block(&raw, events);
                self.layout.end_paragraph(events);
            }
            _ => {}
        }
    }

    /// Emits the arguments of a call that has ended without any: its input, which usually is empty.
    fn release_bare_call(&mut self, events: &mut VecDeque<ModelEvent>) {
        if let Some((index, delta)) = self.bare_call.take() {
            events.push_back(ModelEvent::ToolArguments { index, delta });
        }
    }

    fn add_source(&mut self, citation: Citation, events: &mut VecDeque<ModelEvent>) {
        let url = citation
            .url
            .or(citation.source)
            .filter(|url| !url.trim().is_empty());
        let source = match url {
            // The source of a search result in the request may be any text.
            Some(url) if url.contains("://") => self.sources.add(&url, citation.title.as_deref()),
            Some(name) => self
                .sources
                .add_document([citation.title.as_deref().unwrap_or_default(), &name]),
            None => {
                let number = citation
                    .document_index
                    .map(|index| format!("Document {}", index + 1));
                let title = citation.title.unwrap_or_default();
                self.sources.add_document([
                    &*citation.document_title,
                    &title,
                    &citation.file_id,
                    number.as_deref().unwrap_or_default(),
                ])
            }
        };
        events.extend(source);
    }

    fn push_finished(&mut self, events: &mut VecDeque<ModelEvent>) {
        let open: Vec<u64> = self.open.keys().copied().collect();
        for index in open {
            self.release_bare_call(events);
            self.end_block(index, events);
        }
        let reason = self.finish.take().unwrap_or(FinishReason::Stop);
        let is_cut = |(_, input): &(usize, String)| reason.is_cut_short() && is_empty_object(input);
        match self.bare_call.as_ref().is_some_and(is_cut) {
            true => self.bare_call = None,
            false => self.release_bare_call(events),
        }
        match reason {
            FinishReason::PauseTurn => self.layout.separate_continuation(events),
            _ => self.layout.flush(events),
        }
        events.extend(self.refusal.take().filter(|_| reason.is_withheld()));
        self.has_unsent_usage = false;
        events.push_back(ModelEvent::Usage(self.usage.total()));
        let calls_tools = reason == FinishReason::Stop && self.calls > 0;
        events.push_back(ModelEvent::Finished(match calls_tools {
            true => FinishReason::ToolCalls,
            false => reason,
        }));
        self.has_ended = true;
    }
}

/// Returns the explanation of a refusal, or at least its category.
fn explain(details: &StopDetails) -> Option<ModelEvent> {
    refusal_event([&*details.explanation, &constant_words(&details.category, "")])
}

/// Returns the reason for this protocol's name of it. An unknown name is an ordinary end.
fn parse_stop_reason(reason: &str) -> FinishReason {
    match reason {
        "end_turn" | "stop_sequence" => FinishReason::Stop,
        "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
        "tool_use" => FinishReason::ToolCalls,
        // The answer goes on behind the summary.
        "compaction" => FinishReason::PauseTurn,
        _ => FinishReason::from(reason.to_owned()),
    }
}
