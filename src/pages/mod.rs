//! Pages: who the assistant is on each of them, and what it is told before a conversation.
//!
//! What a person sees on a page is the interface's; what the model is told of it is put together here.

mod prompt;

pub use self::prompt::{Instructions, Known, system_prompt};

/// A page, as the assistant knows it.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Who the assistant is there.
    pub identity: &'static str,
}

/// The conversation alone.
pub const CHAT: Page = Page {
    identity: "You are a helpful assistant. You talk with a person through Parlor, a chat that they run themselves.",
};
