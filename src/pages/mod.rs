//! Pages: who the assistant is on each of them, what it can do there, and what it is told before a conversation.
//!
//! What a person sees on a page is the interface's; what the model is told of it is put together here. A request says where the
//! person is and what is open there, by ids ([`PageContext`]); what that is, is loaded by the page's [`ContextBuilder`], and kept
//! with the person's message.
//!
//! - [`config`]: what a page is: identity, tools, payloads and actions, by tab and subtab
//! - [`registry`]: the pages that there are, and a request's place among them
//! - [`prompt`]: the system prompt; [`fenced`] keeps a page's content from becoming a part of it

pub mod actions;
mod fence;
mod interactions;
mod manifest;
pub mod payload_config;
mod prompt;
mod registry;
mod scope;
mod server_guidance;

pub use self::{
    fence::fence_text,
    interactions::list_interactions,
    prompt::{Instructions, Prompt, PromptInput, PromptTarget},
    registry::{BuiltContext, ContextBuilder, ContextError, Pages},
    scope::{Page, ResolvedScope, Scope, Subtab, Tab},
};

/// The conversation alone.
pub static CHAT: Page = Page {
    name: "chat",
    brief_identity: "You are a helpful assistant.",
    identity: "You are a helpful assistant. You talk with a person through Parlor, a chat that they run themselves.",
    scope: Scope::EMPTY,
    tabs: &[],
};

/// Articles: searching for them, and those that are kept.
pub static LITERATURE: Page = Page {
    name: "literature",
    brief_identity: "You are a research assistant for scientific literature. When the person speaks of “this”, they mean what is open.",
    identity: "You are a research assistant for scientific literature. You help a person to find articles in PubMed, to judge what they \
         say, and to keep those that matter. You talk with them on the page Literature of Parlor, a chat that they run \
         themselves. When they speak of “this”, they mean what is open there.",
    scope: Scope {
        tools: &[
            "save_article",
            "list_saved_articles",
            "list_streams",
            "make_stream",
            "change_stream",
            "delete_stream",
        ],
        payloads: &[&payload_config::QUERY_SUGGESTION],
        actions: &[&actions::OPEN_ARTICLE],
    },
    tabs: LITERATURE_TABS,
};

/// The same where PubMed can't be asked: there is what is saved, and nothing to search.
pub static LITERATURE_WITHOUT_PUBMED: Page = Page {
    name: LITERATURE.name,
    brief_identity: LITERATURE.brief_identity,
    identity: "You are a research assistant for scientific literature. You help a person to judge what articles say that they have \
         saved. PubMed can’t be searched on this server. You talk with them on the page Literature of Parlor, a chat that they run \
         themselves. When they speak of “this”, they mean what is open there.",
    scope: Scope {
        tools: &["list_saved_articles"],
        payloads: &[],
        actions: &[&actions::OPEN_ARTICLE],
    },
    tabs: LITERATURE_TABS,
};

const LITERATURE_TABS: &[Tab] = &[
    Tab {
        name: "search",
        scope: Scope::EMPTY,
        subtabs: &[],
    },
    Tab {
        name: "saved",
        scope: Scope::EMPTY,
        subtabs: &[],
    },
];
