//! What the two halves, and any other client, say to each other: ids, messages, events, the reducer
//! and the framing of the event stream.
//!
//! Serde only, no business logic, no I/O; compiled for the server and for the browser. What an event
//! *means* is here ([`transcript`], [`conversation_list`]) and nowhere else.

pub mod chat;
pub mod conversation_list;
pub mod event;
mod flat;
pub mod id;
pub mod intent;
pub mod json;
pub mod memory;
pub mod message;
pub mod panel;
pub mod parameters;
pub mod payload;
pub mod sorted;
pub mod sse;
pub mod suggestion;
pub mod time;
pub mod tool;
pub mod transcript;
pub mod usage;

pub use conversation_list::{ConversationList, ConversationSummary};
pub use event::{Event, EventBody, Notice, Position};
pub use id::{ConversationId, IntentId, MemoryId, MessageId, UserId};
pub use json::Json;
pub use memory::Memory;
pub use message::{
    AssistantMessage, Message, MessageBody, Node, Part, Piece, PieceKind, RunError, RunStatus,
};
pub use panel::PanelView;
pub use parameters::{AskedParameters, Parameters, ThinkingLevel};
pub use payload::{Payload, PayloadRef};
pub use suggestion::{ActionHandler, ActionStyle, Source, SuggestedAction, SuggestedValue};
pub use time::Timestamp;
pub use tool::{AskedCall, Fraction, ToolCall, ToolProgress, ToolStatus};
pub use transcript::{OlderMessages, Transcript};
pub use usage::Usage;
