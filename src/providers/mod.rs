//! Models: where they are, and how to talk with them.
//!
//! An adapter turns the wire stream of one kind of model server into the same small set of
//! [`ModelEvent`]s. It keeps no conversation, retries nothing and knows nothing of runs: what an event or
//! an error means for a run is decided in `agent`.

mod config;
pub mod discovery;
mod model_names;
pub mod openai;
mod registry;
mod think_tags;

mod context_windows;
mod tour;

pub use self::{
    config::{DEFAULT_MAX_FRAME_BYTES, EndpointConfig},
    registry::{Models, ModelsConfig, UnknownModel, endpoint_name},
    think_tags::ThinkFilter,
};
