//! Pages: the assistant's identity and capabilities on each page, and the context that the model gets.
//!
//! The interface shows a page to the user; this module describes it to the model. A request contains the
//! user's location and the open items as ids ([`PageContext`](parlor_protocol::PageContext)). The page loads
//! the items, and the result is stored with the user's message.
//!
//! Each page but the chat has a folder of its own, such as `literature`, with its implementation of [`Page`].
//!
//! [`payloads`] converts the data of tools and models to what the panel of any page can draw.
//!
//! - [`page`]: the parts of a page; [`scope`]: its identity, tools, payloads and actions, by tab and subtab
//! - [`registry`]: the registered pages, and the scope of a request
//! - [`chat`]: the full chat: the default page, without fields or tabs
//! - [`prompt`]: the system prompt; [`fence`] separates a page's contents from it

pub mod actions;
mod api_error;
mod chat;
pub mod columns;
pub mod data;
mod fence;
mod interactions;
pub mod literature;
mod manifest;
mod page;
pub mod payload_config;
pub mod payloads;
mod prompt;
mod registry;
pub mod reports;
pub mod schedules;
mod scope;
mod server_guidance;

pub use self::{
    chat::CHAT,
    fence::fence_text,
    interactions::list_interactions,
    page::{BuiltContext, ContextError, OpenPage, Page, StoredText},
    prompt::{Instructions, ProjectFilesText, Prompt, PromptInput, PromptTarget},
    registry::Pages,
    scope::{PageDefinition, ResolvedScope, Scope, Subtab, Tab},
};
