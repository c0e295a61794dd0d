//! The events of one model call.

use crate::protocol::{CitedSource, FinishReason, Opaque};

/// An event of a model call. Events arrive in the order of the answer.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    /// A delta of the reasoning.
    Thinking(String),
    /// A delta of the answer's text.
    Text(String),
    /// The start of a tool call. `index` is its position among the calls of this answer.
    ToolCall { index: usize, id: String, name: String },
    /// A delta of a tool call's arguments, which are JSON once complete.
    ToolArguments { index: usize, delta: String },
    /// The usage of the call so far.
    Usage(Usage),
    /// All text of the current answer so far was reasoning: its end tag came without an opening tag.
    TextWasThinking,
    /// All sources so far, from the server, numbered as the text cites them.
    Sources(Vec<CitedSource>),
    /// Data that only this provider understands and expects to be sent back.
    Opaque { beside: OpaqueTarget, data: Opaque },
    /// A piece of the answer that can't be read, and the beginning of its raw text.
    Unreadable { what: UnreadableContent, raw: String },
    /// The reason for the end of the answer. A stream that ends without this event has broken off.
    Finished(FinishReason),
}

/// The piece of the current answer that [`Opaque`] data belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpaqueTarget {
    /// The answer as a whole.
    Answer,
    /// The last thinking or text.
    LastPart,
    /// The tool call with this index.
    ToolCall(usize),
}

/// A piece of an answer that can't be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnreadableContent {
    Image,
    /// Audio without a transcript.
    Audio,
    /// An unknown field or type of this name.
    Unknown(String),
    /// A piece that was left out for its size, with a description.
    TooLarge(String),
}

impl UnreadableContent {
    /// Returns the name of the content.
    pub fn name(&self) -> &str {
        match self {
            Self::Image => "image",
            Self::Audio => "audio",
            Self::Unknown(name) | Self::TooLarge(name) => name,
        }
    }
}

/// Token counts as reported by the model server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The whole input, cached or not.
    pub input_tokens: u64,
    /// The whole output, thinking included.
    pub output_tokens: u64,
    /// The part of the input that was read from the server's cache.
    pub cached_input_tokens: u64,
    /// The part of the input that was written to the server's cache.
    pub cache_write_tokens: u64,
    /// The part of the output that is thinking.
    pub thinking_tokens: u64,
    /// The cost, if the server reports it.
    pub cost: Option<Cost>,
}

/// Money in billionths of a US dollar. A token costs millionths, and integer sums do not depend on their
/// order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost(pub u64);

impl Cost {
    /// Converts a price. Returns `None` for negative, non-finite and absurdly high values.
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        let nanos = (dollars * 1e9).round();
        (0.0..1e18).contains(&nanos).then_some(Self(nanos as u64))
    }

    pub fn dollars(self) -> f64 {
        self.0 as f64 / 1e9
    }
}
