//! The vocabulary of model calls: requests, events, tools and errors. The provider adapters (`providers`),
//! the agent and the tools share it. It does no I/O and knows no provider. [`lenient_json`] reads what models take for JSON,
//! [`control`] finds the text that they write for Parlor.

pub mod control;
mod endpoint;
mod error;
mod event;
mod image;
pub mod lenient_json;
mod request;
pub mod roles;
pub mod tokens;
mod tool;
mod usage;

pub use self::{
    endpoint::{Endpoint, ListedModels, ModelStream, RequestPreview, ServerCapabilities},
    error::{ErrorReply, ModelError, ModelErrorKind},
    event::{ModelEvent, ProviderDataTarget, UnreadableContent},
    image::{
        EncodedImage, ImageAnswer, ImageApi, ImageDecodeError, ImageError, ImageRequest, ImageShape,
        ImageSize, ReceivedImage, SourceImage,
    },
    request::{ModelFile, ModelMessage, ModelRequest},
    tool::{ToolArtifacts, ToolInput, ToolOutcome, ToolPlan, ToolSpec, ToolUse, Toolbox},
    usage::ReportedUsage,
};
pub use parlor_protocol::FinishReason;
