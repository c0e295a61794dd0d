//! The bytes of a stream: those of a chat completion are made here, one `data:` line of a chunk each.

use std::time::{SystemTime, UNIX_EPOCH};

use bytes::{BufMut, Bytes, BytesMut};
use serde_json::{Value, json};

use crate::{native_frames::NativeFrames, protocol::Protocol, script::ThinkingFormat};

pub const DONE: &[u8] = b"data: [DONE]\n\n";

/// Space for the frames of some hundred tokens, allocated at once.
const BLOCK_BYTES: usize = 64 << 10;

/// A builder of the frames of one answer.
pub struct Frames {
    /// The builder for another protocol than chat completions.
    native: Option<NativeFrames>,
    model: String,
    spelling: ThinkingFormat,
    /// True if thinking was opened with a tag and not closed.
    in_tags: bool,
    /// The number of tool calls so far.
    calls: u64,
    prefix: Vec<u8>,
    block: BytesMut,
}

const FRAME_SUFFIX: &[u8] = b"\"},\"finish_reason\":null}]}\n\n";

impl Frames {
    pub fn new(protocol: Protocol, model: &str, spelling: ThinkingFormat) -> Self {
        let is_native = protocol != Protocol::ChatCompletions;
        let id = format!(
            r#"data: {{"id":"chatcmpl-scripted","object":"chat.completion.chunk","created":0,"model":{},"choices":[{{"index":0,"delta":{{"content":""#,
            Value::from(model)
        );
        Self {
            native: is_native.then(|| NativeFrames::new(protocol, model)),
            model: model.to_owned(),
            spelling,
            calls: 0,
            in_tags: false,
            prefix: id.into_bytes(),
            block: BytesMut::new(),
        }
    }

    pub fn role(&mut self) -> Bytes {
        if let Some(native) = &mut self.native {
            return native.opening();
        }
        self.delta(json!({"role": "assistant", "content": null}))
    }

    pub fn text(&mut self, text: &str) -> Bytes {
        if let Some(native) = &mut self.native {
            return native.text(text);
        }
        let closing = if std::mem::take(&mut self.in_tags) {
            "</think>"
        } else {
            ""
        };
        match self.spelling {
            ThinkingFormat::Parts => self.delta(json!({"content": [{"type": "text", "text": text}]})),
            _ => self.delta(json!({"content": format!("{closing}{text}")})),
        }
    }

    pub fn thinking(&mut self, text: &str) -> Bytes {
        if let Some(native) = &mut self.native {
            return native.thinking(text);
        }
        match self.spelling {
            ThinkingFormat::ReasoningContent => {
                self.delta(json!({"content": null, "reasoning_content": text}))
            }
            ThinkingFormat::Reasoning => self.delta(json!({"content": "", "reasoning": text})),
            ThinkingFormat::Parts => self.delta(json!({
                "content": [{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]
            })),
            ThinkingFormat::Tags => {
                let opening = if std::mem::replace(&mut self.in_tags, true) {
                    ""
                } else {
                    "<think>"
                };
                self.delta(json!({"content": format!("{opening}{text}")}))
            }
        }
    }

    /// Returns a token whose JSON text `write` puts into its frame. Allocates only a block now and then.
    pub fn token(&mut self, write: impl FnOnce(&mut BytesMut)) -> Bytes {
        if let Some(native) = &mut self.native {
            let mut token = BytesMut::new();
            write(&mut token);
            return native.text(&String::from_utf8_lossy(&token));
        }
        if self.block.capacity() - self.block.len() < self.prefix.len() + 128 {
            self.block = BytesMut::with_capacity(BLOCK_BYTES);
        }
        self.block.put_slice(&self.prefix);
        write(&mut self.block);
        self.block.put_slice(FRAME_SUFFIX);
        self.block.split().freeze()
    }

    pub fn tool_call(&mut self, id: &str, name: &str, arguments: &str) -> Bytes {
        if let Some(native) = &mut self.native {
            return native.tool_call(id, name, arguments);
        }
        let function = json!({"name": name, "arguments": arguments});
        let index = self.calls;
        self.calls += 1;
        self.delta(
            json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]}),
        )
    }

    /// Returns the last chunks. With tags, open thinking is closed first.
    pub fn finish(&mut self, reason: &str, tokens: u64) -> Bytes {
        if let Some(native) = &mut self.native {
            return native.finish(reason, tokens);
        }
        let mut bytes = Vec::new();
        if self.in_tags {
            bytes.extend_from_slice(&self.text(""));
        }
        let choice = json!({"index": 0, "delta": {}, "finish_reason": reason});
        bytes.extend_from_slice(&frame(&self.chunk(json!([choice]))));
        let mut usage = self.chunk(json!([]));
        usage["usage"] =
            json!({"prompt_tokens": 10, "completion_tokens": tokens, "total_tokens": tokens + 10});
        bytes.extend_from_slice(&frame(&usage));
        bytes.extend_from_slice(DONE);
        bytes.into()
    }

    /// Returns the end marker alone.
    pub fn done(&mut self) -> Bytes {
        match &mut self.native {
            Some(native) => native.done(),
            None => Bytes::from_static(DONE),
        }
    }

    /// Returns an error in the stream.
    pub fn error(&self, error: &Value) -> Bytes {
        match &self.native {
            Some(native) => native.error(error),
            None => frame(&json!({ "error": error })),
        }
    }

    fn delta(&self, delta: Value) -> Bytes {
        frame(&self.chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}])))
    }

    fn chunk(&self, choices: Value) -> Value {
        json!({
            "id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 0, "model": self.model,
            "choices": choices,
        })
    }
}

pub fn frame(json: &Value) -> Bytes {
    format!("data: {json}\n\n").into()
}

/// Returns microseconds since the epoch, a clock that all processes of a machine share.
pub fn now_micros() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// Writes a number without an allocation.
pub fn put_number(to: &mut BytesMut, number: u64) {
    use std::io::Write;
    // Writing to a growable buffer does not fail.
    let _ = write!(to.writer(), "{number}");
}

/// Splits a text into words, each with the space before it.
pub fn split_words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut after_space = true;
    for c in text.chars() {
        let is_space = c.is_whitespace();
        match words.last_mut() {
            Some(word) if !is_space || after_space => word.push(c),
            _ => words.push(c.into()),
        }
        after_space = is_space;
    }
    words
}
