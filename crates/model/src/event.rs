//! The events of one model call.

use super::{EncodedImage, ReportedUsage};
use parlor_protocol::{CitedSource, FinishReason, ProviderData};

/// An event of a model call. Events arrive in the order of the answer.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    /// A delta of the thinking.
    Thinking(String),
    /// A delta of the answer's text.
    Text(String),
    /// The start of a tool call. `index` is its position among the calls of this answer.
    ToolCall { index: usize, id: String, name: String },
    /// A delta of a tool call's arguments, which are JSON once complete.
    ToolArguments { index: usize, delta: String },
    /// The tokens of the request, counted when the answer begins. Those of the answer are not known yet.
    InputCounted(ReportedUsage),
    /// The usage of the call so far.
    Usage(ReportedUsage),
    /// All text of the current answer so far was thinking: its end tag came without an opening tag.
    TextWasThinking,
    /// All sources so far, from the server, numbered as the text cites them.
    Sources(Vec<CitedSource>),
    /// Data that only this provider understands and expects to be sent back, and the part it belongs to.
    ProviderData {
        target: ProviderDataTarget,
        data: ProviderData,
    },
    /// An image in the answer, as the server sent it. Nothing of it has been checked.
    Image(EncodedImage),
    /// Content of the answer that can't be read, and the beginning of its raw text.
    Unreadable { what: UnreadableContent, raw: String },
    /// A note about the call for the user, in a sentence: what the server does not take.
    Note(String),
    /// The server's words for withholding the answer, before the end of it.
    Refusal(String),
    /// The reason for the end of the answer. A stream that ends without this event has broken off.
    Finished(FinishReason),
}

/// The part of the current answer that [`ProviderData`] belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderDataTarget {
    /// The answer as a whole.
    Answer,
    /// The last thinking or text.
    LastPart,
    /// The tool call with this index.
    ToolCall(usize),
}

/// Content of an answer that can't be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnreadableContent {
    Image,
    /// Audio without a transcript.
    Audio,
    /// An unknown field or type of this name.
    Unknown(String),
    /// Content that was left out for its size, with a description.
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
