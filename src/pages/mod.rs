//! Pages: the assistant's identity and capabilities on each page, and the context that the model gets.
//!
//! The interface shows a page to the user; this module describes it to the model. A request contains the
//! user's location and the open items as ids ([`PageContext`](crate::protocol::PageContext)). The page's
//! [`ContextBuilder`] loads the items, and the result is stored with the user's message.
//!
//! - the pages themselves, below; [`scope`]: their parts: identity, tools, payloads and actions, by tab and subtab
//! - [`registry`]: the registered pages, and the scope of a request
//! - [`prompt`]: the system prompt; [`fence`] separates a page's contents from it

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

/// The chat without a page.
pub static CHAT: Page = Page {
    name: "chat",
    brief_identity: "You are a helpful assistant.",
    identity: "You are a helpful assistant. You talk with a person through Parlor, a chat that they run themselves.",
    scope: Scope::EMPTY,
    tabs: &[],
};

/// Articles: searching and saved ones.
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

/// The page without PubMed: the saved articles, and no search.
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
