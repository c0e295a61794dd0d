//! The events of the protocols other than chat completions.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::{
    frames::{DONE, frame},
    protocol::Protocol,
};

/// The kind of the block that is being sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockKind {
    Text,
    Thinking,
}

/// A builder of the events of one answer.
pub struct NativeFrames {
    protocol: Protocol,
    model: String,
    has_begun: bool,
    /// The block that is open (Messages, Responses).
    open: Option<BlockKind>,
    /// The number of blocks so far.
    blocks: u64,
    /// True if the model has thought since its last call, whose signature the next call brings (Gemini).
    has_thought: bool,
}

impl NativeFrames {
    pub fn new(protocol: Protocol, model: &str) -> Self {
        Self {
            protocol,
            model: model.to_owned(),
            has_begun: false,
            open: None,
            blocks: 0,
            has_thought: false,
        }
    }

    /// Returns the first event; nothing if the protocol has none.
    pub fn opening(&mut self) -> Bytes {
        let mut bytes = Vec::new();
        self.begin(&mut bytes);
        bytes.into()
    }

    pub fn text(&mut self, text: &str) -> Bytes {
        self.delta(BlockKind::Text, text)
    }

    pub fn thinking(&mut self, text: &str) -> Bytes {
        self.delta(BlockKind::Thinking, text)
    }

    pub fn tool_call(&mut self, id: &str, name: &str, arguments: &str) -> Bytes {
        let mut bytes = Vec::new();
        self.begin(&mut bytes);
        self.close(&mut bytes);
        let index = self.blocks;
        self.blocks += 1;
        match self.protocol {
            Protocol::Messages => {
                let block = json!({ "type": "tool_use", "id": id, "name": name, "input": {} });
                let delta = json!({ "type": "input_json_delta", "partial_json": arguments });
                for event in [
                    json!({ "type": "content_block_start", "index": index, "content_block": block }),
                    json!({ "type": "content_block_delta", "index": index, "delta": delta }),
                    json!({ "type": "content_block_stop", "index": index }),
                ] {
                    self.push(&mut bytes, &event);
                }
            }
            Protocol::Responses => {
                let item_id = format!("fc_{index}");
                let item = |arguments: &str| {
                    json!({
                        "type": "function_call", "id": item_id, "call_id": id, "name": name, "arguments": arguments,
                    })
                };
                for event in [
                    json!({ "type": "response.output_item.added", "output_index": index, "item": item("") }),
                    json!({
                        "type": "response.function_call_arguments.delta", "output_index": index, "item_id": item_id,
                        "delta": arguments,
                    }),
                    json!({
                        "type": "response.output_item.done", "output_index": index, "item": item(arguments),
                    }),
                ] {
                    self.push(&mut bytes, &event);
                }
            }
            Protocol::GenerateContent | Protocol::ChatCompletions => {
                let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
                let mut part = json!({ "functionCall": { "name": name, "args": arguments } });
                // Only the first of parallel calls is signed.
                if std::mem::take(&mut self.has_thought) {
                    part["thoughtSignature"] = json!(format!("thought-{index}"));
                }
                self.push(&mut bytes, &self.candidate(&part, None));
            }
        }
        bytes.into()
    }

    /// Returns the last events. `reason` is OpenAI's name of the finish reason, or the protocol's own.
    pub fn finish(&mut self, reason: &str, tokens: u64) -> Bytes {
        let mut bytes = Vec::new();
        self.begin(&mut bytes);
        self.close(&mut bytes);
        match self.protocol {
            Protocol::Messages => {
                let reason = match reason {
                    "stop" => "end_turn",
                    "length" => "max_tokens",
                    "tool_calls" => "tool_use",
                    "content_filter" => "refusal",
                    other => other,
                };
                self.push(
                    &mut bytes,
                    &json!({
                        "type": "message_delta", "delta": { "stop_reason": reason, "stop_sequence": null },
                        "usage": { "output_tokens": tokens },
                    }),
                );
                self.push(&mut bytes, &json!({ "type": "message_stop" }));
            }
            Protocol::Responses => {
                let (kind, details) = match reason {
                    "stop" | "tool_calls" => ("completed", Value::Null),
                    "length" => ("incomplete", json!({ "reason": "max_output_tokens" })),
                    other => ("incomplete", json!({ "reason": other })),
                };
                self.push(
                    &mut bytes,
                    &json!({ "type": format!("response.{kind}"), "response": {
                        "id": "resp_scripted", "object": "response", "status": kind, "error": null,
                        "incomplete_details": details,
                        "usage": { "input_tokens": 10, "output_tokens": tokens },
                    } }),
                );
            }
            Protocol::GenerateContent | Protocol::ChatCompletions => {
                let reason = match reason {
                    "stop" | "tool_calls" => "STOP",
                    "length" => "MAX_TOKENS",
                    "content_filter" => "PROHIBITED_CONTENT",
                    other => other,
                };
                let mut last = self.candidate(&json!({ "text": "" }), Some(reason));
                last["usageMetadata"] = json!({ "promptTokenCount": 10, "candidatesTokenCount": tokens });
                self.push(&mut bytes, &last);
            }
        }
        bytes.into()
    }

    /// Returns the end marker alone. Google's protocol has none.
    pub fn done(&mut self) -> Bytes {
        match self.protocol {
            Protocol::Messages => event_frame(&json!({ "type": "message_stop" })),
            Protocol::Responses => {
                let response = json!({ "object": "response", "status": "completed" });
                event_frame(&json!({ "type": "response.completed", "response": response }))
            }
            Protocol::GenerateContent => Bytes::new(),
            Protocol::ChatCompletions => Bytes::from_static(DONE),
        }
    }

