//! The model providers: their endpoints, and the adapters for their protocols.
//!
//! An endpoint ([`http_endpoint`]) converts the wire stream of a model server to the common
//! [`ModelEvent`](parlor_model::ModelEvent)s. It stores no conversation, retries nothing and knows nothing of runs: the
//! agent decides the consequences of events and errors. Its [`adapter`] has what only one protocol has: the requests,
//! the decoder, and what a rejected request teaches. [`answer`] is the state of a decoder, [`transport`] the bytes.

mod adapter;
mod answer;
mod answer_layout;
mod anthropic;
mod catalog;
mod config;
pub mod discovery;
mod endpoint_test;
mod error_phrases;
mod fallback_calls;
mod fallback_messages;
mod gemini;
mod http_endpoint;
mod images;
mod known_models;
mod lenient;
mod list_entry;
mod local_probe;
mod model_list;
mod model_names;
pub mod openai;
mod openai_responses;
mod reasoning_effort;
mod refusal;
mod registry;
mod rejected_roles;
mod rejection_text;
mod rejections;
mod sources;
mod think_tags;
mod tool_forms;
mod transport;
mod unreadable;

mod context_windows;
mod tour;

pub use self::{
    adapter::create_endpoint,
    config::{DEFAULT_MAX_FRAME_BYTES, DEFAULT_MAX_TOOLS, EndpointConfig, display_url},
    endpoint_test::test_endpoint,
    images::{can_edit, expected_size},
    registry::{
        AddedEndpoint, EndpointChangeGuard, IdleEndpoint, ImageModel, Models, ModelsConfig, UnknownModel,
        UserEndpoints, endpoint_name,
    },
    think_tags::ThinkFilter,
    tour::ENDPOINT as BUILT_IN_ENDPOINT,
};
