//! The vocabulary of model calls: what a model is asked, what it says, which tools it may call, and how a call fails. Provider
//! adapters (`providers`), the agent and the tools share it; it does no I/O and knows no provider.

mod endpoint;
mod error;
mod event;
mod request;
pub mod tokens;
mod tool;

pub use self::{
    endpoint::{Endpoint, ListedModels, Manners, ModelStream, Sent},
    error::{ModelError, ModelErrorKind},
    event::{Beside, Cost, ModelEvent, Unread, Usage},
    request::{ModelMessage, ModelRequest},
    tool::{Done, Made, ToolPlan, ToolSpec, ToolUse, Toolbox},
};
pub use crate::protocol::FinishReason;
