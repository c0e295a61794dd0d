//! What a model says in one call.

use crate::protocol::{CitedSource, FinishReason, Opaque};

/// What a model says, in the order in which it says it.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    /// More of its reasoning.
    Thinking(String),
    /// More of its answer.
    Text(String),
    /// It begins to ask for a tool call; `index` is the call's place among those of this answer.
    ToolCall { index: usize, id: String, name: String },
    /// More of a tool call's arguments, which are JSON once they are whole.
    ToolArguments { index: usize, delta: String },
    /// What the call has cost so far.
    Usage(Usage),
    /// All text of the present answer so far was reasoning: its end came, and no beginning was marked.
    TextWasThinking,
    /// Where the answer has it from, as the server says: all of it so far, numbered as the text cites it.
    Sources(Vec<CitedSource>),
    /// What only this provider understands, and wants to see again.
    Opaque { beside: OpaqueTarget, data: Opaque },
    /// A piece of the answer that can't be taken in, and the beginning of it as it came.
    Unreadable { what: UnreadableContent, raw: String },
    /// It said why it stopped. A stream that ends without this has broken off.
    Finished(FinishReason),
}

/// Which piece of the present answer [`Opaque`] data belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpaqueTarget {
    /// The answer as a whole.
    Answer,
    /// The thinking or the text that came last.
    LastPart,
    /// The tool call with this index.
    ToolCall(usize),
}

/// A piece of an answer that can't be taken in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnreadableContent {
    Image,
    /// Sound without its words.
    Audio,
    /// A field or a type of this name.
    Unknown(String),
    /// Something that was left out for its size; why.
    TooLarge(String),
}

impl UnreadableContent {
    /// The name of what could not be taken in.
    pub fn name(&self) -> &str {
        match self {
            Self::Image => "image",
            Self::Audio => "audio",
            Self::Unknown(name) | Self::TooLarge(name) => name,
        }
    }
}

/// Tokens, as the model server counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// What it costs, if the server says so.
    pub cost: Option<Cost>,
}

/// Money, in billionths of a US dollar: a token costs millionths, and sums must not depend on their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost(pub u64);

impl Cost {
    /// What is not a price, or none that anyone could pay, is nothing.
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        let nanos = (dollars * 1e9).round();
        (0.0..1e18).contains(&nanos).then_some(Self(nanos as u64))
    }

    pub fn dollars(self) -> f64 {
        self.0 as f64 / 1e9
    }
}