    /// Returns an error in the stream.
    pub fn error(&self, error: &Value) -> Bytes {
        match self.protocol {
            Protocol::Messages | Protocol::Responses => {
                event_frame(&json!({ "type": "error", "error": error }))
            }
            Protocol::GenerateContent | Protocol::ChatCompletions => frame(&json!({ "error": error })),
        }
    }

    fn delta(&mut self, kind: BlockKind, text: &str) -> Bytes {
        let mut bytes = Vec::new();
        self.begin(&mut bytes);
        let is_thinking = kind == BlockKind::Thinking;
        self.has_thought |= is_thinking;
        if self.protocol == Protocol::GenerateContent {
            let part = match is_thinking {
                true => json!({ "text": text, "thought": true }),
                false => json!({ "text": text }),
            };
            self.push(&mut bytes, &self.candidate(&part, None));
            return bytes.into();
        }
        if self.open != Some(kind) {
            self.close(&mut bytes);
            self.open_block(kind, &mut bytes);
        }
        let index = self.blocks - 1;
        let event = match (self.protocol, is_thinking) {
            (Protocol::Messages, true) => json!({
                "type": "content_block_delta", "index": index,
                "delta": { "type": "thinking_delta", "thinking": text },
            }),
            (Protocol::Messages, false) => json!({
                "type": "content_block_delta", "index": index, "delta": { "type": "text_delta", "text": text },
            }),
            (_, true) => json!({
                "type": "response.reasoning_summary_text.delta", "output_index": index, "summary_index": 0,
                "delta": text,
            }),
            (_, false) => json!({
                "type": "response.output_text.delta", "output_index": index, "content_index": 0, "delta": text,
            }),
        };
        self.push(&mut bytes, &event);
        bytes.into()
    }

    fn begin(&mut self, bytes: &mut Vec<u8>) {
        if std::mem::replace(&mut self.has_begun, true) {
            return;
        }
        let model = &self.model;
        match self.protocol {
            Protocol::Messages => self.push(
                bytes,
                &json!({ "type": "message_start", "message": {
                    "id": "msg_scripted", "type": "message", "role": "assistant", "model": model, "content": [],
                    "stop_reason": null, "usage": { "input_tokens": 10, "output_tokens": 1 },
                } }),
            ),
            Protocol::Responses => self.push(
                bytes,
                &json!({ "type": "response.created", "response": {
                    "id": "resp_scripted", "object": "response", "status": "in_progress", "model": model,
                } }),
            ),
            Protocol::GenerateContent | Protocol::ChatCompletions => {}
        }
    }

    fn open_block(&mut self, kind: BlockKind, bytes: &mut Vec<u8>) {
        let index = self.blocks;
        self.blocks += 1;
        self.open = Some(kind);
        let event = match (self.protocol, kind) {
            (Protocol::Messages, BlockKind::Text) => json!({
                "type": "content_block_start", "index": index, "content_block": { "type": "text", "text": "" },
            }),
            (Protocol::Messages, BlockKind::Thinking) => json!({
                "type": "content_block_start", "index": index,
                "content_block": { "type": "thinking", "thinking": "", "signature": "" },
            }),
            (_, BlockKind::Text) => json!({
                "type": "response.output_item.added", "output_index": index,
                "item": { "type": "message", "id": format!("msg_{index}"), "role": "assistant", "content": [] },
            }),
            (_, BlockKind::Thinking) => json!({
                "type": "response.output_item.added", "output_index": index,
                "item": { "type": "reasoning", "id": format!("rs_{index}"), "summary": [] },
            }),
        };
        self.push(bytes, &event);
    }

    /// Ends the open block. A block of thinking is signed.
    fn close(&mut self, bytes: &mut Vec<u8>) {
        let Some(kind) = self.open.take() else { return };
        let index = self.blocks - 1;
        match (self.protocol, kind) {
            (Protocol::Messages, kind) => {
                if kind == BlockKind::Thinking {
                    let delta =
                        json!({ "type": "signature_delta", "signature": format!("signature-{index}") });
                    self.push(
                        bytes,
                        &json!({ "type": "content_block_delta", "index": index, "delta": delta }),
                    );
                }
                self.push(bytes, &json!({ "type": "content_block_stop", "index": index }));
            }
            (_, BlockKind::Thinking) => {
                let item = json!({
                    "type": "reasoning", "id": format!("rs_{index}"), "summary": [],
                    "encrypted_content": format!("encrypted-{index}"),
                });
                self.push(
                    bytes,
                    &json!({ "type": "response.output_item.done", "output_index": index, "item": item }),
                );
            }
            (_, BlockKind::Text) => {}
        }
    }

    fn candidate(&self, part: &Value, reason: Option<&str>) -> Value {
        let mut candidate = json!({ "content": { "role": "model", "parts": [part] }, "index": 0 });
        if let Some(reason) = reason {
            candidate["finishReason"] = json!(reason);
        }
        json!({ "candidates": [candidate], "modelVersion": self.model })
    }

    fn push(&self, bytes: &mut Vec<u8>, event: &Value) {
        bytes.extend_from_slice(&match self.protocol {
            Protocol::GenerateContent => frame(event),
            _ => event_frame(event),
        });
    }
}

/// Returns an event that is named after its type.
fn event_frame(event: &Value) -> Bytes {
    let name = event["type"].as_str().unwrap_or_default();
    format!("event: {name}\ndata: {event}\n\n").into()
}
